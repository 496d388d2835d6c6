//! Results tell what was run, and everything behind them can be had.

use std::fs;

use crate::support::{Folder, bidilel};

fn evaluate(folder: &Folder, extra: &[&str]) -> crate::support::Ran {
    bidilel(&[&["evaluate", &folder.data(), "--dim", "10"], extra].concat())
}

#[test]
fn rows_of_results_tell_settings_and_versions() {
    let folder = Folder::generated();
    for format in ["csv", "markdown", "latex"] {
        let row = |alpha: &str| {
            let ran = evaluate(&folder, &["--alpha", alpha, "--format", format]);
            assert_eq!(ran.status, 0, "{}", ran.stderr);
            ran.stdout
        };
        let (one, thousand) = (row("1"), row("1000"));
        assert!(one.contains("alpha=1.0") && thousand.contains("alpha=1000.0"), "{one}{thousand}");
    }
    let csv = evaluate(&folder, &["--format", "csv"]).stdout;
    assert!(
        csv.lines().next().expect("a header").ends_with("top_5_per_class,top_5_per_image,settings,version")
    );
    for command in [&["evaluate", "--dim", "10"][..], &["inspect"]] {
        let ran = bidilel(&[&command[..1], &[&folder.data()], &command[1..], &["--format", "json"]].concat());
        let json = ran.json();
        assert_eq!(json["version"], env!("CARGO_PKG_VERSION"), "{command:?}");
        assert_eq!(json["schema_version"], 1);
    }
}

#[test]
fn repeats_do_not_multiply_instances() {
    let folder = Folder::generated();
    let classes =
        |repeat: &str| evaluate(&folder, &["--repeat", repeat, "--format", "json"]).json()["classes"].clone();
    let (once, thrice) = (classes("1"), classes("3"));
    assert_eq!(once[0]["instances"], thrice[0]["instances"]);
}

#[test]
fn predictions_of_an_evaluation_give_its_accuracy() {
    let folder = Folder::generated();
    let csv = folder.beside("p.csv");
    let ran = evaluate(&folder, &["--post", "self-training", "--predictions", &csv, "--format", "json"]);
    let result = ran.json();
    let text = fs::read_to_string(&csv).expect("predictions");
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    assert_eq!(header[..5], ["split", "seed", "instance", "true", "predicted"]);
    assert_eq!(header.len(), 5 + 5);
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let right = rows.iter().filter(|row| row[3] == row[4]).count();
    let share = right as f64 / rows.len() as f64;
    assert!((share - result["accuracy"]["per_image"].as_f64().expect("a number")).abs() < 1e-12);
    for row in &rows {
        let nearest = (5..10).min_by(|&a, &b| {
            let number = |place: usize| row[place].parse::<f64>().expect("a distance");
            number(a).total_cmp(&number(b))
        });
        assert_eq!(header[nearest.expect("five")], format!("distance:{}", row[4]));
    }
    let json = folder.beside("p.json");
    assert_eq!(evaluate(&folder, &["--post", "self-training", "--predictions", &json]).status, 0);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(json).expect("a file")).expect("JSON");
    assert_eq!(json["predictions"].as_array().expect("a list").len(), rows.len());
    assert_eq!(json["predictions"][0]["predicted"], rows[0][4]);
    let parquet = folder.beside("p.parquet");
    assert_eq!(evaluate(&folder, &["--post", "self-training", "--predictions", &parquet]).status, 0);
    let table = bidilel_data::container::Container::open(parquet.as_ref()).expect("a table");
    for (column, name) in [(3, "true"), (4, "predicted"), (0, "split")] {
        let cells = table.strings(name).expect("text");
        assert!(cells.iter().eq(rows.iter().map(|row| row[column])), "{name}");
    }
    for (column, name) in header.iter().enumerate().filter(|(column, _)| *column == 2 || *column >= 5) {
        let numbers = table.array(Some(name)).expect("numbers").to_matrix();
        let expected = rows.iter().map(|row| row[column].parse::<f64>().expect("a number"));
        assert!((0..rows.len()).map(|row| numbers[(0, row)]).eq(expected), "{name}");
    }
    let ran = evaluate(&folder, &["--predictions", &folder.beside("p.xls")]);
    assert!(ran.error().contains(".csv, .json or .parquet"), "{}", ran.stderr);
}

#[test]
fn latent_coordinates_come_from_evaluate_fit_and_embed() {
    let folder = Folder::generated();
    let (model, tested, trained, embedded) = (
        folder.beside("m"),
        folder.beside("tested.npy"),
        folder.beside("trained.npy"),
        folder.beside("all.npy"),
    );
    assert_eq!(evaluate(&folder, &["--latent", &tested]).status, 0);
    let data = folder.data();
    assert_eq!(bidilel(&["fit", &data, "--dim", "10", "--out", &model, "--latent", &trained]).status, 0);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("plain");
    let made = bidilel(&["embed", &model, features, "--out", &embedded, "--format", "json"]).json();
    assert_eq!(made["dim"], 10);
    let array = |path: &str| bidilel_data::array::open(path.as_ref(), None).expect("an array").to_matrix();
    let all = array(&embedded);
    for (path, column) in [(&tested, 3), (&trained, 1)] {
        let points = array(path);
        let list = fs::read_to_string(path.replace(".npy", ".csv")).expect("a list beside it");
        assert_eq!(list.lines().count(), points.ncols() + 1);
        for (row, line) in list.lines().skip(1).enumerate() {
            let instance: usize = line.split(',').nth(column).expect("a cell").parse().expect("an instance");
            let pairs = points.col_as_slice(row).iter().zip(all.col_as_slice(instance));
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9), "{path} {row}");
        }
    }
    let table = folder.beside("all.csv");
    assert_eq!(bidilel(&["embed", &model, features, "--out", &table]).status, 0);
    let text = fs::read_to_string(&table).expect("a table");
    assert!(text.starts_with("index,z0,z1,"), "{}", text.lines().next().unwrap_or_default());
}

#[test]
fn bad_rows_are_skipped_where_that_is_asked_for() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--dim", "10", "--out", &model]).status, 0);
    let features = folder.file("cnn.npy");
    let features = features.to_str().expect("plain");
    let good = bidilel(&["predict", &model, features]).stdout;
    folder.edit_bytes("cnn.npy", |bytes| {
        for (row, value) in [(3, f32::NAN), (7, f32::INFINITY)] {
            let place = 128 + 4 * (row * 128 + 9);
            bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[128 + 4 * 128 * 5..][..4 * 128].fill(0);
    });
    assert!(bidilel(&["predict", &model, features]).error().contains("row 3, column 9 is NaN"));
    let out = folder.beside("p.csv");
    let ran = bidilel(&["predict", &model, features, "--skip-bad-rows", "--out", &out]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 of ")
            && ran.stderr.contains("row 3 (")
            && ran.stderr.contains("column 9 is NaN")
    );
    assert!(ran.stderr.contains("1 of ") && ran.stderr.contains("rows are all zero"), "{}", ran.stderr);
    let kept = fs::read_to_string(&out).expect("predictions");
    let expected = |line: &&str| !["3,", "7,", "5,"].iter().any(|row| line.starts_with(row));
    let lines = |text: &str| text.lines().filter(expected).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&kept), lines(&good));
    assert_eq!(kept.lines().count() + 2, good.lines().count());
    let skipped = fs::read_to_string(folder.beside("p.skipped.csv")).expect("a list");
    assert_eq!(skipped.lines().map(|line| &line[..2]).collect::<Vec<_>>(), ["in", "3,", "7,"]);
    // With corrections by the batch, too.
    let json = bidilel(&[
        "predict",
        &model,
        features,
        "--skip-bad-rows",
        "--post",
        "self-training",
        "--format",
        "json",
    ])
    .json();
    let indices: Vec<u64> =
        json.as_array().expect("a list").iter().filter_map(|one| one["index"].as_u64()).collect();
    assert_eq!(indices[..7], [0, 1, 2, 4, 5, 6, 8]);
}
