//! `--generalized`: known and unseen classes compete, in every command that recognizes.

use serde_json::Value;

use crate::support::{Folder, bidilel};

const DRAWN: [&str; 3] = ["--generalized", "--test-seen-share", "0.2"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn evaluated(data: &str, more: &[&str]) -> Value {
    bidilel(&[&["evaluate", data, "--format", "json"], &DRAWN[..], more].concat()).json()
}

#[test]
fn evaluate_has_both_sides_calibrated_and_not() {
    let folder = Folder::generated();
    let result = evaluated(&folder.data(), &[]);
    let accuracy = &result["accuracy"];
    let [seen, unseen, harmonic] = ["seen", "unseen", "harmonic"].map(|key| number(&accuracy[key]));
    assert!((harmonic - 2.0 * seen * unseen / (seen + unseen)).abs() < 1e-12);
    let area = number(&accuracy["ausuc"]);
    assert!(area > 0.0 && area <= 1.0 && number(&accuracy["bias"]).is_finite());
    let plain = &accuracy["uncalibrated"];
    assert!(number(&plain["harmonic"]) < harmonic, "{accuracy}");
    // A bias takes from known classes, a negative one gives to them.
    let taken = (number(&plain["seen"]) - seen) * number(&accuracy["bias"]);
    let given = (unseen - number(&plain["unseen"])) * number(&accuracy["bias"]);
    assert!(taken >= 0.0 && given >= 0.0, "{accuracy}");
    assert_eq!(result["summary"]["mean"], harmonic);
    assert_eq!(result["test_seen_share"], 0.2);
    // Both sides follow from the confusion.
    let run = &result["runs"][0];
    let (known, classes) =
        (run["known"].as_array().expect("names").len(), result["classes"].as_array().expect("classes"));
    let rows = run["confusion"].as_array().expect("rows");
    assert_eq!(rows.len(), known + run["unseen"].as_array().expect("names").len());
    let share = |class: usize| {
        let row: Vec<f64> = rows[class].as_array().expect("counts").iter().map(number).collect();
        row[class] / row.iter().sum::<f64>()
    };
    let mean = |classes: std::ops::Range<usize>| {
        let count = classes.len() as f64;
        classes.map(share).sum::<f64>() / count
    };
    assert!((mean(0..known) - seen).abs() < 1e-12 && (mean(known..rows.len()) - unseen).abs() < 1e-12);
    assert_eq!(classes.iter().filter(|class| class["known"] == true).count(), known);
    // A person sees both, too.
    let text = bidilel(&[&["evaluate", &folder.data()], &DRAWN[..]].concat()).stdout;
    for words in ["harmonic", "without calibration", "seen-unseen curve", "held-out known classes"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn every_method_and_refiner_takes_known_candidates() {
    let folder = Folder::generated();
    let out = folder.beside("compared.csv");
    let methods = "all,bidilel+balanced,bidilel+self-training+structured";
    let ran = bidilel(
        &[&["compare", &folder.data(), "--methods", methods, "--format", "json", "--out", &out], &DRAWN[..]]
            .concat(),
    );
    let result = ran.json();
    let rows = result["results"].as_array().expect("rows");
    // Features and descriptions of this dataset are not of one space.
    let failed: Vec<&Value> = rows.iter().filter(|row| row["per_class"].is_null()).collect();
    assert!(failed.iter().all(|row| row["method"] == "cosine"), "{failed:?}");
    let figures: Vec<f64> = rows
        .iter()
        .filter(|row| row["error"].is_null())
        .map(|row| number(&row["generalized"]["harmonic"]))
        .collect();
    assert!(figures.len() > 30 && figures.is_sorted_by(|a, b| a >= b), "{figures:?}");
    assert_eq!(result["over"], "nothing");
    let table = std::fs::read_to_string(&out).expect("a table");
    assert!(table.lines().next().expect("a head").ends_with("uncalibrated_harmonic"), "{table}");
}

#[test]
fn a_generalized_model_predicts_what_evaluate_does() {
    let folder = Folder::generated();
    let model = folder.beside("model.safetensors");
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("a plain path");
    for more in [&[][..], &["--method", "eszsl"], &["--post", "self-training"]] {
        let ran = bidilel(&[&["fit", &folder.data(), "--out", &model], &DRAWN[..], more].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let predictions = folder.beside("predictions.csv");
        let options = [&["--predictions", &predictions], more].concat();
        let result = evaluated(&folder.data(), &options);
        let names = |key: &str| result["runs"][0][key].as_array().expect("names").clone();
        let (known, unseen) = (names("known"), names("unseen"));
        // Refiners look at the whole batch, and evaluate has another one than all rows.
        let post = if more.contains(&"--post") { &["--post", "none"][..] } else { &[] };
        let ran = bidilel(&[&["predict", &model, features], post].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let labels: Vec<&str> =
            ran.stdout.lines().skip(1).map(|line| line.split(',').nth(1).expect("a label")).collect();
        let any = |side: &[Value]| labels.iter().any(|label| side.iter().any(|name| name == label));
        assert!(any(&known) && any(&unseen), "both sides are predicted");
        if !post.is_empty() {
            continue;
        }
        let rows = std::fs::read_to_string(&predictions).expect("predictions");
        let mut rows = rows.lines();
        let head: Vec<&str> = rows.next().expect("a head").split(',').collect();
        let column = |name: &str| head.iter().position(|other| *other == name).expect("a column");
        let (instance, predicted) = (column("instance"), column("predicted"));
        for row in rows {
            let cells: Vec<&str> = row.split(',').collect();
            assert_eq!(cells[predicted], labels[cells[instance].parse::<usize>().expect("an index")]);
        }
        let listed = bidilel(&["class", "list", &model, "--format", "json"]);
        assert_eq!(listed.status, 0, "{}", listed.stderr);
    }
    let other = bidilel(&["predict", &model, features, "--post", "structured"]);
    assert!(other.error().contains("bias of known classes"), "{}", other.stderr);
    assert!(other.stderr.contains("hint: leave out --post"), "{}", other.stderr);
}

#[test]
fn fit_needs_no_test_instances_and_learns_from_all() {
    let folder = Folder::generated();
    let fit = |more: &[&str]| {
        let model = folder.beside("all.safetensors");
        bidilel(&[&["fit", &folder.data(), "--out", &model, "--format", "json"], more].concat()).json()
    };
    let (plain, generalized) = (fit(&[]), fit(&["--generalized"]));
    assert_eq!(plain["instances"], generalized["instances"]);
    assert!(plain["generalized"].is_null() && generalized["generalized"]["inductive"].is_number());
    assert!(number(&fit(&DRAWN)["instances"]) < number(&plain["instances"]));
}

#[test]
fn tune_chooses_by_the_held_out_harmonic_mean_and_saves_it() {
    let folder = Folder::generated();
    let settings = folder.beside("best.toml");
    let options = ["--dim", "2,20", "--strategy", "grid", "--out", &settings, "--format", "json"];
    let tune = |sides: &[&str]| bidilel(&[&["tune", &folder.data()], &options[..], sides].concat()).json();
    let plain = tune(&[]);
    let result = tune(&DRAWN);
    let means = |result: &Value| -> Vec<f64> {
        result["trials"].as_array().expect("trials").iter().map(|one| number(&one["mean"])).collect()
    };
    assert_ne!(means(&plain), means(&result));
    assert!(means(&result).iter().all(|mean| (0.0..=1.0).contains(mean)));
    let saved = std::fs::read_to_string(&settings).expect("settings");
    assert!(saved.contains("generalized = true"), "{saved}");
    let command = result["commands"][0].as_str().unwrap_or_default().to_owned();
    assert!(command.contains("--generalized") && command.contains("--test-seen-share 0.2"), "{result}");
    let evaluated = bidilel(&[
        "evaluate",
        &folder.data(),
        "--settings",
        &settings,
        "--test-seen-share",
        "0.2",
        "--format",
        "json",
    ]);
    assert!(evaluated.json()["accuracy"]["harmonic"].is_number());
}

#[test]
fn random_splits_and_repeats_average_both_sides() {
    let folder = Folder::generated();
    let result = evaluated(&folder.data(), &["--random-splits", "3", "--seed", "5"]);
    let runs = result["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 3);
    for key in ["seen", "unseen", "harmonic", "ausuc", "bias"] {
        let mean = runs.iter().map(|run| number(&run["generalized"][key])).sum::<f64>() / 3.0;
        assert!((mean - number(&result["accuracy"][key])).abs() < 1e-12, "{key}");
    }
    let again = evaluated(&folder.data(), &["--random-splits", "3", "--seed", "5", "--threads", "1"]);
    assert_eq!(result["accuracy"], again["accuracy"], "the same for any number of threads");
}

#[test]
fn a_split_by_instances_has_its_own_test_of_known_classes() {
    let folder = Folder::generated();
    let labels = bidilel_data::array::open(&folder.file("labels.npy"), None).expect("labels");
    let labels = labels.to_indices(bidilel_data::array::Base::Zero).expect("labels");
    let write = |name: &str, wanted: &dyn Fn(i64, usize) -> bool| {
        let rows: Vec<i64> =
            (0..).zip(&labels).filter(|(row, label)| wanted(*row, **label)).map(|(row, _)| row).collect();
        let mut writer = bidilel_data::array::NpyWriter::new(Vec::new(), &[rows.len()]).expect("a writer");
        writer.write(&rows).expect("memory");
        std::fs::write(folder.file(name), writer.finish().expect("memory")).expect("writable");
        rows.len()
    };
    let train = write("train.npy", &|row, label| label < 20 && row % 4 != 0);
    let seen = write("seen.npy", &|row, label| label < 20 && row % 4 == 0);
    write("unseen.npy", &|_, label| label >= 20);
    folder.edit("dataset.toml", |text| {
        format!(
            "{text}\n[split.own]\ntrain = \"train.npy\"\ntest_seen = \"seen.npy\"\ntest_unseen = \"unseen.npy\"\n"
        )
    });
    let data = folder.data();
    let own = ["evaluate", &data, "--split", "own", "--generalized"];
    let result = bidilel(&[&own[..], &["--format", "json"]].concat()).json();
    let tested = |known: bool| -> u64 {
        let classes = result["classes"].as_array().expect("classes");
        let side = classes.iter().filter(|class| (class["known"] == true) == known);
        side.map(|class| class["instances"].as_u64().expect("a count")).sum()
    };
    assert_eq!((tested(true), tested(true) + tested(false)), (seen as u64, (labels.len() - train) as u64));
    let ran = bidilel(&[&own[..], &["--test-seen-share", "0.2"]].concat());
    assert!(ran.error().contains("test instances of known classes"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: leave out --test-seen-share"), "{}", ran.stderr);
}

#[test]
fn without_test_instances_of_known_classes_there_is_a_hint() {
    let folder = Folder::generated();
    for command in ["evaluate", "compare"] {
        let ran = bidilel(&[command, &folder.data(), "--generalized"]);
        assert!(ran.error().contains("no test instances of known classes"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--test-seen-share 0.2"), "{}", ran.stderr);
    }
    let ran = bidilel(&["evaluate", &folder.data(), "--test-seen-share", "0.2"]);
    assert!(ran.usage().contains("--generalized"), "{}", ran.stderr);
    let ran = bidilel(&["evaluate", &folder.data(), "--generalized", "--test-seen-share", "1"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    let ran = bidilel(&["select", &folder.data(), "--generalized"]);
    assert!(ran.usage().contains("leave out --generalized"), "{}", ran.stderr);
}
