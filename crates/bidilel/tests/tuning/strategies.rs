//! The other strategies, budgets, memories, and what is wrong with a grid.

use bidilel::settings::PostName::Propagation;
use bidilel::settings::Settings;
use bidilel::tune::{Axis, Forgetful, Host, Outcome, Paired, Plan, Rule, Scored, Stage, Strategy, Unit};
use bidilel_math::{Observer, Silent};
use serde_json::json;
use std::sync::Mutex;

use crate::support::{Listener, Memory, dataset, divided, evaluator, settings, task};

fn plan(strategy: Strategy) -> Plan {
    let axes = vec![
        Axis::new("alpha", &[0.1, 1.0, 10.0]),
        Axis::new("dim", &[4, 8, 16]),
        Axis::new("neighbors", &[3, 9]),
    ];
    Plan { base: Settings::default(), axes, strategy, rule: Rule::Highest, auto: false, seed: 5 }
}

fn run(plan: &Plan, host: &dyn Host, watch: &dyn Observer) -> bidilel::Result<Outcome> {
    let dataset = dataset(2);
    let (trial, folds) = divided(&dataset, 3, 1);
    plan.run(&mut evaluator(&dataset, &trial, &folds), host, watch)
}

#[test]
fn a_whole_grid_finds_its_first_best_and_the_others_look_at_a_part_of_it() {
    let whole = run(&plan(Strategy::Grid), &Forgetful, &Silent).expect("a grid");
    assert_eq!(whole.scored.len(), 18);
    let highest = whole.scored.iter().map(|one| one.mean).fold(0.0, f64::max);
    let first = whole.scored.iter().find(|one| one.mean > highest - 1e-12).expect("a best");
    assert_eq!(first.settings, whole.best.settings);
    let some = run(&plan(Strategy::Random { samples: 7 }), &Forgetful, &Silent).expect("samples");
    assert_eq!(some.scored.len(), 7);
    assert!(some.scored.iter().all(|one| whole.scored.iter().any(|other| other.scores == one.scores)));
    let halved = run(&plan(Strategy::Halving), &Forgetful, &Silent).expect("halving");
    let finished = halved.scored.iter().filter(|one| one.scores.len() == 3).count();
    assert_eq!((halved.scored.len(), finished), (18, 6), "a third goes on to all folds");
}

#[test]
fn a_search_that_was_stopped_anywhere_ends_the_same_with_what_it_remembers() {
    for strategy in [Strategy::Paper, Strategy::Halving] {
        let whole = run(&plan(strategy), &Forgetful, &Silent).expect("a search");
        for stop in [1, 5, 20, 28] {
            let cut = Memory { stop_after: Some(stop), ..Memory::default() };
            assert!(run(&plan(strategy), &cut, &Silent).expect("a partial outcome").stopped);
            let resumed =
                Memory { scores: Mutex::new(cut.scores.into_inner().unwrap()), ..Memory::default() };
            let ended = run(&plan(strategy), &resumed, &Silent).expect("the rest");
            assert!(
                ended == whole,
                "{strategy:?} stopped after {stop}: {:?}, not {:?}",
                ended.best,
                whole.best
            );
        }
    }
}

#[test]
fn a_budget_of_evaluations_is_kept_and_one_of_zero_is_an_error() {
    let host = Memory { budget: Some(10), ..Memory::default() };
    let outcome = run(&plan(Strategy::Grid), &host, &Silent).expect("a partial outcome");
    assert!(outcome.stopped && outcome.scored.len() == 4, "three settings on three folds, and one on one");
    assert_eq!(*host.recorded.lock().unwrap(), 10);
    let host = Memory { budget: Some(0), ..Memory::default() };
    let failure = run(&plan(Strategy::Grid), &host, &Silent).expect_err("nothing");
    assert!(failure.to_string().contains("budget"), "{failure}");
}

/// Knows some scores by what a key contains, each telling its fold, and has no time for more.
struct Interrupted;

impl Interrupted {
    const FOLDS: [(&str, &[usize]); 3] = [("\"dim\":3", &[1, 2]), ("\"dim\":4", &[1]), ("\"dim\":5", &[2])];

    fn score(fold: usize) -> f64 {
        0.1 + 1e-3 * fold as f64
    }
}

impl Host for Interrupted {
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        let own = Self::FOLDS.iter().find(|(part, _)| key.contains(part));
        own.filter(|(_, folds)| folds.contains(&fold)).map(|_| Self::score(fold))
    }

    fn may_continue(&self) -> bool {
        false
    }
}

#[test]
fn where_time_is_up_settings_are_compared_on_the_same_folds() {
    let axes = vec![Axis::new("dim", &[3, 4, 5])];
    let plan = Plan { axes, rule: Rule::Highest, ..plan(Strategy::Grid) };
    let outcome = run(&plan, &Interrupted, &Silent).expect("a partial outcome");
    assert!(outcome.stopped && outcome.scored.len() >= 2, "{:?}", outcome.scored);
    // What was computed before the end tells no fold.
    let fold = |score: &f64| (0..3).find(|&fold| (score - Interrupted::score(fold)).abs() < 1e-12);
    let first: Vec<_> = outcome.scored.iter().map(|one| fold(&one.scores[0])).collect();
    assert!(first.iter().flatten().all(|&fold| fold == 1), "{:?}", outcome.scored);
}

#[test]
fn two_representations_are_judged_by_their_mean_and_then_fused() {
    let base = settings(json!({"semantic": ["attributes", "words"], "neighbors": 5}));
    let plan = Plan { base, axes: vec![Axis::new("dim", &[4, 8])], ..plan(Strategy::Paper) };
    let outcome = run(&plan, &Forgetful, &Silent).expect("an outcome");
    let best = &outcome.best.settings;
    assert_eq!(best.semantic.as_deref(), Some(&["attributes".to_owned(), "words".to_owned()][..]));
    assert!(best.gamma.is_some_and(|gamma| (0.1..=0.9).contains(&gamma)) && best.neighbors == Some(5));
    let coarse: Vec<_> = outcome.scored.iter().filter(|one| one.stage == Stage::Coarse).collect();
    assert_eq!(coarse.len(), 8, "two alphas, two dims, each on either representation");
    assert_eq!(outcome.scored.iter().filter(|one| one.stage == Stage::Gamma).count(), 9);
}

#[test]
fn the_choice_of_a_pipeline_looks_at_every_learner_and_embedder() {
    let plan = Plan { axes: Vec::new(), auto: true, ..plan(Strategy::Paper) };
    let outcome = run(&plan, &Forgetful, &Silent).expect("an outcome");
    for learner in ["slpp", "lda", "cca", "cca+lda"] {
        for embedder in ["lsm", "krr"] {
            let tried = outcome.scored.iter().any(|one| {
                let entries = one.settings.entries();
                entries["bottom_up"] == learner && entries["top_down"] == embedder
            });
            assert!(tried, "{learner} with {embedder}");
        }
    }
    let highest = outcome.scored.iter().map(|one| one.mean).fold(0.0, f64::max);
    assert!(outcome.best.mean > highest - 0.05, "{} of {highest}", outcome.best.mean);
}

#[test]
fn every_learner_within_one_standard_error_of_the_best_is_tuned_and_no_other() {
    // Without a regularizer, and with more features than instances, slpp is far behind in the first.
    let base = settings(
        json!({"normalize": "l2", "top_down": "krr", "krr_ridge": 0.1, "alpha": 1e-6, "post": ["none"]}),
    );
    let plan = Plan { base, axes: Vec::new(), auto: true, ..plan(Strategy::Paper) };
    let (mut close, mut far) = (0, 0);
    for seed in [3, 4] {
        let dataset = task(seed, 5.0, 100);
        let (trial, folds) = divided(&dataset, 6, 1);
        let outcome =
            plan.run(&mut evaluator(&dataset, &trial, &folds), &Forgetful, &Silent).expect("an outcome");
        let entry = |one: &Scored, name: &str| one.settings.entries().get(name).cloned().unwrap_or_default();
        let leader = |learner: Option<&str>| {
            let own = outcome.scored.iter().filter(|one| one.stage == Stage::Pipelines);
            let own = own.filter(|one| learner.is_none_or(|name| entry(one, "bottom_up") == name));
            own.reduce(|best, one| if one.mean > best.mean + 1e-12 { one } else { best }).expect("pipelines")
        };
        let best = leader(None);
        assert!(outcome.curves.iter().all(|curve| {
            let learner = |one: &Scored| entry(one, "bottom_up");
            curve.points.iter().all(|one| learner(one) == learner(&outcome.best))
        }));
        for learner in ["slpp", "lda", "cca", "cca+lda"] {
            // Values that the first stage does not have.
            let tuned = outcome.scored.iter().any(|one| {
                entry(one, "bottom_up") == learner
                    && (entry(one, "ridge") == 30.0 || entry(one, "neighbors") == 30)
            });
            let paired = Paired::of(Unit::Folds, &best.scores, &leader(Some(learner)).scores, 3.0 / 12.0);
            assert_eq!(tuned, paired.mean <= paired.standard_error, "{learner}, seed {seed}: {paired:?}");
            let other = entry(best, "bottom_up") != learner;
            close += usize::from(tuned && other);
            far += usize::from(!tuned);
        }
    }
    assert!(close > 0 && far > 0, "{close} close, {far} far");
}

#[test]
fn propagation_is_tried_after_the_chosen_refiner_and_taken_where_its_mean_is_higher() {
    for base in [json!({}), json!({"propagation_weight": 0.4})] {
        let plan =
            Plan { base: settings(base.clone()), axes: Vec::new(), auto: true, ..plan(Strategy::Paper) };
        let outcome = run(&plan, &Forgetful, &Silent).expect("an outcome");
        let propagates = |one: &&Scored| one.settings.post.iter().flatten().any(|name| *name == Propagation);
        let tried: Vec<&Scored> = outcome.scored.iter().filter(propagates).collect();
        assert_eq!(tried.len(), if base == json!({}) { 3 } else { 1 }, "a weight that is fixed stays");
        let chain = tried[0].settings.post.clone().expect("refiners");
        assert_eq!(chain.last(), Some(&Propagation));
        assert!(tried.iter().all(|one| one.settings.post.as_ref() == Some(&chain)));
        let before =
            |one: &&Scored| one.settings.post.as_deref().unwrap_or_default() == &chain[..chain.len() - 1];
        let kept = outcome.scored.iter().filter(before).map(|one| one.mean).fold(0.0, f64::max);
        let highest = tried.iter().map(|one| one.mean).fold(kept, f64::max);
        assert!((outcome.best.mean - highest).abs() < 1e-12, "{} {highest}", outcome.best.mean);
        assert_eq!(propagates(&&outcome.best), highest > kept + 1e-12);
    }
}

#[test]
fn an_impossible_dim_is_clipped_and_said_and_an_empty_grid_is_an_error() {
    let listener = Listener::default();
    let axes = vec![Axis::new("dim", &[8, 500])];
    let wide = Plan { axes, ..plan(Strategy::Grid) };
    let outcome = run(&wide, &Forgetful, &listener).expect("an outcome");
    assert_eq!(outcome.scored.iter().map(|one| one.settings.dim).collect::<Vec<_>>(), [Some(8), Some(32)]);
    assert!(listener.0.lock().unwrap().iter().any(|note| note.contains("no 500 latent dimensions")));
    let empty = Plan { axes: vec![Axis::new("dim", &[] as &[usize])], ..plan(Strategy::Grid) };
    assert!(run(&empty, &Forgetful, &Silent).expect_err("empty").to_string().contains("no value"));
    let bad = Plan { axes: vec![Axis::new("alpha", &[-1.0])], ..plan(Strategy::Grid) };
    assert!(run(&bad, &Forgetful, &Silent).expect_err("negative").to_string().contains("alpha must be"));
}

#[test]
fn approximate_neighbors_are_refused_before_anything_is_searched_for() {
    let approximate = |more| settings(json!({"search": "approximate", "bottom_up": more}));
    let refused = Plan { base: approximate("lpp"), ..plan(Strategy::Grid) };
    let error = run(&refused, &Forgetful, &Silent).expect_err("folds share exact lists");
    assert!(error.to_string().contains("search must be exact"), "{error}");
    assert!(matches!(error, bidilel::Error::ApproximateFolds));
    let axes = vec![Axis::new("ridge", &[1.0])];
    let idle = Plan { base: approximate("lda"), axes, ..plan(Strategy::Grid) };
    run(&idle, &Forgetful, &Silent).expect("a search has no say in lda");
}
