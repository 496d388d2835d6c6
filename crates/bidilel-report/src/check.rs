//! Self-checks of a fit: results compared with numbers that were computed independently.

use bidilel_math::Check;
use serde::{Deserialize, Serialize};

/// One kind of comparison, with its worst result over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The stage that compared.
    pub stage: String,
    /// What was compared.
    pub what: String,
    /// Largest relative deviation.
    pub deviation: f64,
    /// Largest deviation that is accepted.
    pub bound: f64,
    /// Number of comparisons.
    pub count: usize,
}

impl CheckReport {
    /// Merges a comparison into those of its kind.
    pub fn add(all: &mut Vec<Self>, check: &Check) {
        match all.iter_mut().find(|one| one.stage == check.stage && one.what == check.what) {
            Some(one) => {
                if check.deviation / check.bound > one.deviation / one.bound {
                    (one.deviation, one.bound) = (check.deviation, check.bound);
                }
                one.count += 1;
            }
            None => all.push(Self {
                stage: check.stage.to_owned(),
                what: check.what.to_owned(),
                deviation: check.deviation,
                bound: check.bound,
                count: 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_a_kind_stays() {
        let mut all = Vec::new();
        for (what, deviation) in [("one", 1e-12), ("other", 0.0), ("one", 1e-10), ("one", 1e-11)] {
            CheckReport::add(&mut all, &Check { stage: "eigen", what, deviation, bound: 1e-6 });
        }
        let found: Vec<(&str, f64, usize)> =
            all.iter().map(|one| (one.what.as_str(), one.deviation, one.count)).collect();
        assert_eq!(found, [("one", 1e-10, 3), ("other", 0.0, 1)]);
    }
}
