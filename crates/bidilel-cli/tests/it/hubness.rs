//! Hubs by name, and refiners of scores after any method.

use crate::support::{Folder, bidilel};

const REMEDIES: [&str; 4] = ["nrm", "global-correction", "csls", "mutual-proximity"];

#[test]
fn evaluation_names_hubs_and_says_what_a_remedy_does() {
    let folder = Folder::generated();
    let data = folder.data();
    for method in ["bidilel", "eszsl", "mr"] {
        for remedy in REMEDIES {
            let arguments = ["evaluate", &data, "--method", method, "--post", remedy, "--format", "json"];
            let result = bidilel(&arguments).json();
            assert_eq!(result["steps"][1]["name"], remedy, "{result}");
            assert_eq!(result["steps"][1]["hubness"], result["hubness"]["1"]);
            assert!(result["steps"][0]["hubness"].is_number());
            assert_eq!(result["method"]["post"][0]["kind"], remedy);
            for hub in result["hubs"]["1"].as_array().expect("a list") {
                let number = |key: &str| hub[key].as_f64().expect(key);
                assert!(hub["name"].is_string() && number("count") >= 2.0 * number("share"), "{hub}");
            }
        }
    }
    let text = bidilel(&["evaluate", &data, "--method", "rr", "--post", "csls"]);
    assert!(text.stdout.contains("then csls (csls-neighbors 10)"), "{}", text.stdout);
    let header = text.stdout.lines().find(|line| line.contains("per class")).expect("a table");
    assert!(header.contains("hubness"), "{header}");
}

/// One row of features that every instance shares makes the class that is nearest to it a hub.
#[test]
fn a_hub_stands_in_the_text_with_its_name() {
    let folder = Folder::generated();
    let arguments = ["evaluate", &folder.data(), "--method", "rr", "--rr-ridge", "1e9"];
    let json = bidilel(&[&arguments[..], &["--format", "json"]].concat()).json();
    let hubs = json["hubs"]["1"].as_array().expect("a list");
    let text = bidilel(&arguments).stdout;
    assert!(!hubs.is_empty(), "{json}");
    let line = text.lines().find(|line| line.starts_with("hubs: ")).expect("a line");
    assert!(line.contains(hubs[0]["name"].as_str().expect("a name")), "{line}");
}

#[test]
fn predict_refines_the_scores_of_a_method_without_latent_points() {
    let folder = Folder::generated();
    let (data, model) = (folder.data(), folder.beside("model"));
    let ran = bidilel(&["fit", &data, "--method", "eszsl", "--post", "csls", "--out", &model]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    let predict = |options: &[&str]| {
        let ran = bidilel(&[&["predict", &model, features, "--top", "2"], options].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout
    };
    let (fitted, plain) = (predict(&[]), predict(&["--post", "none"]));
    assert_ne!(fitted, plain);
    assert_eq!(fitted, predict(&["--post", "csls"]));
    assert_eq!(fitted, predict(&["--csls-neighbors", "10"]));
    assert_ne!(fitted, predict(&["--csls-neighbors", "1"]));
    let all: Vec<String> = REMEDIES.iter().map(|remedy| predict(&["--post", remedy])).collect();
    assert_eq!(all[2], fitted);
    assert_eq!(fitted.lines().count(), plain.lines().count());
    // The batch of the whole file, whichever blocks it was read in: what the library says of it.
    let error = bidilel(&["predict", &model, features, "--post", "self-training"]);
    assert!(error.error().contains("no latent space"), "{}", error.stderr);
    let note = bidilel(&["predict", &model, features, "--post", "nrm", "--csls-neighbors", "3"]);
    assert!(note.stderr.contains("add --post csls"), "{}", note.stderr);
}

#[test]
fn refined_predictions_are_those_that_evaluation_counts() {
    let folder = Folder::generated();
    let (data, model, exported) = (folder.data(), folder.beside("model"), folder.beside("test.csv"));
    let options = ["--method", "eszsl", "--post", "mutual-proximity,csls"];
    assert_eq!(bidilel(&[&["fit", &data, "--out", &model], &options[..]].concat()).status, 0);
    let ran = bidilel(&[&["evaluate", &data, "--predictions", &exported], &options[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    // The test instances alone, in their order: the batch that was evaluated.
    let exported = std::fs::read_to_string(&exported).expect("predictions");
    let lines: Vec<Vec<&str>> = exported.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let instances: Vec<usize> = lines.iter().map(|cells| cells[2].parse().expect("an instance")).collect();
    let batch = folder.beside("batch.npy");
    let array = bidilel_data::array::open(&folder.file("cnn.npy"), None).expect("features");
    let rows: &dyn bidilel::dataset::Rows = &array;
    let mut writer =
        bidilel_data::array::NpyWriter::new(Vec::new(), &[instances.len(), rows.dim()]).expect("a writer");
    for &instance in &instances {
        let mut values = vec![0.0; rows.dim()];
        rows.read(instance, &mut values);
        writer.write(&values).expect("memory");
    }
    std::fs::write(&batch, writer.finish().expect("memory")).expect("writable");
    let predicted = bidilel(&["predict", &model, &batch]);
    assert_eq!(predicted.status, 0, "{}", predicted.stderr);
    for (line, cells) in predicted.stdout.lines().skip(1).zip(&lines) {
        assert_eq!(line.split(',').nth(1), Some(cells[4]), "{line}");
    }
    assert_eq!(predicted.stdout.lines().count(), lines.len() + 1);
}

#[test]
fn a_latent_refiner_after_another_method_has_no_effect_and_says_so() {
    let folder = Folder::generated();
    let ran = bidilel(&["evaluate", &folder.data(), "--method", "eszsl", "--post", "structured"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("--post has no effect"), "{}", ran.stderr);
    let mixed = bidilel(&["evaluate", &folder.data(), "--method", "eszsl", "--post", "csls,structured"]);
    assert!(mixed.error().contains("structured moves the embeddings"), "{}", mixed.stderr);
    let compared =
        bidilel(&["compare", &folder.data(), "--methods", "eszsl+csls,rr", "--format", "json"]).json();
    let names: Vec<&str> = compared["results"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["method"].as_str().expect("a name"))
        .collect();
    assert!(names.contains(&"eszsl+csls"), "{names:?}");
}
