//! Shared and naive: the same scores, the same choices.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use bidilel::Error;
use bidilel::settings::Settings;
use bidilel::split::TEST_SEEN_SHARE;
use bidilel::tune::{Axis, Evaluator, Forgetful, Host, Plan, Rule, Strategy, naive};
use bidilel_math::{Observer, Silent};
use serde_json::json;

use crate::support::{dataset, divided, evaluator, mixed, settings, task};

/// All scores of a batch on one fold.
fn shared(evaluator: &mut Evaluator, fold: usize, batch: &[Settings], host: &dyn Host) -> Vec<Option<f64>> {
    let found = evaluator.score(batch, fold..fold + 1, host, &Silent).expect("a batch");
    assert!(found.failures.is_empty(), "a fit: {:?}", found.failures);
    found.values.iter().map(|scores| scores[fold]).collect()
}

#[test]
fn every_score_is_that_of_a_fit_of_its_own() {
    // A single fold has neighbor lists of its own.
    for (seed, count) in [(0, 3), (1, 3), (2, 3), (3, 3), (1, 1), (2, 1)] {
        let dataset = dataset(seed);
        let (trial, folds) = divided(&dataset, count, seed);
        let mut evaluator = evaluator(&dataset, &trial, &folds);
        let batch = mixed();
        for (number, fold) in folds.iter().enumerate() {
            let found = shared(&mut evaluator, number, &batch, &Forgetful);
            for (settings, found) in batch.iter().zip(found) {
                let expected = naive::score(&dataset, fold, settings, 0, &Silent).expect("a fit");
                let found = found.expect("a score");
                assert!(
                    (found - expected).abs() < 1e-9,
                    "seed {seed}, {settings:?}: {found}, alone {expected}"
                );
            }
        }
    }
}

/// Folds then test some instances of known classes, too, and scores are harmonic means.
#[test]
fn every_score_of_known_and_held_out_classes_is_that_of_a_fit_of_its_own() {
    for seed in 0..2 {
        let dataset = dataset(seed);
        let (trial, folds) = divided(&dataset, 2, seed);
        let batch: Vec<Settings> =
            mixed().into_iter().map(|one| Settings { generalized: Some(true), ..one }).collect();
        let choice = batch[0].choice(&dataset).expect("representations");
        let mut evaluator = Evaluator::new(dataset.clone(), &trial, folds.clone(), &choice, 0, &Silent)
            .expect("an evaluator");
        let mut differs = 0;
        for (number, fold) in folds.iter().enumerate() {
            let found = shared(&mut evaluator, number, &batch, &Forgetful);
            let tested = fold.with_test_seen(&dataset, TEST_SEEN_SHARE, number as u64).expect("a draw");
            for ((settings, found), plain) in batch.iter().zip(found).zip(mixed()) {
                let expected = naive::score(&dataset, &tested, settings, 0, &Silent).expect("a fit");
                let found = found.expect("a score");
                assert!((found - expected).abs() < 1e-9, "{settings:?}: {found}, alone {expected}");
                let plain = naive::score(&dataset, fold, &plain, 0, &Silent).expect("a fit");
                differs += usize::from((plain - expected).abs() > 1e-9);
            }
        }
        assert!(differs > batch.len(), "known classes make a difference");
    }
}

/// With many instances a feature and many dimensions a class nothing is placed: lengths are enough.
#[test]
fn scores_by_lengths_are_those_of_fits_that_place_all() {
    for seed in 0..4 {
        let dataset = task(seed, 40.0, 48);
        let (trial, folds) = divided(&dataset, 2, seed);
        let mut evaluator = evaluator(&dataset, &trial, &folds);
        let mut batch = Vec::new();
        for alpha in [0.001, 1.0, 1000.0] {
            for (dim, neighbors) in [(12, 10), (44, 10), (44, 1)] {
                let neighbors = Some(neighbors);
                batch.push(Settings { alpha: Some(alpha), dim: Some(dim), neighbors, ..Settings::default() });
            }
        }
        for (number, fold) in folds.iter().enumerate() {
            let found = shared(&mut evaluator, number, &batch, &Forgetful);
            for (settings, found) in batch.iter().zip(found) {
                let expected = naive::score(&dataset, fold, settings, 0, &Silent).expect("a fit");
                assert!((found.expect("a score") - expected).abs() < 1e-9, "seed {seed}, {settings:?}");
            }
        }
    }
}

#[test]
fn lists_that_a_fold_leaves_too_short_are_searched_for_and_counted() {
    let mut dataset = dataset(3);
    // Classes come in close threes. With two of a three held out, the third is left with itself for neighbors.
    let rows = faer::Mat::<f32>::from_fn(32, dataset.labels.len(), |row, i| {
        let noise = ((i * 31 + row * 17) * (i + 7 * row + 3) % 101) as f32 / 101.0;
        let (three, one) = (dataset.labels[i] / 3, dataset.labels[i] % 3);
        noise + if row == three { 20.0 } else { 0.0 } + if row == 20 + one { 0.5 } else { 0.0 }
    });
    dataset.visual[0].rows = std::sync::Arc::new(rows);
    let mut trial = dataset.trials(None).expect("a split").remove(0);
    trial.train = (0..dataset.labels.len()).collect();
    (trial.known, trial.unseen) = ((0..dataset.classes.len()).collect(), Vec::new());
    let held_out = [0, 1, 3, 4];
    let side = |side: bool| {
        let inside = |&i: &usize| held_out.contains(&dataset.labels[i]) == side;
        trial.train.iter().copied().filter(inside).collect::<Vec<_>>()
    };
    let fold = bidilel::split::Trial {
        name: "threes".to_owned(),
        known: trial.known.iter().copied().filter(|class| !held_out.contains(class)).collect(),
        unseen: held_out.to_vec(),
        train: side(false),
        test: side(true),
        test_seen: Vec::new(),
        validation: Vec::new(),
    };
    // Twice: a single fold has lists of its own.
    let mut evaluator = evaluator(&dataset, &trial, &[fold.clone(), fold.clone()]);
    let batch: Vec<Settings> =
        [5, 20].map(|neighbors| Settings { neighbors: Some(neighbors), ..Settings::default() }).to_vec();
    let found = shared(&mut evaluator, 0, &batch, &Forgetful);
    assert!(evaluator.searched() > 0, "the lonely classes");
    for (settings, found) in batch.iter().zip(found) {
        let expected = naive::score(&dataset, &fold, settings, 0, &Silent).expect("a fit");
        assert!((found.expect("a score") - expected).abs() < 1e-9);
    }
}

/// Recalls the scores of a batch in its order, all but one.
struct AllBut<'a> {
    scores: &'a [Option<f64>],
    wanted: usize,
    asked: AtomicUsize,
}

impl Host for AllBut<'_> {
    fn recall(&self, _: &str, _: usize) -> Option<f64> {
        let setting = self.asked.fetch_add(1, Ordering::Relaxed);
        self.scores[setting].filter(|_| setting != self.wanted)
    }
}

#[test]
fn a_score_does_not_depend_on_what_else_is_still_wanted() {
    let dataset = dataset(9);
    let (trial, folds) = divided(&dataset, 1, 0);
    let mut evaluator = evaluator(&dataset, &trial, &folds);
    let batch = mixed();
    let whole = shared(&mut evaluator, 0, &batch, &Forgetful);
    for (kept, expected) in whole.iter().enumerate() {
        let others = AllBut { scores: &whole, wanted: kept, asked: AtomicUsize::new(0) };
        assert_eq!(shared(&mut evaluator, 0, &batch, &others)[kept], *expected);
    }
}

/// Folds share the sums of their scatter matrices where weights and regularizers let them, and make their own elsewhere.
#[test]
fn scores_from_sums_that_folds_share_are_those_of_fits_of_their_own() {
    let axes = vec![
        Axis::new("neighbors", &[2, 9]),
        Axis::new("weights", &["exp", "heat", "binary"]),
        Axis::new("regularizer", &["identity", "kernel"]),
        Axis::new("neighborhood", &["global", "within-class"]),
    ];
    for seed in 0..3 {
        let dataset = dataset(40 + seed);
        let (trial, folds) = divided(&dataset, 4, seed);
        let mut evaluator = evaluator(&dataset, &trial, &folds);
        let base = Settings { dim: Some(6), ..Settings::default() };
        let plan = Plan {
            base,
            axes: axes.clone(),
            strategy: Strategy::Grid,
            rule: Rule::Highest,
            auto: false,
            seed: 0,
        };
        let outcome = plan.run(&mut evaluator, &Forgetful, &Silent).expect("an outcome");
        assert_eq!(outcome.scored.len(), 24);
        for tried in &outcome.scored {
            for (fold, found) in folds.iter().zip(&tried.scores) {
                let expected = naive::score(&dataset, fold, &tried.settings, 0, &Silent).expect("a fit");
                assert!((found - expected).abs() < 1e-9, "seed {seed}, {:?}", tried.settings);
            }
        }
    }
}

/// With nothing shared every setting is fitted by itself, to the dataset's folds.
/// Cancels from a call of `poll` on.
struct After {
    polls: AtomicUsize,
    limit: usize,
}

impl Observer for After {
    fn poll(&self) -> ControlFlow<()> {
        let asked = self.polls.fetch_add(1, Ordering::Relaxed);
        if asked >= self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Neither half-summed matrices nor features that were not loaded are taken for whole ones the next time.
#[test]
fn what_was_cancelled_leaves_no_trace_in_later_scores() {
    let dataset = dataset(5);
    let (trial, folds) = divided(&dataset, 3, 1);
    // Over graphs, and over other features.
    let batch =
        [json!({"alpha": 0.1, "dim": 8}), json!({"normalize": "power", "bottom_up": "lda"})].map(settings);
    let whole = After { polls: AtomicUsize::new(0), limit: usize::MAX };
    let expected = evaluator(&dataset, &trial, &folds).score(&batch, 0..3, &Forgetful, &whole);
    let expected = expected.expect("nobody cancels").values;
    let polls = whole.polls.into_inner();
    for limit in (0..polls).step_by(polls / 100) {
        let mut evaluator = evaluator(&dataset, &trial, &folds);
        let watch = After { polls: AtomicUsize::new(0), limit };
        let cancelled = evaluator.score(&batch, 0..3, &Forgetful, &watch);
        assert!(matches!(cancelled, Err(Error::Cancelled)), "after {limit} of {polls}");
        let found = evaluator.score(&batch, 0..3, &Forgetful, &Silent).expect("a batch");
        assert!(found.failures.is_empty(), "after {limit} of {polls}: {:?}", found.failures);
        for (found, expected) in found.values.iter().flatten().zip(expected.iter().flatten()) {
            let [found, expected] = [found, expected].map(|score| score.expect("a score"));
            assert!((found - expected).abs() < 1e-9, "after {limit} of {polls}: {found}, not {expected}");
        }
    }
}

#[test]
fn scores_without_sharing_are_those_of_fits() {
    let dataset = dataset(7);
    let (trial, folds) = divided(&dataset, 2, 0);
    let mut evaluator = evaluator(&dataset, &trial, &folds);
    evaluator.sharing = false;
    let batch = mixed();
    let found = evaluator.score(&batch, 0..2, &Forgetful, &Silent).expect("a batch");
    for (settings, found) in batch.iter().zip(found.values) {
        for (fold, found) in folds.iter().zip(found) {
            assert_eq!(found, naive::score(&dataset, fold, settings, 0, &Silent).ok(), "{settings:?}");
        }
    }
}

#[test]
fn the_papers_protocol_makes_the_choices_of_the_naive_loop() {
    for seed in 0..4 {
        let dataset = dataset(20 + seed);
        let (trial, folds) = divided(&dataset, 3, seed);
        let mut evaluator = evaluator(&dataset, &trial, &folds);
        let plan = Plan {
            base: Settings::default(),
            axes: Vec::new(),
            strategy: Strategy::Paper,
            rule: Rule::Highest,
            auto: false,
            seed: 0,
        };
        let outcome = plan.run(&mut evaluator, &Forgetful, &Silent).expect("an outcome");
        let chosen = naive_paper(&|settings: &Settings| {
            let (settings, _) = evaluator.clipped(settings);
            let scores = folds.iter().map(|fold| naive::score(&dataset, fold, &settings, 0, &Silent));
            scores.map(|score| score.expect("a fit")).sum::<f64>() / folds.len() as f64
        });
        let (chosen, _) = evaluator.clipped(&chosen);
        assert_eq!(outcome.best.settings, chosen, "seed {seed}");
    }
}

/// The protocol written out, with nothing shared.
fn naive_paper(mean: &dyn Fn(&Settings) -> f64) -> Settings {
    let best = |batch: Vec<Settings>| {
        let scores: Vec<f64> = batch.iter().map(mean).collect();
        let first =
            (0..batch.len()).fold(0, |best, i| if scores[i] > scores[best] + 1e-12 { i } else { best });
        batch[first].clone()
    };
    let mut coarse = Vec::new();
    for alpha in [0.1, 10.0] {
        for dim in [10, 100, 500] {
            for neighbors in [1, 10, 50] {
                coarse.push(Settings {
                    alpha: Some(alpha),
                    dim: Some(dim),
                    neighbors: Some(neighbors),
                    ..Settings::default()
                });
            }
        }
    }
    let now = best(coarse);
    let alphas = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
    let now = best(alphas.map(|alpha| Settings { alpha: Some(alpha), ..now.clone() }).to_vec());
    let dims = [50, 100, 150, 200, 250, 300];
    let now = best(dims.map(|dim| Settings { dim: Some(dim), ..now.clone() }).to_vec());
    let counts = [5, 10, 15, 20, 25, 30];
    let now = best(counts.map(|neighbors| Settings { neighbors: Some(neighbors), ..now.clone() }).to_vec());
    let post = Some(vec![bidilel::settings::PostName::SelfTraining]);
    let refined = (1..=10).map(|ten| Settings {
        self_training_neighbors: Some(20 * ten),
        post: post.clone(),
        ..now.clone()
    });
    Settings { post: None, ..best(refined.collect()) }
}
