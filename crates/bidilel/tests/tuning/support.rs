//! Small tasks with folds.

use std::collections::HashMap;
use std::sync::Mutex;

use bidilel::dataset::Dataset;
use bidilel::settings::Settings;
use bidilel::split::Trial;
use bidilel::synthetic::{Synthetic, View};
use bidilel::tune::{Evaluator, Holdout, Host, folds};
use bidilel_math::{Observer, Silent};
use serde_json::{Value, json};

pub(crate) fn dataset(seed: u64) -> Dataset {
    task(seed, 14.0, 32)
}

/// A task of so many instances a class and features.
pub(crate) fn task(seed: u64, instances: f64, dim: usize) -> Dataset {
    let settings = Synthetic {
        known: 15,
        unseen: 4,
        validation: 0,
        groups: 3,
        factors: 10,
        attributes: 30,
        word_dim: 12,
        instances_per_class: instances,
        views: vec![View { name: "cnn".to_owned(), dim }],
        ..Synthetic::default()
    };
    settings.generate(seed).expect("a small task")
}

pub(crate) fn divided(dataset: &Dataset, count: usize, seed: u64) -> (Trial, Vec<Trial>) {
    let trial = dataset.trials(None).expect("a split").remove(0);
    let folds = folds(dataset, &trial, Holdout::Random { share: 0.2, folds: count, seed }).expect("folds");
    (trial, folds)
}

pub(crate) fn evaluator(dataset: &Dataset, trial: &Trial, folds: &[Trial]) -> Evaluator {
    let choice = Settings::default().choice(dataset).expect("representations");
    Evaluator::new(dataset.clone(), trial, folds.to_vec(), &choice, 0, &Silent).expect("an evaluator")
}

pub(crate) fn settings(value: Value) -> Settings {
    serde_json::from_value(value).expect("settings")
}

/// One of every kind of thing that can be shared, or not.
pub(crate) fn mixed() -> Vec<Settings> {
    let mut all = Vec::new();
    for alpha in [0.1, 10.0] {
        for dim in [3, 8, 20] {
            for neighbors in [1, 5, 30] {
                all.push(settings(json!({"alpha": alpha, "dim": dim, "neighbors": neighbors})));
            }
        }
    }
    for more in [
        json!({"neighborhood": "within-class", "dim": 6}),
        json!({"weights": "heat", "regularizer": "kernel", "dim": 7}),
        json!({"weights": "binary", "center": true}),
        json!({"bottom_up": "lpp", "dim": 9, "top_down": "svr", "svr_c": 1.0}),
        json!({"bottom_up": "pca", "dim": 5}),
        json!({"bottom_up": "pca", "dim": 11}),
        json!({"bottom_up": "pca"}),
        json!({"bottom_up": "lda", "ridge": 0.1}),
        json!({"bottom_up": "lda", "ridge": 0.1, "dim": 4}),
        json!({"bottom_up": "cca", "dim": 6}),
        json!({"bottom_up": "cca", "dim": 6, "semantic": ["words"]}),
        json!({"bottom_up": "none", "top_down": "lsm+svr"}),
        json!({"dim": 8, "post": ["self-training"], "self_training_neighbors": 4}),
        json!({"dim": 8, "post": ["self-training", "structured"], "self_training_neighbors": 9}),
        json!({"dim": 8, "semantic": ["attributes", "words"], "gamma": 0.3}),
        json!({"dim": 8, "init": "random", "normalize_embedding": true}),
        json!({"bottom_up": "cca+lda", "dim": 6, "top_down": "krr", "unit_embedding": true}),
        json!({"bottom_up": "cca+lda", "dim": 9, "top_down": "lsm+krr", "krr_ridge": 0.1}),
        json!({"bottom_up": "lda", "ridge": 0.1, "top_down": "krr", "semantic": ["attributes", "words"]}),
        json!({"normalize": "power", "dim": 8, "init": "krr", "post": ["balanced", "propagation"]}),
    ] {
        all.push(settings(more));
    }
    all
}

/// A host with a memory, which stops after some scores.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) scores: Mutex<HashMap<(String, usize), f64>>,
    pub(crate) recorded: Mutex<usize>,
    pub(crate) stop_after: Option<usize>,
    pub(crate) budget: Option<usize>,
}

impl Host for Memory {
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        self.scores.lock().expect("a lock").get(&(key.to_owned(), fold)).copied()
    }

    fn record(&self, key: &str, fold: usize, score: f64) -> bidilel::Result<()> {
        self.scores.lock().expect("a lock").insert((key.to_owned(), fold), score);
        *self.recorded.lock().expect("a lock") += 1;
        Ok(())
    }

    fn may_continue(&self) -> bool {
        self.stop_after.is_none_or(|most| *self.recorded.lock().expect("a lock") < most)
    }

    fn evaluations_left(&self, used: usize) -> usize {
        self.budget.map_or(usize::MAX, |budget| budget.saturating_sub(used))
    }
}

/// Keeps what is said.
#[derive(Default)]
pub(crate) struct Listener(pub(crate) Mutex<Vec<String>>);

impl Observer for Listener {
    fn note(&self, message: &str) {
        self.0.lock().expect("a lock").push(message.to_owned());
    }
}
