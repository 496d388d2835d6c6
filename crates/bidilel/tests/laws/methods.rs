//! What every zero-shot method promises, the paper's and those that it is compared with.

use bidilel::settings::MethodName;
use bidilel::settings::Named;
use bidilel::{
    Candidates, Dataset, Experiment, FittedMethod, Method, Model, Settings, Silent, Synthetic, Task,
    ZeroShotMethod, evaluate,
};

fn settings(method: &str) -> Settings {
    Settings { method: MethodName::parse(method), ..Settings::default() }
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
    for name in MethodName::NAMES {
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
    for name in MethodName::NAMES {
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
    for name in MethodName::NAMES {
        let settings = settings(name);
        let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect(name);
        let read = Model::from_bytes(&model.to_bytes().expect(name)).expect(name);
        assert_eq!(read, model, "{name}");
        let task = task(&dataset, &settings);
        let scored = model.fitted.score(task.test.prepared(), Candidates::Unseen).expect(name).labels();
        // Raw features: the model normalizes them itself, so that their scale does not matter.
        let raw = bidilel::Mat::from_fn(task.test.features.nrows(), scored.len(), |i, j| {
            3.0 * task.test.features[(i, j)]
        });
        let predicted = read.predict(raw.as_ref()).expect(name);
        for (prediction, &class) in predicted.iter().zip(&scored) {
            assert_eq!(prediction.label, task.unseen[class], "{name}");
        }
    }
}

#[test]
fn several_views_and_descriptions_work_with_every_method() {
    let dataset = dataset();
    for name in MethodName::NAMES {
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
