//! The defaults compete, and stay unless another setting is better by more than noise.

use bidilel::settings::Settings;
use bidilel::tune::{Axis, Evaluator, Forgetful, Outcome, Paired, Plan, Rule, Stage, Strategy, Unit};
use bidilel_math::Silent;
use serde_json::json;

use crate::support::{Memory, dataset, divided, evaluator, settings};

fn plan(strategy: Strategy, axes: Vec<Axis>, base: Settings) -> Plan {
    Plan { base, axes, strategy, rule: Rule::Sure { refined: true }, auto: false, seed: 5 }
}

fn over(folds: usize, seed: u64) -> Evaluator {
    let dataset = dataset(seed);
    let (trial, folds) = divided(&dataset, folds, 1);
    evaluator(&dataset, &trial, &folds)
}

fn run(plan: &Plan, folds: usize, seed: u64) -> Outcome {
    plan.run(&mut over(folds, seed), &Forgetful, &Silent).expect("an outcome")
}

/// Every strategy, with values that hold the defaults.
fn plans() -> Vec<Plan> {
    let base = settings(json!({"dim": 8}));
    let axes = vec![Axis::new("alpha", &[0.1, 10.0, 1000.0]), Axis::new("neighbors", &[2, 10])];
    let mut all: Vec<Plan> =
        [Strategy::Paper, Strategy::Grid, Strategy::Random { samples: 3 }, Strategy::Halving]
            .map(|strategy| plan(strategy, axes.clone(), base.clone()))
            .to_vec();
    all.push(Plan { axes: Vec::new(), auto: true, ..all[0].clone() });
    all.push(plan(Strategy::Paper, Vec::new(), settings(json!({"method": "eszsl", "eszsl_center": true}))));
    all
}

#[test]
fn the_defaults_come_first_and_the_choice_is_never_below_them() {
    for seed in [2, 3] {
        for plan in plans() {
            for folds in [1, 3] {
                let outcome = run(&plan, folds, seed);
                let verdict = outcome.verdict.as_ref().expect("the defaults compete");
                let first = &outcome.scored[0];
                assert_eq!((first.stage, &first.scores), (Stage::Default, &verdict.default.scores));
                assert_eq!(first.settings.eszsl_center, plan.base.eszsl_center);
                assert_eq!(verdict.kept, outcome.best.settings.effective() == first.settings.effective());
                if verdict.kept {
                    assert_eq!(outcome.best.scores, first.scores);
                } else {
                    assert!(outcome.best.mean > first.mean, "{plan:?}");
                    // Among pipelines the highest mean wins.
                    let sure = verdict.paired.as_ref().is_some_and(Paired::convinces);
                    assert!(sure || plan.auto, "{plan:?}");
                }
                let unit = if folds == 1 { Unit::Classes } else { Unit::Folds };
                assert!(
                    verdict.paired.iter().all(|paired| paired.unit == unit && !paired.differences.is_empty())
                );
            }
        }
    }
}

#[test]
fn the_choice_is_the_same_for_any_number_of_threads_and_order_of_values() {
    for plan in plans() {
        let found = run(&plan, 3, 2);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            assert!(pool.install(|| run(&plan, 3, 2)) == found, "{threads} threads: {plan:?}");
        }
        if plan.strategy == Strategy::Grid {
            let mut turned = plan.clone();
            turned.axes.reverse();
            turned.axes.iter_mut().for_each(|axis| axis.values.reverse());
            let turned = run(&turned, 3, 2);
            assert_eq!(turned.best.settings, found.best.settings);
            assert_eq!(
                turned.verdict.map(|verdict| verdict.paired),
                found.verdict.map(|verdict| verdict.paired)
            );
        }
    }
}

#[test]
fn the_defaults_are_one_of_the_combinations_and_lists_without_them_leave_them_out() {
    let axes = |alphas: &[f64]| vec![Axis::new("alpha", alphas), Axis::new("dim", &[4, 8])];
    let with = plan(Strategy::Grid, axes(&[1.0, 10.0]), settings(json!({"dim": 8})));
    let outcome = run(&with, 3, 2);
    assert_eq!(outcome.scored.len(), 4, "nothing is scored twice");
    assert_eq!(outcome.scored[0].settings, settings(json!({"alpha": 10.0, "dim": 8})));
    let without = run(&plan(Strategy::Grid, axes(&[1.0, 100.0]), Settings::default()), 3, 2);
    assert_eq!((without.scored.len(), without.verdict), (4, None));
    let highest = without.scored.iter().map(|one| one.mean).fold(0.0, f64::max);
    assert!(without.best.mean > highest - 1e-12, "the highest mean");
}

#[test]
fn a_refiner_is_added_to_the_inductive_choice_only_where_it_may_be_and_is_surely_better() {
    for seed in [2, 3, 4] {
        let asked = plan(Strategy::Paper, Vec::new(), Settings::default());
        let refined = run(&asked, 4, seed);
        let never = run(&Plan { rule: Rule::Sure { refined: false }, ..asked }, 4, seed);
        assert_eq!((&never.inductive, &never.best.settings.post), (&None, &None));
        let before = refined.inductive.as_ref().unwrap_or(&refined.best.settings);
        assert_eq!(before.effective(), never.best.settings.effective());
        assert_eq!(refined.inductive.is_some(), refined.best.settings.post.is_some());
        assert!(refined.inductive.is_none() || refined.best.mean > never.best.mean);
    }
}

#[test]
fn what_was_fixed_belongs_to_the_defaults() {
    let base = settings(json!({"dim": 6, "post": ["structured"], "semantic": ["attributes", "words"]}));
    let outcome = run(&plan(Strategy::Paper, Vec::new(), base), 3, 2);
    let verdict = outcome.verdict.expect("a verdict");
    for one in [&verdict.default.settings, &outcome.best.settings] {
        assert_eq!((one.dim, one.post.as_ref().map(Vec::len)), (Some(6), Some(1)));
        assert_eq!(one.semantic.as_ref().map(Vec::len), Some(2));
    }
    assert_eq!(verdict.default.scores.len(), 3);
    assert!(outcome.best.mean >= verdict.default.mean);
}

/// Pairs of classes come with the scores of a single fold; where these are recalled they come from fits of their own.
#[test]
fn the_pairs_of_a_single_fold_are_those_of_fits_of_their_own() {
    let mut compared = 0;
    for (plan, seed) in plans().into_iter().zip([2, 3, 2, 3]) {
        let memory = Memory::default();
        let [fresh, recalled] = [(), ()].map(|()| plan.run(&mut over(1, seed), &memory, &Silent));
        let [fresh, recalled] = [fresh, recalled].map(|outcome| outcome.expect("an outcome"));
        assert_eq!(fresh.best.settings, recalled.best.settings);
        let differences = |outcome: &Outcome| {
            let paired = outcome.verdict.as_ref().and_then(|verdict| verdict.paired.as_ref());
            paired.map(|paired| paired.differences.clone()).unwrap_or_default()
        };
        let [fresh, recalled] = [&fresh, &recalled].map(differences);
        assert_eq!(fresh.len(), recalled.len());
        assert!(fresh.iter().zip(&recalled).all(|(one, other)| (one - other).abs() < 1e-9));
        compared += fresh.len();
    }
    assert!(compared > 0, "no choice was close");
}
