//! Scores per class, over all runs of an evaluation.

use std::collections::{BTreeMap, BTreeSet};

use bidilel::evaluate::Run;
use bidilel::metrics::class_accuracies;

use crate::evaluation::{ClassScore, Mistake, mean_of};

/// Counts of one class.
#[derive(Default)]
struct Tally<'a> {
    /// Test instances, over all trials.
    instances: usize,
    /// The trials that these come from.
    trials: BTreeSet<&'a String>,
    /// Predictions, over all runs.
    predictions: usize,
    /// Accuracy per run.
    shares: Vec<f64>,
    /// Number of predictions per wrong class.
    mistakes: BTreeMap<&'a String, usize>,
}

/// A class, and whether it is known: trials of a family may have it on either side.
type Key<'a> = (&'a String, bool);

/// Every candidate with instances, in the order of first occurrence; a class that was known in some runs and unseen in others
/// is there twice.
pub(crate) fn class_scores(runs: &[Run]) -> Vec<ClassScore> {
    let mut order: Vec<Key<'_>> = Vec::new();
    let mut tallies: BTreeMap<Key<'_>, Tally<'_>> = BTreeMap::new();
    for run in runs {
        let shares = class_accuracies(&run.confusion);
        for (class, name) in run.classes.iter().enumerate() {
            let Some(share) = shares[class] else { continue };
            let key = (name, class < run.known);
            let tally = tallies.entry(key).or_insert_with(|| {
                order.push(key);
                Tally::default()
            });
            let counts = &run.confusion[class];
            let count = counts.iter().sum::<usize>();
            tally.predictions += count;
            if tally.trials.insert(&run.split) {
                tally.instances += count;
            }
            tally.shares.push(share);
            for (other, &count) in
                counts.iter().enumerate().filter(|&(other, &count)| other != class && count > 0)
            {
                *tally.mistakes.entry(&run.classes[other]).or_default() += count;
            }
        }
    }
    let score = |key: &Key<'_>| {
        let Tally { instances, predictions, shares, mistakes, .. } = &tallies[key];
        let total = (*predictions).max(1) as f64;
        // The first name wins a tie, so that the result is deterministic.
        let most = mistakes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        ClassScore {
            name: key.0.clone(),
            known: key.1,
            instances: *instances,
            accuracy: mean_of(shares.iter().copied()),
            mistaken_for: most
                .map(|(name, &count)| Mistake { name: (*name).clone(), share: count as f64 / total }),
        }
    };
    order.iter().map(score).collect()
}
