//! The choice among pipelines: what is listed or fixed, and what a budget leaves of it.

use std::collections::HashSet;

use bidilel::tune::{Axis, Forgetful, Host, Outcome, Plan, Rule, Scored, Strategy};
use bidilel_math::{Observer, Silent};
use serde_json::{Value, json};

use crate::support::{Listener, Memory, dataset, divided, evaluator, settings};

const FOLDS: usize = 3;

fn plan(base: Value, axes: Vec<Axis>) -> Plan {
    let rule = Rule::Sure { refined: true };
    Plan { base: settings(base), axes, strategy: Strategy::Paper, rule, auto: true, seed: 5 }
}

fn run(plan: &Plan, host: &dyn Host, watch: &dyn Observer) -> bidilel::Result<Outcome> {
    let dataset = dataset(2);
    let (trial, folds) = divided(&dataset, FOLDS, 1);
    plan.run(&mut evaluator(&dataset, &trial, &folds), host, watch)
}

fn found(base: Value, axes: Vec<Axis>) -> Outcome {
    run(&plan(base, axes), &Forgetful, &Silent).expect("an outcome")
}

/// The values of a setting that were tried.
fn tried(outcome: &Outcome, name: &str) -> HashSet<String> {
    let value = |one: &Scored| one.settings.entries().get(name).map(Value::to_string);
    outcome.scored.iter().filter_map(value).collect()
}

fn texts(values: &[&str]) -> HashSet<String> {
    values.iter().map(|&value| (*value).to_owned()).collect()
}

#[test]
fn of_a_list_one_value_is_chosen_and_no_other_is_tried() {
    let lists = vec![
        Axis::new("bottom_up", &["lda", "pca"]),
        Axis::new("top_down", &["lsm", "svr"]),
        Axis::new("normalize", &["none", "power"]),
    ];
    let outcome = found(json!({"post": ["none"]}), lists);
    assert_eq!(tried(&outcome, "bottom_up"), texts(&["\"lda\"", "\"pca\""]));
    assert_eq!(tried(&outcome, "top_down"), texts(&["\"lsm\"", "\"svr\""]));
    assert_eq!(tried(&outcome, "normalize"), texts(&["\"none\"", "\"power\""]));
    assert!(outcome.verdict.is_none(), "the lists leave out the defaults");
    let ridges = vec![Axis::new("krr_ridge", &[0.2, 0.5])];
    let outcome = found(json!({"top_down": "krr", "bottom_up": "cca", "post": ["none"]}), ridges);
    let entries = outcome.best.settings.entries();
    assert!([0.2, 0.5].iter().any(|ridge| entries["krr_ridge"] == *ridge), "{entries:?}");
}

/// Lists of what the search does not vary by itself: settings of the embedder, and of refiners.
#[test]
fn every_list_is_tried() {
    let starts = Axis::new("starts", &[2, 3]);
    let base = json!({"bottom_up": "cca", "top_down": "lsm", "post": ["none"]});
    let outcome = found(base, vec![starts]);
    assert_eq!(tried(&outcome, "starts"), texts(&["2", "3"]));
    assert!(outcome.best.settings.starts.is_some());

    let base = json!({"bottom_up": "cca", "top_down": "krr", "post": ["balanced"]});
    let pulls = Axis::new("balanced_pull", &[0.2, 0.7]);
    let outcome = found(base, vec![pulls]);
    assert_eq!(tried(&outcome, "balanced_pull"), texts(&["0.2", "0.7"]));
    assert!(outcome.best.settings.balanced_pull.is_some());

    let chains = Axis::new("post", &["none", "structured", "self-training+structured"]);
    let outcome = found(json!({"bottom_up": "cca", "top_down": "krr"}), vec![chains]);
    let expected = ["[\"none\"]", "[\"structured\"]", "[\"self-training\",\"structured\"]"];
    assert_eq!(tried(&outcome, "post"), texts(&expected));
    assert_eq!(outcome.inductive.is_some(), !outcome.best.settings.post().is_empty());
}

/// What is fixed to something unusual leaves everything else open.
#[test]
fn what_is_fixed_does_not_end_the_search_for_the_rest() {
    for base in [json!({"normalize": "none"}), json!({"top_down": "svr"}), json!({"top_down": "lsm+krr"})] {
        let mut fixed = base.clone();
        fixed["post"] = json!(["none"]);
        let outcome = found(fixed, Vec::new());
        assert_eq!(tried(&outcome, "bottom_up").len(), 4, "{base}");
        let (name, value) = base.as_object().and_then(|all| all.iter().next()).expect("one setting");
        assert_eq!(tried(&outcome, name), texts(&[&value.to_string()]), "{base}");
    }
}

/// However early a search ends, it ends with the best of what was scored, and that is not below the defaults.
#[test]
fn a_budget_ends_with_the_best_that_was_scored() {
    let listed = || vec![Axis::new("post", &["structured", "none"])];
    for (base, axes) in [
        (json!({}), Vec::new()),
        (json!({"post": ["none"]}), Vec::new()),
        (json!({"post": ["structured"]}), Vec::new()),
        (json!({}), listed()),
        (json!({"bottom_up": "lda", "ridge": 1e-9}), Vec::new()),
    ] {
        let plan = plan(base.clone(), axes);
        for budget in [1, 2, FOLDS, FOLDS + 1, 2 * FOLDS, 3 * FOLDS + 1, 40, 200] {
            let host = Memory { budget: Some(budget), ..Memory::default() };
            let outcome = run(&plan, &host, &Silent).expect("the defaults at least");
            let verdict = outcome.verdict.expect("the defaults compete");
            let case = format!("{base} {budget}: {:?}, {:?}", outcome.best, verdict.default);
            assert!(!outcome.best.scores.is_empty(), "{case}");
            assert!(outcome.best.scores.len() >= verdict.default.scores.len(), "{case}");
            assert!(outcome.best.mean > verdict.default.mean - 1e-9, "{case}");
            assert_eq!(verdict.kept, outcome.best.settings == verdict.default.settings, "{case}");
            let whole =
                outcome.scored.iter().filter(|one| one.scores.len() == FOLDS && one.problem.is_none());
            let highest = whole.map(|one| one.mean).fold(0.0, f64::max);
            assert!(outcome.best.mean > highest - 1e-9, "{highest} was scored. {case}");
        }
    }
}

/// Later stages ask again for what is known; a budget of evaluations is for what is not.
#[test]
fn a_budget_of_evaluations_is_spent_on_new_ones() {
    for budget in [40, 150, 400] {
        let host = Memory { budget: Some(budget), ..Memory::default() };
        let outcome =
            run(&plan(json!({"bottom_up": "pca"}), Vec::new()), &host, &Silent).expect("an outcome");
        let recorded = *host.recorded.lock().expect("a lock");
        assert!(recorded == budget || !outcome.stopped && recorded < budget, "{budget}: {recorded}");
    }
}

#[test]
fn a_budget_for_the_defaults_alone_is_enough_in_any_order() {
    for strategy in [Strategy::Paper, Strategy::Grid, Strategy::Random { samples: 4 }, Strategy::Halving] {
        let plan = Plan { strategy, auto: false, ..plan(json!({"dim": 8}), Vec::new()) };
        let host = Memory { budget: Some(FOLDS), ..Memory::default() };
        let outcome = run(&plan, &host, &Silent).expect("the defaults at least");
        assert!(outcome.stopped && outcome.verdict.expect("a verdict").kept, "{strategy:?}");
        assert_eq!(outcome.best.scores.len(), FOLDS, "{strategy:?}");
    }
}

#[test]
fn only_dims_that_were_asked_for_are_said_to_be_missing() {
    let said = |axes: Vec<Axis>| {
        let listener = Listener::default();
        let base = json!({"bottom_up": "lda", "top_down": "krr", "post": ["none"]});
        run(&plan(base, axes), &Forgetful, &listener).expect("an outcome");
        let notes = listener.0.into_inner().expect("a lock");
        notes.iter().filter(|note| note.contains("latent dimensions")).count()
    };
    assert_eq!(said(Vec::new()), 0);
    assert_eq!(said(vec![Axis::new("dim", &[5, 400])]), 1);
}
