//! What every zero-shot method promises, the paper's and those that it is compared with.

use bidilel::settings::MethodName;
use bidilel::settings::Named;
use bidilel::{
    Candidates, Dataset, Experiment, FittedMethod, Mat, Method, Metric, Model, Settings, Silent, Synthetic,
    Task, ZeroShotMethod, evaluate,
};

fn settings(method: &str) -> Settings {
    Settings { method: MethodName::parse(method), ..Settings::default() }
}

/// Every method but `cosine`, which needs features and descriptions of one space.
fn names() -> impl Iterator<Item = &'static str> {
    MethodName::NAMES.iter().copied().filter(|&name| name != "cosine")
}

fn dataset() -> Dataset {
    Synthetic { scale: 0.5, ..Synthetic::default() }.generate(7).expect("data")
}

fn task(dataset: &Dataset, settings: &Settings) -> Task {
    let choice = settings.choice(dataset).expect("a choice");
    Task::new(dataset, &dataset.trials(None).expect("a split")[0], &choice, &Silent).expect("a task")
}

#[test]
fn scores_are_finite_and_those_of_all_candidates_are_those_of_each_side() {
    let dataset = dataset();
    for name in names() {
        let settings = settings(name);
        let task = task(&dataset, &settings);
        let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
        let score = |candidates| fitted.score(task.test.prepared(), candidates).expect(name).values;
        let [known, unseen, all] = [Candidates::Known, Candidates::Unseen, Candidates::All].map(score);
        let instances = task.test.labels.len();
        assert_eq!((known.nrows(), known.ncols()), (task.known.len(), instances), "{name}");
        assert_eq!((unseen.nrows(), unseen.ncols()), (task.unseen.len(), instances), "{name}");
        assert!(all.norm_max().is_finite(), "{name}");
        let first = task.known.len();
        let largest = all.norm_max();
        assert!((all.subrows(0, first) - &known).norm_max() <= 1e-9 * largest, "{name}");
        assert!((all.subrows(first, task.unseen.len()) - &unseen).norm_max() <= 1e-9 * largest, "{name}");
    }
}

#[test]
fn every_method_is_far_better_than_chance() {
    for name in names() {
        let experiment = Experiment { settings: settings(name), ..Experiment::default() };
        let evaluated = evaluate(dataset(), &experiment, &Silent).expect(name);
        let (accuracy, chance) =
            (evaluated.runs[0].accuracy().per_class, 1.0 / evaluated.runs[0].classes.len() as f64);
        assert!(accuracy > 1.5 * chance, "{name}: {accuracy} where guessing gives {chance}");
    }
}

#[test]
fn every_model_survives_being_written_and_read_and_predicts_what_was_scored() {
    let dataset = dataset();
    for name in names() {
        let settings = settings(name);
        let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect(name);
        let read = Model::from_bytes(&model.to_bytes().expect(name)).expect(name);
        assert_eq!(read, model, "{name}");
        let task = task(&dataset, &settings);
        let scored = model.fitted.score(task.test.prepared(), Candidates::Unseen).expect(name).labels();
        // Raw features: the model normalizes them itself, so that their scale does not matter.
        let raw =
            Mat::from_fn(task.test.features.nrows(), scored.len(), |i, j| 3.0 * task.test.features[(i, j)]);
        let predicted = read.predict(raw.as_ref()).expect(name);
        for (prediction, &class) in predicted.iter().zip(&scored) {
            assert_eq!(prediction.label, task.unseen[class], "{name}");
        }
    }
}

#[test]
fn several_views_and_descriptions_work_with_every_method() {
    let dataset = dataset();
    for name in names() {
        let list = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        let settings = Settings {
            visual: list(&["cnn", "motion"]),
            semantic: list(&["attributes", "words"]),
            view_weights: Some(vec![0.7, 0.3]),
            ..settings(name)
        };
        let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect(name);
        assert_eq!(Model::from_bytes(&model.to_bytes().expect(name)).expect(name), model, "{name}");
    }
}

/// Features that are the descriptions of their classes, with noise.
fn shared_space() -> Dataset {
    let (classes, dim, each) = (12, 16, 8);
    let wave = |i: usize, j: usize| ((i * 37 + j * 61) as f64 * 0.731).sin();
    let noise = |i: usize, j: usize| 0.9 * ((i * 89 + j * 17) as f64 * 1.37).cos();
    let names: Vec<String> = (0..classes).map(|class| format!("class {class}")).collect();
    #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
    let features = Mat::from_fn(dim, classes * each, |i, j| (wave(i, j / each) + noise(i, j)) as f32);
    let labels: Vec<usize> = (0..classes * each).map(|instance| instance / each).collect();
    let prompt =
        |shift: f64| Mat::from_fn(dim, classes, |i, class| 3.0 * wave(i, class) + shift * noise(i, class));
    Dataset::builder("shared")
        .classes(names)
        .labels(labels)
        .visual("clip", features)
        .semantic("photo", Metric::Cosine, prompt(0.3))
        .semantic("drawing", Metric::Cosine, prompt(-0.3))
        .unseen("standard", ["class 3", "class 7", "class 8", "class 11"])
        .build()
        .expect("a dataset")
}

#[test]
fn pictures_and_texts_of_one_space_need_no_learning_and_our_method_stands_beside() {
    let both = Some(vec!["photo".to_owned(), "drawing".to_owned()]);
    for (name, semantic) in [("cosine", None), ("cosine", both), ("bidilel", None), ("eszsl", None)] {
        let settings = Settings { semantic, dim: Some(5).filter(|_| name == "bidilel"), ..settings(name) };
        let experiment = Experiment { settings: settings.clone(), ..Experiment::default() };
        let evaluated = evaluate(shared_space(), &experiment, &Silent).expect(name);
        assert!(evaluated.runs[0].accuracy().per_class > 0.5, "{name}: {:?}", evaluated.runs[0].accuracy());
        let model = Model::fit(&shared_space(), &settings, None, 0, &Silent).expect(name);
        assert_eq!(Model::from_bytes(&model.to_bytes().expect(name)).expect(name), model, "{name}");
    }
    let other = Experiment { settings: settings("cosine"), ..Experiment::default() };
    let error = evaluate(dataset(), &other, &Silent).expect_err("two spaces").to_string();
    assert!(error.contains("dimensions"), "{error}");
}
