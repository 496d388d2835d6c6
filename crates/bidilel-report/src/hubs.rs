//! Hubs by name: classes that are among the nearest of far more instances than their share.

use std::collections::BTreeMap;

use bidilel::evaluate::Run;
use serde::{Deserialize, Serialize};

/// How often its share a hub is among the nearest.
const LEAST_FACTOR: f64 = 2.0;
/// The most hubs that are listed.
const MOST: usize = 3;

/// A class that is among the `k` nearest of far more instances than others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hub {
    /// Its name.
    pub name: String,
    /// Instances that have it among their `k` nearest, `N_k`: the mean over the runs that it was a candidate of.
    pub count: f64,
    /// What it would be if all classes were among the `k` nearest equally often.
    pub share: f64,
}

impl Hub {
    /// How often its share.
    pub fn factor(&self) -> f64 {
        self.count / self.share
    }
}

/// The largest hubs of all runs, largest first.
pub(crate) fn hubs(runs: &[Run], k: usize) -> Vec<Hub> {
    // Sums of counts and of shares, and the number of runs, by class.
    let mut sums: BTreeMap<&str, (usize, f64, usize)> = BTreeMap::new();
    for run in runs {
        let Some(counts) = run.occurrences.get(&k) else { continue };
        let share = counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64;
        for (name, &count) in run.classes.iter().zip(counts) {
            let sum = sums.entry(name).or_default();
            *sum = (sum.0 + count, sum.1 + share, sum.2 + 1);
        }
    }
    let mean = |(name, (count, share, runs)): (&str, (usize, f64, usize))| Hub {
        name: name.to_owned(),
        count: count as f64 / runs as f64,
        share: share / runs as f64,
    };
    let mut found: Vec<Hub> = sums.into_iter().map(mean).collect();
    found.retain(|hub| hub.share > 0.0 && hub.factor() >= LEAST_FACTOR);
    // Stable: of equal ones the first name.
    found.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
    found.truncate(MOST);
    found
}

/// `hubs: seal 312 (5.2 times its share), ...` for a terminal; nothing where there are none.
pub(crate) fn hubs_line(hubs: &[Hub]) -> Option<String> {
    let hub = |hub: &Hub| {
        format!(
            "{} is nearest to {:.0} ({:.1} times its share)",
            crate::visible(&hub.name),
            hub.count,
            hub.factor()
        )
    };
    let each: Vec<String> = hubs.iter().map(hub).collect();
    (!each.is_empty()).then(|| format!("hubs: {}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(classes: &[&str], counts: &[usize]) -> Run {
        Run {
            split: "x".to_owned(),
            seed: 0,
            classes: classes.iter().map(|&name| name.to_owned()).collect(),
            known: 0,
            confusion: Vec::new(),
            steps: Vec::new(),
            generalized: None,
            top: BTreeMap::new(),
            hubness: BTreeMap::new(),
            occurrences: BTreeMap::from([(1, counts.to_vec())]),
            stress: None,
            converged: true,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_hub_has_at_least_twice_its_share() {
        let one = run(&["bat", "seal", "whale", "wolf"], &[20, 5, 10, 5]);
        let found = hubs(&[one], 1);
        assert_eq!(found, [Hub { name: "bat".to_owned(), count: 20.0, share: 10.0 }]);
        assert_eq!(hubs_line(&found).expect("a hub"), "hubs: bat is nearest to 20 (2.0 times its share)");
        let even = hubs(&[run(&["bat", "seal"], &[12, 8])], 1);
        assert!(even.is_empty() && hubs_line(&even).is_none());
    }

    #[test]
    fn counts_are_means_over_the_runs_of_a_class_and_the_three_largest_are_listed() {
        let classes = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let first = run(&classes, &[20, 20, 24, 16, 0, 0, 0, 0]);
        let found = hubs(&[first.clone(), run(&["c", "x"], &[2, 0])], 1);
        let listed: Vec<(&str, f64, f64)> =
            found.iter().map(|hub| (&hub.name[..], hub.count, hub.share)).collect();
        assert_eq!(listed, [("c", 13.0, 5.5), ("a", 20.0, 10.0), ("b", 20.0, 10.0)]);
        assert!(hubs(&[first], 5).is_empty());
    }
}
