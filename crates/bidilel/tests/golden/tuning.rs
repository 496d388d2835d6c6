//! The paper's two-stage protocol over fixed class folds: the same scores, the same choices.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Slpp};
use bidilel::dataset::{Dataset, Metric, Semantic};
use bidilel::metrics::accuracy;
use bidilel::pipeline::Pipeline;
use bidilel::reference::recognize;
use bidilel::semantic::{ClassSemantics, Representation};
use bidilel::settings::Settings;
use bidilel::split::Trial;
use bidilel::task::{Samples, Shared, Task};
use bidilel::tune::{Axis, Evaluator, Forgetful, Plan, Rule, Strategy};
use bidilel_math::Silent;
use faer::Mat;

use crate::support::{Golden, floats, index, inputs, locality, semantics};

/// The task in which the classes of a fold are unseen.
fn fold_task(held_out: &[usize]) -> Task<f64> {
    let (points, labels) = (inputs().columns("Xl"), inputs().indices("yl"));
    let known: Vec<usize> = (0..6).filter(|class| !held_out.contains(class)).collect();
    let side = |classes: &[usize]| {
        let instances: Vec<usize> = (0..60).filter(|&i| classes.contains(&labels[i])).collect();
        let place = |i: usize| classes.iter().position(|&class| class == labels[i]).expect("filtered");
        Samples {
            features: Mat::from_fn(points.nrows(), instances.len(), |row, i| points[(row, instances[i])]),
            labels: instances.iter().map(|&i| place(i)).collect(),
        }
    };
    let order: Vec<usize> = known.iter().chain(held_out).copied().collect();
    let representations = semantics("att").representations.into_iter().map(|one| Representation {
        values: Mat::from_fn(one.values.nrows(), 6, |row, c| one.values[(row, order[c])]),
        raw: Mat::from_fn(one.raw.nrows(), 6, |row, c| one.raw[(row, order[c])]),
        ..one
    });
    let name = |classes: &[usize]| classes.iter().map(ToString::to_string).collect();
    Task {
        split: "fold".to_owned(),
        views: bidilel::visual::Views::single("Xl", 12),
        train: side(&known),
        test: side(held_out),
        test_seen: None,
        known: name(&known),
        unseen: name(held_out),
        semantics: ClassSemantics::from_representations(representations.collect(), known.len()),
        shared: Shared::default(),
    }
}

/// Mean accuracy over the folds, and the stress of each.
fn score(folds: &[Task<f64>], alpha: f64, dim: usize, k: usize) -> (f64, Vec<f64>) {
    let locality = Locality { alpha, dim: Some(dim), neighbors: k, ..locality() };
    let pipeline =
        Pipeline { bottom_up: BottomUp::Slpp(Slpp { locality, ..Slpp::default() }), ..Pipeline::default() };
    let runs: Vec<(f64, f64)> = folds
        .iter()
        .map(|task| {
            let fitted = pipeline.fit(task, &Silent).expect("a fit");
            let found = recognize(&pipeline, &fitted, task.test.prepared(), &Silent).expect("a recognition");
            (accuracy(&found.labels(), &task.test.labels, task.unseen.len()).per_class, fitted.stress)
        })
        .collect();
    (runs.iter().map(|run| run.0).sum::<f64>() / runs.len() as f64, runs.iter().map(|run| run.1).collect())
}

/// The place of the largest score; ties go to the first.
fn best(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, i| if scores[i] > scores[best] + 1e-12 { i } else { best })
}

#[test]
fn coarse_grid_then_one_setting_at_a_time() {
    let golden = Golden::read("tuning");
    let folds: Vec<Task<f64>> = golden
        .at("folds")
        .as_array()
        .expect("folds")
        .iter()
        .map(|fold| fold_task(&fold.as_array().expect("classes").iter().map(index).collect::<Vec<_>>()))
        .collect();
    let mut scores = Vec::new();
    let coarse = golden.at("coarse").as_array().expect("settings");
    for setting in coarse {
        let alpha = setting["alpha"].as_f64().expect("alpha");
        let (mean, stress) = score(&folds, alpha, index(&setting["d_y"]), index(&setting["k"]));
        for (found, expected) in stress.iter().zip(floats(&setting["stress"])) {
            assert!((found - expected).abs() < 1e-7, "{setting}: stress {found}");
        }
        assert!((mean - setting["mean_acc"].as_f64().expect("a score")).abs() < 1e-12, "{setting}: {mean}");
        scores.push(mean);
    }
    let winner = best(&scores);
    assert_eq!(winner, index(golden.at("coarse_best")));
    let mut chosen = (
        coarse[winner]["alpha"].as_f64().expect("alpha"),
        index(&coarse[winner]["d_y"]),
        index(&coarse[winner]["k"]),
    );
    for stage in golden.at("fine").as_array().expect("stages") {
        let values = floats(&stage["values"]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts, written as floats"
        )]
        let set = |value: f64| match stage["param"].as_str() {
            Some("alpha") => (value, chosen.1, chosen.2),
            Some("d_y") => (chosen.0, value as usize, chosen.2),
            _ => (chosen.0, chosen.1, value as usize),
        };
        let scores: Vec<f64> = values
            .iter()
            .map(|&value| {
                let (alpha, dim, k) = set(value);
                score(&folds, alpha, dim, k).0
            })
            .collect();
        for (found, expected) in scores.iter().zip(floats(&stage["mean_acc"])) {
            assert!((found - expected).abs() < 1e-12, "{stage}: {scores:?}");
        }
        chosen = set(values[best(&scores)]);
    }
    assert_eq!(
        chosen,
        (golden.number("final.alpha"), index(golden.at("final.d_y")), index(golden.at("final.k")))
    );
}

/// The golden task as a dataset of its six known classes; the features are handed over by themselves.
fn dataset() -> Dataset {
    let vectors = inputs().columns("S");
    Dataset {
        name: "golden".to_owned(),
        classes: (0..6).map(|class| class.to_string()).collect(),
        labels: inputs().indices("yl"),
        visual: vec![bidilel::dataset::Visual {
            name: "Xl".to_owned(),
            origin: "the golden inputs".to_owned(),
            rows: std::sync::Arc::new(Mat::<f32>::zeros(12, 60)),
        }],
        semantic: vec![Semantic {
            name: "S".to_owned(),
            origin: "golden".to_owned(),
            metric: Metric::Euclidean,
            vectors: vectors.subcols(0, 6).to_owned(),
            dimension_names: None,
        }],
        splits: Vec::new(),
        networks: bidilel::Networks::default(),
    }
}

#[test]
fn shared_work_gives_the_golden_scores_and_choices() {
    let golden = Golden::read("tuning");
    let dataset = dataset();
    let folds = golden.at("folds").as_array().expect("folds").iter().map(|fold| {
        let held_out: Vec<usize> = fold.as_array().expect("classes").iter().map(index).collect();
        let side = |side: bool| (0..60).filter(|&i| held_out.contains(&dataset.labels[i]) == side).collect();
        Trial {
            name: "fold".to_owned(),
            known: (0..6).filter(|class| !held_out.contains(class)).collect(),
            train: side(false),
            test: side(true),
            unseen: held_out.clone(),
            test_seen: Vec::new(),
            validation: Vec::new(),
        }
    });
    let instances: Vec<usize> = (0..60).collect();
    let features = inputs().columns("Xl");
    let mut evaluator =
        Evaluator::over(dataset.clone(), features, &instances, folds.collect(), 0).expect("an evaluator");
    let mut run = |base: Settings, axes: Vec<Axis>| {
        let plan = Plan { base, axes, strategy: Strategy::Grid, rule: Rule::Highest, auto: false, seed: 0 };
        plan.run(&mut evaluator, &Forgetful, &Silent).expect("an outcome")
    };
    let coarse = golden.at("coarse").as_array().expect("settings");
    let axes = [("alpha", "alpha"), ("dim", "d_y"), ("neighbors", "k")].map(|(name, key)| {
        let mut values: Vec<serde_json::Value> = Vec::new();
        coarse.iter().for_each(|one| {
            if !values.contains(&one[key]) {
                values.push(one[key].clone());
            }
        });
        Axis { name: name.to_owned(), values }
    });
    let outcome = run(Settings::default(), axes.to_vec());
    for (found, expected) in outcome.scored.iter().zip(coarse) {
        assert!((found.mean - expected["mean_acc"].as_f64().expect("a score")).abs() < 1e-9, "{expected}");
    }
    let winner = &coarse[index(golden.at("coarse_best"))];
    let mut chosen = outcome.best.settings;
    assert_eq!((chosen.alpha, chosen.dim), (winner["alpha"].as_f64(), Some(index(&winner["d_y"]))));
    assert_eq!(chosen.neighbors, Some(index(&winner["k"])));
    for stage in golden.at("fine").as_array().expect("stages") {
        let name = match stage["param"].as_str() {
            Some("d_y") => "dim",
            Some("k") => "neighbors",
            _ => "alpha",
        };
        let values = stage["values"].as_array().expect("values").clone();
        let outcome = run(chosen, vec![Axis { name: name.to_owned(), values }]);
        for (found, expected) in outcome.scored.iter().zip(floats(&stage["mean_acc"])) {
            assert!((found.mean - expected).abs() < 1e-9, "{stage}: {}", found.mean);
        }
        chosen = outcome.best.settings;
    }
    assert_eq!(chosen.alpha, Some(golden.number("final.alpha")));
    assert_eq!(chosen.dim, Some(index(golden.at("final.d_y"))));
    assert_eq!(chosen.neighbors, Some(index(golden.at("final.k"))));
}
