//! What every zero-shot method promises, the paper's and those that it is compared with.

use bidilel::method::{Kind, METHODS};
use bidilel::settings::MethodName;
use bidilel::settings::Named;
use bidilel::{
    Candidates, Dataset, Error, Experiment, FittedMethod, Mat, Method, Metric, Model, Settings, Silent,
    Synthetic, Task, ZeroShotMethod, evaluate,
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

fn kind(method: &str) -> Kind {
    METHODS.iter().find(|info| info.name.to_string() == method).expect(method).kind
}

fn inductive() -> impl Iterator<Item = &'static str> {
    names().filter(|name| kind(name) == Kind::Inductive)
}

fn transductive() -> impl Iterator<Item = &'static str> {
    names().filter(|name| kind(name) == Kind::Transductive)
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
        assert_eq!((all.nrows(), all.ncols()), (known.nrows() + unseen.nrows(), instances), "{name}");
        assert!([&known, &unseen, &all].iter().all(|scores| scores.norm_max().is_finite()), "{name}");
        // A transductive method matches the batch to the candidates: among more classes each gets fewer instances.
        if kind(name) == Kind::Transductive {
            continue;
        }
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

/// The generator's preset of the size of AwA, with a few of its instances: guessing gives 10 %.
#[test]
fn every_method_has_thrice_chance_over_five_seeds_of_the_awa_preset() {
    let data: Vec<Dataset> = (0..5)
        .map(|seed| {
            let preset = Synthetic::preset("awa").expect("a preset");
            Synthetic { scale: 0.03, ..preset }.generate(seed).expect("data")
        })
        .collect();
    for name in names() {
        let accuracy = |dataset: &Dataset| {
            let experiment = Experiment { settings: settings(name), ..Experiment::default() };
            evaluate(dataset.clone(), &experiment, &Silent).expect(name).runs[0].accuracy().per_class
        };
        let mean = data.iter().map(accuracy).sum::<f64>() / 5.0;
        assert!(mean >= 0.3, "{name}: {mean}");
    }
}

#[test]
fn jlse_with_structured_prediction_is_transductive_and_has_no_model() {
    let settings = Settings { jlse_structured: Some(true), ..settings("jlse") };
    let outcome = Model::fit(&dataset(), &settings, None, 0, &Silent);
    assert!(matches!(outcome, Err(Error::Transductive { .. })), "{outcome:?}");
    let experiment = Experiment { settings, ..Experiment::default() };
    let evaluated = evaluate(dataset(), &experiment, &Silent).expect("a batch");
    assert_eq!(evaluated.runs[0].steps[0].name, "transductive");
    assert!(evaluated.runs[0].accuracy().per_class > 1.5 / evaluated.runs[0].classes.len() as f64);
}

#[test]
fn every_model_survives_being_written_and_read_and_predicts_what_was_scored() {
    let dataset = dataset();
    for name in inductive() {
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
fn a_transductive_method_has_no_model() {
    let dataset = dataset();
    for name in transductive() {
        let outcome = Model::fit(&dataset, &settings(name), None, 0, &Silent);
        let refused = matches!(&outcome, Err(Error::Transductive { method }) if method.to_string() == name);
        assert!(refused, "{name}: {outcome:?}");
    }
}

#[test]
fn transductive_scores_depend_on_the_batch_and_follow_the_order_of_its_instances() {
    let dataset = dataset();
    for name in transductive() {
        let settings = settings(name);
        let mut task = task(&dataset, &settings);
        let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
        let all = fitted.score(task.test.prepared(), Candidates::Unseen).expect(name).values;
        let count = all.ncols();
        let features = task.test.features.clone();
        let turned = bidilel::Mat::from_fn(features.nrows(), count, |i, j| features[(i, count - 1 - j)]);
        task.test.features = turned;
        let reversed = fitted.score(task.test.prepared(), Candidates::Unseen).expect(name).values;
        let difference =
            bidilel::Mat::from_fn(all.nrows(), count, |c, i| all[(c, i)] - reversed[(c, count - 1 - i)]);
        assert!(difference.norm_max() <= 1e-5 * all.norm_max(), "{name}: {}", difference.norm_max());
        task.test.features = features.subcols(0, count / 2).to_owned();
        let half = fitted.score(task.test.prepared(), Candidates::Unseen).expect(name).values;
        let difference = (all.subcols(0, count / 2) - half).norm_max();
        assert!(difference > 1e-3 * all.norm_max(), "{name}: {difference}");
    }
}

#[test]
fn a_batch_of_one_instance_has_finite_scores_or_is_refused() {
    let dataset = dataset();
    for name in transductive() {
        let settings = settings(name);
        let mut task = task(&dataset, &settings);
        let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
        task.test.features = task.test.features.subcols(0, 1).to_owned();
        match fitted.score(task.test.prepared(), Candidates::All) {
            Ok(scores) => assert!(scores.values.norm_max().is_finite(), "{name}"),
            // Views of one instance do not vary, so that nothing correlates.
            Err(Error::Math { source: bidilel_math::Error::Constant { .. }, .. }) if name == "tmv-hlp" => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn transductive_scores_have_the_same_bits_for_any_number_of_threads() {
    let dataset = dataset();
    for name in transductive() {
        let settings = settings(name);
        let task = task(&dataset, &settings);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| {
                let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
                fitted.score(task.test.prepared(), Candidates::All).expect(name).values
            })
        };
        assert_eq!(with(1), with(3), "{name}");
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
        if kind(name) == Kind::Transductive {
            let task = task(&dataset, &settings);
            let fitted = Method::from_settings(&settings, 0).fit(&task, &Silent).expect(name);
            let scores = fitted.score(task.test.prepared(), Candidates::Unseen).expect(name);
            assert!(scores.values.norm_max().is_finite(), "{name}");
            continue;
        }
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
