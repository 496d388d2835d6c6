//! Several visual representations: `evaluate`, `fit`, `predict`, `tune` and `select` with them, and what they refuse.

use serde_json::Value;

use crate::support::{Folder, Ran, bidilel};

fn evaluate(folder: &Folder, extra: &[&str]) -> Ran {
    bidilel(&[&["evaluate", &folder.data(), "--format", "json"], extra].concat())
}

fn says(error: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| error.contains(part)), "{error} should say {parts:?}");
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn file(folder: &Folder, name: &str) -> String {
    folder.file(name).to_str().expect("a plain path").to_owned()
}

fn instances(folder: &Folder) -> usize {
    (std::fs::read(folder.file("labels.npy")).expect("labels").len() - 128) / 8
}

#[test]
fn two_views_are_fused_by_the_cheaper_exact_way_and_both_ways_agree() {
    let folder = Folder::generated();
    let fused = evaluate(&folder, &["--visual", "cnn,motion"]).json();
    assert_eq!(fused["visual"], serde_json::json!(["cnn", "motion"]));
    let method = &fused["method"];
    assert_eq!(method["fusion"]["method"], "primal", "{method}");
    assert_eq!(method["bottom_up"]["regularizer"], "kernel", "the paper's form for several views");
    assert_eq!(method["fusion"]["views"][1]["weight"], 0.5);
    let other = evaluate(&folder, &["--visual", "cnn,motion", "--kernel-method", "n-space"]).json();
    assert_eq!(other["method"]["fusion"]["method"], "n-space");
    assert!((number(&fused["stress"]) - number(&other["stress"])).abs() < 1e-8);
    assert_eq!(fused["accuracy"], other["accuracy"]);
    let text = bidilel(&["evaluate", &folder.data(), "--visual", "cnn=0.3,motion=0.7"]);
    assert!(
        text.stdout.contains("views cnn 0.30 linear, motion 0.70 linear; over dimensions (192 "),
        "{}",
        text.stdout
    );
    let single = bidilel(&["evaluate", &folder.data(), "--visual", "cnn"]).stdout;
    assert!(!single.contains("views"), "{single}");
}

#[test]
fn kernels_that_are_not_linear_are_exact_where_they_fit_and_sampled_where_not() {
    let folder = Folder::generated();
    let exact = evaluate(&folder, &["--visual", "cnn", "--kernel", "rbf"]).json();
    let fusion = &exact["method"]["fusion"];
    assert_eq!(fusion["method"], "n-space", "{fusion}");
    assert!(fusion["views"][0]["kernel"].as_str().expect("a kernel").starts_with("rbf:"), "{fusion}");
    assert!(fusion.get("approximation_error").is_none());
    let views = ["--visual", "cnn,motion", "--kernel", "cnn=rbf:0.5,motion=chi2"];
    let small = [&views[..], &["--kernel-memory", "0.0001", "--nystrom-rank", "60", "--dim", "30"]].concat();
    let sampled = evaluate(&folder, &small).json();
    let fusion = &sampled["method"]["fusion"];
    assert_eq!((&fusion["method"], &fusion["rank"]), (&"nystrom".into(), &60.into()), "{fusion}");
    let error = number(&fusion["approximation_error"]);
    assert!(error > 0.0 && error < 0.5, "{error}");
    let text = bidilel(&[&["evaluate", &folder.data()], &small[..]].concat()).stdout;
    assert!(
        text.contains("over a sample of 60 training instances") && text.contains("of the kernel lost"),
        "{text}"
    );
    let forced = evaluate(
        &folder,
        &[&views[..], &["--kernel-memory", "0.0001", "--kernel-method", "n-space"]].concat(),
    );
    says(forced.error(), &["kernel-memory", "n-space"]);
    assert!(forced.stderr.contains("hint: raise --kernel-memory"), "{}", forced.stderr);
    let primal = evaluate(&folder, &[&views[..], &["--kernel-method", "primal"]].concat());
    says(primal.error(), &["kernel-method", "n-space or nystrom"]);
}

#[test]
fn repeats_draw_other_samples() {
    let folder = Folder::generated();
    let arguments = [
        "--kernel",
        "rbf",
        "--kernel-method",
        "nystrom",
        "--nystrom-rank",
        "30",
        "--dim",
        "12",
        "--repeat",
        "2",
    ];
    let result = evaluate(&folder, &arguments).json();
    assert_ne!(result["runs"][0]["per_image"], result["runs"][1]["per_image"], "{}", result["runs"]);
}

#[test]
fn a_model_of_two_views_takes_one_array_a_view_in_order_or_by_name() {
    let folder = Folder::generated();
    let (cnn, motion) = (file(&folder, "cnn.npy"), file(&folder, "motion.npy"));
    for kernel in ["linear", "cnn=rbf,motion=chi2"] {
        let model = folder.beside("model.safetensors");
        let fit = [
            "fit",
            &folder.data(),
            "--visual",
            "cnn,motion",
            "--kernel",
            kernel,
            "--dim",
            "20",
            "--out",
            &model,
        ];
        let ran = bidilel(&fit);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("views cnn 0.50"), "{}", ran.stdout);
        let ordered = bidilel(&["predict", &model, &cnn, &motion]);
        assert_eq!(ordered.status, 0, "{}", ordered.stderr);
        let named = bidilel(&["predict", &model, &format!("motion={motion}"), &format!("cnn={cnn}")]);
        assert_eq!(named.stdout, ordered.stdout);
        let result = evaluate(&folder, &["--visual", "cnn,motion", "--kernel", kernel, "--dim", "20"]).json();
        assert!(
            (accuracy(&folder, &ordered.stdout, &result) - number(&result["accuracy"]["per_image"])).abs()
                < 1e-12
        );
    }
}

/// The share of unseen instances that predictions get right.
fn accuracy(folder: &Folder, csv: &str, result: &Value) -> f64 {
    let classes = std::fs::read_to_string(folder.file("classes.txt")).expect("classes");
    let classes: Vec<&str> = classes.lines().collect();
    let unseen: Vec<&str> = result["classes"]
        .as_array()
        .expect("classes")
        .iter()
        .filter_map(|class| class["name"].as_str())
        .collect();
    let labels = std::fs::read(folder.file("labels.npy")).expect("labels");
    let truth = labels[128..].chunks_exact(8).map(|bytes| classes[usize::from(bytes[0])]);
    let found = csv.lines().skip(1).map(|line| line.split(',').nth(1).expect("a label"));
    let pairs: Vec<(&str, &str)> = found.zip(truth).filter(|(_, truth)| unseen.contains(truth)).collect();
    pairs.iter().filter(|(found, truth)| found == truth).count() as f64 / pairs.len() as f64
}

#[test]
fn predict_says_which_view_is_missing_extra_or_of_another_size() {
    let folder = Folder::generated();
    let model = folder.beside("model.safetensors");
    assert_eq!(bidilel(&["fit", &folder.data(), "--visual", "cnn,motion", "--out", &model]).status, 0);
    let (cnn, motion) = (file(&folder, "cnn.npy"), file(&folder, "motion.npy"));
    let refused = |features: &[&str]| {
        let out = folder.beside("predictions.csv");
        let ran = bidilel(&[&["predict", &model, "--out", &out], features].concat());
        let error = ran.error().to_owned();
        assert_eq!(folder.listing(), ["data", "model.safetensors"], "no half-written predictions");
        error
    };
    says(&refused(&[&cnn]), &["expected 2 feature files", "cnn, motion", "found 1"]);
    says(&refused(&[&cnn, &motion, &cnn]), &["expected 2 feature files", "found 3"]);
    says(&refused(&[&format!("cnn={cnn}")]), &["no features for view `motion`", "motion=FILE"]);
    says(&refused(&[&format!("cnn={cnn}"), &format!("cnn={cnn}")]), &["view `cnn`", "twice"]);
    says(&refused(&[&format!("cnn={cnn}"), &motion]), &["name every feature file"]);
    says(&refused(&["sound=x.npy", &motion]), &["no view `sound`", "cnn, motion"]);
    says(&refused(&[&motion, &cnn]), &["motion.npy", "expected 128 dimensions, found 64"]);
    // The same file with one row less.
    let rows = instances(&folder);
    folder.relabel_rows("motion.npy", rows, rows - 1);
    says(&refused(&[&cnn, &motion]), &["motion.npy", &(rows - 1).to_string(), "cnn.npy", &rows.to_string()]);
}

#[test]
fn views_that_cannot_be_fused_are_refused() {
    let folder = Folder::generated();
    let error = |extra: &[&str]| evaluate(&folder, extra).error().to_owned();
    let usage = |extra: &[&str]| evaluate(&folder, extra).usage().to_owned();
    says(&error(&["--visual", "cnn,cnn"]), &["visual representations", "`cnn` twice"]);
    says(&usage(&["--visual", "cnn=0.5,motion=0.6"]), &["view weights", "sum to 1", "cnn=0.5, motion=0.6"]);
    says(&usage(&["--visual", "cnn,motion", "--view-weights", "0.5"]), &["view-weights", "2 weights"]);
    says(&usage(&["--visual", "cnn,motion", "--view-weights=-0.5,1.5"]), &["non-negative"]);
    says(&usage(&["--visual", "cnn=0.5,motion"]), &["of 2 representations 1 have a weight"]);
    says(&usage(&["--visual", "cnn=1", "--view-weights", "1"]), &["give them once"]);
    says(&error(&["--visual", "cnn,sound"]), &["no visual representation `sound`", "motion"]);
    says(&error(&["--visual", "cnn,motion", "--kernel", "sound=rbf"]), &["kernel", "cnn, motion", "`sound`"]);
    says(&usage(&["--kernel", "cubic"]), &["kernel", "linear, rbf", "`cubic`"]);
    says(
        &usage(&["--kernel", "rbf", "--kernel-method", "nystrom", "--nystrom-rank", "0"]),
        &["nystrom-rank"],
    );
    says(&usage(&["--kernel", "rbf", "--kernel-memory", "-1"]), &["kernel-memory", "positive"]);
}

#[test]
fn a_view_with_a_bad_number_or_another_number_of_rows_is_named() {
    let folder = Folder::generated();
    let poke = |value: f32| {
        folder.edit_bytes("motion.npy", |bytes| {
            let place = 128 + 4 * (9 * 64 + 2);
            bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
        });
    };
    poke(f32::NAN);
    says(evaluate(&folder, &["--visual", "cnn,motion"]).error(), &["motion.npy", "row 9, column 2", "NaN"]);
    poke(-3.0);
    let ran = evaluate(&folder, &["--visual", "cnn,motion", "--kernel", "motion=chi2"]);
    says(ran.error(), &["view `motion`", "feature 2", "never negative"]);
    assert!(ran.stderr.contains("hint: use --kernel motion=rbf"), "{}", ran.stderr);
    let rows = instances(&folder);
    folder.relabel_rows("motion.npy", rows, rows - 1);
    let parts = ["motion.npy", &rows.to_string(), &(rows - 1).to_string()];
    says(evaluate(&folder, &["--visual", "cnn,motion"]).error(), &parts);
}

#[test]
fn semantic_weights_stand_after_names_and_sum_to_one() {
    let folder = Folder::generated();
    let inline = evaluate(&folder, &["--semantic", "attributes=0.7,words=0.3"]).json();
    let gamma = evaluate(&folder, &["--semantic", "attributes,words", "--gamma", "0.3"]).json();
    assert!((number(&inline["stress"]) - number(&gamma["stress"])).abs() < 1e-12);
    folder.edit("dataset.toml", |text| {
        text + "\n[semantic.again]\nfile = \"words.npy\"\nmetric = \"cosine\"\n"
    });
    let three = evaluate(&folder, &["--semantic", "attributes=0.7,words=0.1,again=0.2"]).json();
    assert!((number(&three["stress"]) - number(&gamma["stress"])).abs() < 1e-9, "two of them are the same");
    let error = |extra: &[&str]| evaluate(&folder, extra).usage().to_owned();
    says(&error(&["--semantic", "attributes=0.7,words=0.7"]), &["semantic weights", "sum to 1"]);
    says(&error(&["--semantic", "attributes=0.5,words=0.5", "--gamma", "0.5"]), &["--gamma", "exclude"]);
}

#[test]
fn weights_and_ranks_are_tuned() {
    let folder = Folder::generated();
    let result = bidilel(&[
        "tune",
        &folder.data(),
        "--visual",
        "cnn,motion",
        "--kernel",
        "rbf",
        "--kernel-method",
        "nystrom",
        "--view-weights",
        "0.5:0.5,0.2:0.8",
        "--nystrom-rank",
        "20,50",
        "--dim",
        "15",
        "--strategy",
        "grid",
        "--format",
        "json",
    ])
    .json();
    assert_eq!(result["trials"].as_array().expect("trials").len(), 4, "{result}");
    let command = result["commands"][0].as_str().expect("a command");
    assert!(command.contains("--visual cnn,motion") && command.contains("--view-weights 0."), "{command}");
    // The command is one that runs.
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(bidilel(&words).status, 0, "{command}");
}

#[test]
fn select_orders_views_and_tells_what_each_adds() {
    let folder = Folder::generated();
    let arguments = ["select", &folder.data(), "--visual", "motion,cnn", "--neighbors", "5"];
    let result = bidilel(&[&arguments[..], &["--format", "json", "--evaluate"]].concat()).json();
    let order: Vec<&str> =
        result["order"].as_array().expect("an order").iter().filter_map(Value::as_str).collect();
    let validation = &result["trials"][0]["validation"];
    let best =
        if number(&validation[0]["mean"]) >= number(&validation[1]["mean"]) { "motion" } else { "cnn" };
    assert_eq!((order[0], order.len()), (best, 2), "{result}");
    assert_eq!(result["complementarity"][0], Value::Null);
    let value = number(&result["complementarity"][1]);
    assert!(value > 0.0 && value <= 0.5);
    assert_eq!(result["matrix"][0][1], value, "two views: the one against the other");
    assert_eq!(result["matrix"][0][0], 0.0);
    let last = &result["evaluation"][1];
    let fused = evaluate(&folder, &["--visual", &order.join(","), "--neighbors", "5"]).json();
    assert_eq!(last["per_class"], fused["accuracy"]["per_class"], "as evaluate says");
    let (plot, page) = (folder.beside("views.svg"), folder.beside("views.html"));
    let text = bidilel(&[&arguments[..], &["--plot", &plot, "--report", &page, "--most", "1"]].concat());
    assert_eq!(text.status, 0, "{}", text.stderr);
    assert!(text.stdout.contains("complementarity") && !text.stdout.contains("unseen"), "{}", text.stdout);
    assert!(std::fs::read_to_string(plot).expect("a drawing").starts_with("<svg"));
    assert!(std::fs::read_to_string(page).expect("a page").contains("<table class=\"sortable\">"));
}

#[test]
fn select_looks_at_every_trial_of_a_family_and_refuses_what_makes_no_sense() {
    let folder = Folder::generated();
    let select = |extra: &[&str]| bidilel(&[&["select", &folder.data()], extra].concat());
    let result = select(&["--split", "random", "--evaluate", "--format", "json"]).json();
    let trials = result["trials"].as_array().expect("trials");
    assert!(trials.len() > 1 && number(&result["evaluation"][0]["standard_error"]) > 0.0, "{result}");
    let stopped = select(&["--threshold", "0.5", "--format", "json"]).json();
    assert_eq!(stopped["order"].as_array().expect("an order").len(), 1, "nothing is that complementary");
    says(select(&["--threshold", "0.7"]).usage(), &["--threshold", "0.5"]);
    says(select(&["--visual", "cnn,cnn"]).error(), &["`cnn` twice"]);
    says(select(&["--visual", "cnn,sound"]).error(), &["no visual representation `sound`"]);
    says(select(&["--visual", "cnn=0.5,motion=0.5"]).usage(), &["weighs all views the same"]);
    says(select(&["--neighbors", "0"]).usage(), &["neighbors", "at least 1"]);
}
