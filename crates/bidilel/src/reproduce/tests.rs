//! Laws of searches, runs and their ledger.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bidilel_math::Observer;

use serde_json::{Value, json};

use super::{Bench, Ledger, Memory, Order, Protocol, Search};
use crate::tune;
use crate::{Dataset, Experiment, Silent, SplitChoice, Synthetic, evaluate};

const PROTOCOL: Protocol = Protocol { share: 0.25, folds: 2, named: false, seed: 3 };

fn dataset() -> Arc<Dataset> {
    Arc::new(Synthetic { scale: 0.2, ..Synthetic::default() }.generate(5).unwrap())
}

fn bench(ledger: &dyn Ledger) -> Bench<'_> {
    let dataset = dataset();
    let trial = dataset.trials(None).unwrap().remove(0);
    Bench::new(dataset, trial, &["cnn"], PROTOCOL, ledger).unwrap()
}

fn search() -> Search {
    Search::grid(&[("alpha", vec![json!(0.1), json!(10.0)]), ("dim", vec![json!(4), json!(8)])])
}

#[test]
fn a_choice_is_that_of_tune_and_a_run_that_of_evaluate() {
    let memory = Memory::default();
    let mut bench = bench(&memory);
    let choice = bench.choose(&search(), &["attributes"], &Silent).unwrap();
    assert_eq!((choice.folds, choice.curves.len()), (2, 2));
    let run = bench.run(&choice.settings, 5, &Silent).unwrap();
    assert_eq!(run.len(), 1, "nothing in it is random");
    let settings = choice.settings.clone();
    let experiment = Experiment { settings, split: SplitChoice::First, seed: 3, ..Experiment::default() };
    let whole = evaluate(Arc::unwrap_or_clone(dataset()), &experiment, &Silent).unwrap();
    assert_eq!(run[0].per_class.to_bits(), whole.runs[0].accuracy().per_class.to_bits());
    let again = bench.run(&choice.settings, 5, &Silent).unwrap();
    assert_eq!(again, run);
}

#[test]
fn a_ledger_with_any_part_of_a_run_gives_the_whole_of_it() {
    let whole = Memory::default();
    let all = |ledger: &dyn Ledger| {
        let mut bench = bench(ledger);
        let later = Search {
            after: Some(Box::new(search())),
            ..Search::grid(&[("neighbors", vec![json!(3), json!(9)])])
        };
        let chosen = bench.choose(&later, &["attributes"], &Silent).unwrap();
        let random = chosen.settings.with(json!({"init": "random"}).as_object().unwrap()).unwrap();
        (chosen, bench.run(&random, 3, &Silent).unwrap())
    };
    let first = all(&whole);
    assert_eq!(first.1.iter().map(|run| run.seed).collect::<Vec<_>>(), [3, 4, 5]);
    let entries: Vec<(String, Value)> = whole.kept_entries();
    for skip in [1, 2, 3, entries.len()] {
        let part = Memory::with(entries.iter().step_by(skip).cloned());
        assert_eq!(all(&part), first, "every {skip}th entry");
        // A choice that is known needs no folds; what is computed again is what was there.
        assert!(part.kept_entries().iter().all(|entry| entries.contains(entry)), "every {skip}th entry");
    }
}

#[test]
fn other_data_folds_and_descriptions_have_other_entries() {
    let memory = Memory::default();
    let count = |protocol: Protocol, semantic: &str, seed: u64| {
        let before = memory.len();
        let dataset = Arc::new(Synthetic { scale: 0.2, ..Synthetic::default() }.generate(seed).unwrap());
        let trial = dataset.trials(None).unwrap().remove(0);
        let mut bench = Bench::new(dataset, trial, &["cnn"], protocol, &memory).unwrap();
        bench.choose(&search(), &[semantic], &Silent).unwrap();
        memory.len() - before
    };
    let each = 4 * PROTOCOL.folds + 1;
    assert_eq!(count(PROTOCOL, "attributes", 5), each);
    assert_eq!(count(PROTOCOL, "attributes", 5), 0, "all of it is known");
    assert_eq!(count(PROTOCOL, "words", 5), each);
    assert_eq!(count(PROTOCOL, "attributes", 6), each);
    assert_eq!(count(Protocol { seed: 4, ..PROTOCOL }, "attributes", 5), each);
}

/// How often each stage began.
#[derive(Default)]
struct Stages(Mutex<HashMap<&'static str, usize>>);

impl Observer for Stages {
    fn stage(&self, name: &'static str) {
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }
}

#[test]
fn runs_with_other_descriptions_share_the_features_and_a_space_that_does_not_read_them() {
    let memory = Memory::default();
    let mut shared = bench(&memory);
    let stages = Stages::default();
    let settings = |bottom_up: &str, semantic: &str| {
        let own = json!({"visual": ["cnn"], "semantic": [semantic], "bottom_up": bottom_up, "dim": 8});
        crate::settings::Settings::default().with(own.as_object().unwrap()).unwrap()
    };
    for (bottom_up, spaces, same) in [("slpp", 1, true), ("cca", 2, false)] {
        stages.0.lock().unwrap().clear();
        let (words, attributes) = (settings(bottom_up, "words"), settings(bottom_up, "attributes"));
        assert_eq!(shared.space_of(&words).unwrap() == shared.space_of(&attributes).unwrap(), same);
        for own in [&words, &attributes] {
            let alone = Memory::default();
            let run = shared.run(own, 1, &stages).unwrap();
            assert_eq!(run, bench(&alone).run(own, 1, &Silent).unwrap(), "{bottom_up}");
        }
        let counts = stages.0.lock().unwrap();
        assert_eq!(counts.get("landmarks"), Some(&spaces), "{bottom_up}: {counts:?}");
        assert_eq!(counts.get("load").copied().unwrap_or(0), usize::from(bottom_up == "slpp"), "{counts:?}");
    }
}

#[test]
fn views_are_ordered_by_what_they_add_and_the_papers_order_is_a_search_too() {
    let memory = Memory::default();
    let data = dataset();
    let trial = data.trials(None).unwrap().remove(0);
    let mut both = Bench::new(Arc::clone(&data), trial, &["cnn", "motion"], PROTOCOL, &memory).unwrap();
    let semantics = [vec!["words".to_owned()], vec!["attributes".to_owned()]];
    let mut order = both.order_views(&semantics[..1], 5, 2, &Silent).unwrap().remove(0);
    assert_eq!(both.order_views(&semantics[..1], 5, 1, &Silent).unwrap()[0], order[..1]);
    // Both together are what each is alone, also where one of them is known.
    let together = both.order_views(&semantics, 5, 2, &Silent).unwrap();
    let alone = Memory::default();
    let trial = data.trials(None).unwrap().remove(0);
    let mut other = Bench::new(Arc::clone(&data), trial, &["cnn", "motion"], PROTOCOL, &alone).unwrap();
    assert_eq!(other.order_views(&semantics[1..], 5, 2, &Silent).unwrap(), together[1..]);
    assert_eq!(together[0], order);
    order.sort();
    assert_eq!(order, ["cnn", "motion"]);
    let mut paper = Search { order: Order::Paper, ..search() };
    paper.axes.push(tune::Axis::new("neighbors", &[3, 5]));
    paper.axes.push(tune::Axis::new("self_training_neighbors", &[2, 4]));
    let choice = bench(&memory).choose(&paper, &["attributes"], &Silent).unwrap();
    let curves: Vec<&str> = choice.curves.iter().map(|curve| &curve.setting[..]).collect();
    assert_eq!(curves, ["alpha", "dim", "neighbors", "self_training_neighbors"]);
    assert!(choice.settings.self_training_neighbors.is_some() && choice.settings.post.is_none());
}
