//! What the runs of an evaluation say of every class.

use std::collections::{BTreeMap, BTreeSet};

use bidilel::evaluate::Run;
use bidilel::metrics::class_accuracies;

use crate::evaluation::{ClassScore, Mistake, mean_of};

/// What the runs say of one class.
#[derive(Default)]
struct Tally<'a> {
    /// Test instances, over all trials.
    instances: usize,
    /// The trials that these are from.
    trials: BTreeSet<&'a String>,
    /// Recognitions, over all runs.
    recognized: usize,
    /// Accuracy in every run that had it.
    shares: Vec<f64>,
    /// How often it was taken for each other class.
    mistakes: BTreeMap<&'a String, usize>,
}

/// The classes that were unseen in any run, in the order in which they come.
pub(crate) fn class_scores(runs: &[Run]) -> Vec<ClassScore> {
    let mut order: Vec<&String> = Vec::new();
    let mut tallies: BTreeMap<&String, Tally<'_>> = BTreeMap::new();
    for run in runs {
        let shares = class_accuracies(&run.confusion);
        for (class, name) in run.classes.iter().enumerate() {
            let Some(share) = shares[class] else { continue };
            let tally = tallies.entry(name).or_insert_with(|| {
                order.push(name);
                Tally::default()
            });
            let counts = &run.confusion[class];
            let count = counts.iter().sum::<usize>();
            tally.recognized += count;
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
    let score = |name: &&String| {
        let Tally { instances, recognized, shares, mistakes, .. } = &tallies[*name];
        let total = (*recognized).max(1) as f64;
        // The first name wins a tie, so that the result does not depend on anything else.
        let most = mistakes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        ClassScore {
            name: (*name).clone(),
            instances: *instances,
            accuracy: mean_of(shares.iter().copied()),
            mistaken_for: most
                .map(|(name, &count)| Mistake { name: (*name).clone(), share: count as f64 / total }),
        }
    };
    order.iter().map(score).collect()
}
