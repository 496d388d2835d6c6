//! Settings over several views: weights, kernels and samples share neighbor lists and nothing else of importance.

use bidilel::dataset::Dataset;
use bidilel::settings::Settings;
use bidilel::synthetic::{Synthetic, View};
use bidilel::tune::{Axis, Evaluator, Forgetful, Plan, Rule, Strategy, naive};
use bidilel_math::Silent;
use serde_json::json;

use crate::support::{divided, settings};

fn dataset(seed: u64) -> Dataset {
    let view = |name: &str, dim| View { name: name.to_owned(), dim };
    let made = Synthetic {
        known: 12,
        unseen: 4,
        validation: 0,
        groups: 3,
        factors: 10,
        attributes: 30,
        word_dim: 12,
        instances_per_class: 12.0,
        views: vec![view("cnn", 24), view("motion", 18)],
        ..Synthetic::default()
    };
    made.generate(seed).expect("a small task")
}

fn batch() -> Vec<Settings> {
    let all = [
        json!({"dim": 8}),
        json!({"dim": 12, "alpha": 0.1}),
        json!({"view_weights": [0.2, 0.8]}),
        json!({"view_weights": [1.0, 0.0], "neighbors": 4}),
        json!({"kernel": "rbf", "dim": 8}),
        json!({"kernel": "rbf", "alpha": 0.1, "neighborhood": "within-class"}),
        json!({"kernel": ["motion=chi2"], "regularizer": "identity"}),
        json!({"kernel_method": "n-space", "dim": 8}),
        json!({"kernel": "rbf", "kernel_method": "nystrom", "nystrom_rank": 20, "dim": 9}),
        json!({"kernel": "rbf", "kernel_method": "nystrom", "nystrom_rank": 50, "bottom_up": "lda"}),
        json!({"bottom_up": "pca", "dim": 6, "view_weights": [0.2, 0.8]}),
        json!({"bottom_up": "cca", "dim": 6}),
        json!({"bottom_up": "none"}),
        json!({"bottom_up": "lpp", "dim": 6, "post": ["self-training"], "self_training_neighbors": 5}),
    ];
    let both = |mut one: serde_json::Value| {
        one["visual"] = json!(["cnn", "motion"]);
        settings(one)
    };
    all.into_iter().map(both).collect()
}

#[test]
fn every_score_over_several_views_is_that_of_a_fit_of_its_own() {
    for (seed, count) in [(0, 2), (1, 2), (2, 2), (1, 1)] {
        let dataset = dataset(seed);
        let (trial, folds) = divided(&dataset, count, seed);
        let batch = batch();
        let choice = batch[0].choice(&dataset).expect("representations");
        let mut evaluator = Evaluator::new(dataset.clone(), &trial, folds.clone(), &choice, 0, &Silent)
            .expect("an evaluator");
        for (number, fold) in folds.iter().enumerate() {
            let found = evaluator.score(&batch, number..number + 1, &Forgetful, &Silent).expect("a batch");
            assert!(found.failures.is_empty(), "a fit: {:?}", found.failures);
            for (settings, found) in batch.iter().zip(found.values) {
                let expected = naive::score(&dataset, fold, settings, 0, &Silent).expect("a fit");
                let found = found[number].expect("a score");
                assert!((found - expected).abs() < 1e-9, "{settings:?}: {found}, alone {expected}");
            }
        }
    }
}

#[test]
fn view_weights_and_ranks_are_axes_and_what_is_not_loaded_is_refused() {
    let dataset = dataset(1);
    let (trial, folds) = divided(&dataset, 2, 0);
    let base = settings(json!({"visual": ["cnn", "motion"], "kernel": "rbf", "kernel_method": "nystrom"}));
    let choice = base.choice(&dataset).expect("representations");
    let mut evaluator =
        Evaluator::new(dataset.clone(), &trial, folds, &choice, 0, &Silent).expect("an evaluator");
    let weights =
        Axis { name: "view_weights".to_owned(), values: vec![json!([0.5, 0.5]), json!([0.9, 0.1])] };
    let axes = vec![weights, Axis::new("nystrom_rank", &[10, 40])];
    let plan = Plan {
        base: base.clone(),
        axes,
        strategy: Strategy::Grid,
        rule: Rule::Highest,
        auto: false,
        seed: 0,
    };
    let outcome = plan.run(&mut evaluator, &Forgetful, &Silent).expect("an outcome");
    assert_eq!(outcome.scored.len(), 4);
    assert!(outcome.best.settings.nystrom_rank.is_some() && outcome.best.settings.view_weights.is_some());
    let other = Plan { base: Settings { visual: None, ..base }, axes: Vec::new(), ..plan };
    let failure = other.run(&mut evaluator, &Forgetful, &Silent).expect_err("another view").to_string();
    assert!(failure.contains("cnn,motion is what was loaded"), "{failure}");
}
