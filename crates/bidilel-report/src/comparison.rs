//! The result of `compare`: methods with their accuracies, how sure these are, and what they cost.
//!
//! The spread of a figure, its confidence interval and the paired tests are over trials where there are at least
//! [`FEWEST_TRIALS`] of them, otherwise over unseen classes: fewer pairs cannot become significant by a signed-rank test,
//! whatever they are. A row is tested against the best of its kind, inductive or transductive.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bidilel::calibrate::Generalized;
use bidilel::method::Kind;
use bidilel::settings::Settings;
use bidilel::split::DrawnSplits;
use bidilel_math::statistics::{Summary, confidence_interval, holm, wilcoxon};
use serde::{Deserialize, Serialize};

use crate::evaluation::mean_of;
use crate::generalized::mean_generalized;

/// With five pairs the smallest two-sided p-value of the signed-rank test is 1/16.
pub const FEWEST_TRIALS: usize = 6;

/// One method on one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the trial.
    pub split: String,
    /// Seed.
    pub seed: u64,
    /// Mean of the classes' accuracies.
    pub per_class: f64,
    /// Share of the instances.
    pub per_image: f64,
    /// On known and on unseen classes, where all are candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalized: Option<Generalized>,
    /// Accuracy of every unseen class.
    pub classes: BTreeMap<String, f64>,
    /// How many classes competed; where results do not say it, those of `classes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// Seconds to fit and to recognize.
    pub seconds: f64,
    /// Seconds to choose the settings; none where they were given.
    pub tuning_seconds: Option<f64>,
    /// The most memory that the program had while it fitted and recognized, in bytes; none where it is not known.
    pub peak_memory: Option<u64>,
    /// The settings in force.
    pub settings: Settings,
}

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedMethod {
    /// Its name, with what differs from the method's defaults.
    pub method: String,
    /// Whether its answers depend on the whole batch of test instances.
    pub kind: Kind,
    /// Mean per-class accuracy over trials; none where it failed.
    pub per_class: Option<f64>,
    /// Mean per-image accuracy over trials.
    pub per_image: Option<f64>,
    /// Means over trials on known and on unseen classes, where all are candidates: the harmonic mean then ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalized: Option<Generalized>,
    /// Standard error of the figure that ranks, over what the tests are over.
    pub standard_error: Option<f64>,
    /// 95 % confidence interval of that figure, over the same.
    pub interval: Option<(f64, f64)>,
    /// Of the paired test against the best of its kind; none for the best itself.
    pub p_value: Option<f64>,
    /// The same, corrected for the number of tests.
    pub p_corrected: Option<f64>,
    /// Mean seconds of a trial, to fit and to recognize.
    pub seconds: Option<f64>,
    /// Mean seconds of a trial, to choose the settings.
    pub tuning_seconds: Option<f64>,
    /// The most memory in any trial, in bytes.
    pub peak_memory: Option<u64>,
    /// The settings of the first trial.
    pub settings: Settings,
    /// Every trial.
    pub runs: Vec<Measurement>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What spreads and tests are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Trials of a family of splits.
    Splits,
    /// Unseen classes.
    Classes,
    /// Nothing: a harmonic mean is no mean over classes, and there are too few trials.
    Nothing,
}

/// The object that `compare --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the dataset.
    pub dataset: String,
    /// The split as it was given.
    pub split: String,
    /// How its trials were drawn; left out where the dataset has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_splits: Option<DrawnSplits>,
    /// Visual representations.
    pub visual: Vec<String>,
    /// Semantic representations.
    pub semantic: Vec<String>,
    /// Whether settings were chosen on held-out known classes.
    pub tuned: bool,
    /// Accuracy of guessing.
    pub chance: f64,
    /// What spreads, intervals and tests are over.
    pub over: Over,
    /// How many of them there are.
    pub pairs: usize,
    /// Best first, failures last.
    pub results: Vec<ComparedMethod>,
    /// Seconds of everything.
    pub seconds: f64,
}

/// What came of one contender: a name, its kind, and its trials or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name.
    pub method: String,
    /// Its kind.
    pub kind: Kind,
    /// Its settings before tuning, for a row that failed.
    pub settings: Settings,
    /// The trials that were run.
    pub runs: Vec<Measurement>,
    /// Why it failed, where it did.
    pub error: Option<String>,
}

impl Comparison {
    /// Averages, sorts and tests; `head` has everything but rows, chance and tests.
    pub fn of(head: ComparisonHead, entries: Vec<Entry>) -> Self {
        let ComparisonHead { dataset, split, random_splits, visual, semantic, tuned, seconds } = head;
        let trials = entries.iter().map(|entry| entry.runs.len()).max().unwrap_or(0);
        let generalized = entries.iter().flat_map(|entry| &entry.runs).any(|run| run.generalized.is_some());
        let over = if trials >= FEWEST_TRIALS {
            Over::Splits
        } else if generalized {
            Over::Nothing
        } else {
            Over::Classes
        };
        let chance = mean_of(entries.iter().flat_map(|entry| &entry.runs).map(Measurement::chance));
        let units: Vec<BTreeMap<String, f64>> =
            entries.iter().map(|entry| units(&entry.runs, over)).collect();
        let mut results: Vec<ComparedMethod> =
            entries.into_iter().zip(&units).map(|(entry, units)| row(entry, units)).collect();
        let mut order: Vec<usize> = (0..results.len()).collect();
        order.sort_by(|&a, &b| by_accuracy(&results[a], &results[b]));
        for kind in [Kind::Inductive, Kind::Transductive].into_iter().filter(|_| over != Over::Nothing) {
            let mut of_kind =
                order.iter().copied().filter(|&i| results[i].kind == kind && results[i].per_class.is_some());
            let Some(best) = of_kind.next() else { continue };
            let others: Vec<usize> = of_kind.collect();
            let test = |&other: &usize| wilcoxon(&differences(&units[best], &units[other]));
            let p_values: Vec<f64> = others.iter().map(test).collect();
            for ((&other, p), corrected) in others.iter().zip(&p_values).zip(holm(&p_values)) {
                (results[other].p_value, results[other].p_corrected) = (Some(*p), Some(corrected));
            }
        }
        let pairs = units.iter().map(BTreeMap::len).max().unwrap_or(0);
        results.sort_by(by_accuracy);
        Self { dataset, split, random_splits, visual, semantic, tuned, chance, over, pairs, results, seconds }
    }
}

/// What is known of a comparison without its rows.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as in the comparison")]
pub struct ComparisonHead {
    pub dataset: String,
    pub split: String,
    pub random_splits: Option<DrawnSplits>,
    pub visual: Vec<String>,
    pub semantic: Vec<String>,
    pub tuned: bool,
    pub seconds: f64,
}

impl Measurement {
    /// The figure that ranks: the harmonic mean where all classes are candidates, else the per-class accuracy.
    pub fn figure(&self) -> f64 {
        self.generalized.map_or(self.per_class, |figures| figures.calibrated.harmonic)
    }

    /// What guessing among all candidates gives: on every side of the generalized setting, and so as the harmonic mean.
    fn chance(&self) -> f64 {
        1.0 / self.candidates.unwrap_or(self.classes.len()).max(1) as f64
    }
}

impl ComparedMethod {
    /// The figure that ranks: the harmonic mean where all classes are candidates, else the per-class accuracy.
    pub fn figure(&self) -> Option<f64> {
        self.generalized.map(|figures| figures.calibrated.harmonic).or(self.per_class)
    }
}

/// Best first; those without a figure last, in their order.
fn by_accuracy(a: &ComparedMethod, b: &ComparedMethod) -> Ordering {
    match (a.figure(), b.figure()) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn row(entry: Entry, units: &BTreeMap<String, f64>) -> ComparedMethod {
    let Entry { method, kind, settings, runs, error } = entry;
    let worked = error.is_none() && !runs.is_empty();
    let mean = |of: fn(&Measurement) -> f64| worked.then(|| mean_of(runs.iter().map(of)));
    let values: Vec<f64> = units.values().copied().collect();
    let share = |(low, high): (f64, f64)| (low.max(0.0), high.min(1.0));
    let tuning: Option<Vec<f64>> = runs.iter().map(|run| run.tuning_seconds).collect();
    ComparedMethod {
        per_class: mean(|run| run.per_class),
        per_image: mean(|run| run.per_image),
        generalized: mean_generalized(runs.iter().map(|run| run.generalized)).filter(|_| worked),
        standard_error: (worked && !values.is_empty()).then(|| Summary::of(&values).standard_error),
        interval: confidence_interval(&values).filter(|_| worked).map(share),
        p_value: None,
        p_corrected: None,
        seconds: mean(|run| run.seconds),
        tuning_seconds: tuning.filter(|_| worked).map(|all| mean_of(all.into_iter())),
        peak_memory: runs.iter().filter_map(|run| run.peak_memory).max(),
        settings: runs.first().map_or(settings, |run| run.settings.clone()),
        method,
        kind,
        runs,
        error,
    }
}

/// The accuracy in every unit: that of every trial, or of every class over the trials in which it was unseen.
fn units(runs: &[Measurement], over: Over) -> BTreeMap<String, f64> {
    match over {
        Over::Nothing => BTreeMap::new(),
        Over::Splits => runs.iter().map(|run| (run.split.clone(), run.figure())).collect(),
        Over::Classes => {
            let mut classes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for (name, &accuracy) in runs.iter().flat_map(|run| &run.classes) {
                classes.entry(name.clone()).or_default().push(accuracy);
            }
            classes.into_iter().map(|(name, all)| (name, mean_of(all.into_iter()))).collect()
        }
    }
}

/// The differences in the units that both have.
fn differences(one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>) -> Vec<f64> {
    one.iter().filter_map(|(name, value)| Some(value - other.get(name)?)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn measured(split: &str, accuracies: &[f64]) -> Measurement {
        Measurement {
            split: split.to_owned(),
            seed: 0,
            per_class: mean_of(accuracies.iter().copied()),
            per_image: mean_of(accuracies.iter().copied()),
            generalized: None,
            classes: accuracies.iter().enumerate().map(|(i, &a)| (format!("class {i}"), a)).collect(),
            candidates: None,
            seconds: 1.5,
            tuning_seconds: None,
            peak_memory: Some(300_000_000),
            settings: Settings::default(),
        }
    }

    pub(crate) fn entry(method: &str, kind: Kind, runs: Vec<Measurement>) -> Entry {
        let error = runs.is_empty().then(|| "it broke".to_owned());
        Entry { method: method.to_owned(), kind, settings: Settings::default(), runs, error }
    }

    pub(crate) fn comparison(entries: Vec<Entry>) -> Comparison {
        let name = |text: &str| text.to_owned();
        let head = ComparisonHead {
            dataset: name("sea"),
            split: name("standard"),
            random_splits: None,
            visual: vec![name("cnn")],
            semantic: vec![name("attributes")],
            tuned: false,
            seconds: 4.0,
        };
        Comparison::of(head, entries)
    }

    #[test]
    fn rows_are_best_first_and_tested_against_the_best_of_their_kind() {
        let worse = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        let better = worse.map(|a| a + 0.05 + 0.01 * a);
        let compared = comparison(vec![
            entry("worse", Kind::Inductive, vec![measured("standard", &worse)]),
            entry("broken", Kind::Inductive, vec![]),
            entry("better", Kind::Inductive, vec![measured("standard", &better)]),
            entry("refined", Kind::Transductive, vec![measured("standard", &worse)]),
        ]);
        let names: Vec<&str> = compared.results.iter().map(|row| &row.method[..]).collect();
        assert_eq!(names, ["better", "worse", "refined", "broken"]);
        assert_eq!((compared.over, compared.pairs), (Over::Classes, 8));
        assert!((compared.chance - 0.125).abs() < 1e-12);
        let [better, worse, refined, broken] = &compared.results[..] else { panic!("four rows") };
        assert_eq!((better.p_value, refined.p_value), (None, None), "each is the best of its kind");
        assert!((worse.p_value.expect("a test") - 2.0 / 256.0).abs() < 1e-12);
        assert_eq!(broken.error.as_deref(), Some("it broke"));
        assert_eq!((broken.per_class, broken.interval), (None, None));
        let (low, high) = better.interval.expect("eight classes");
        assert!(low < better.per_class.expect("it ran") && high <= 1.0);
    }

    #[test]
    fn six_trials_are_what_tests_are_over() {
        let trials = |base: f64, count: usize| {
            let one = |i: usize| measured(&format!("random:{i}"), &[base + 0.01 * i as f64, 0.5]);
            (0..count).map(one).collect::<Vec<_>>()
        };
        for (count, over, pairs) in [(5, Over::Classes, 2), (6, Over::Splits, 6)] {
            let compared = comparison(vec![
                entry("a", Kind::Inductive, trials(0.4, count)),
                entry("b", Kind::Inductive, trials(0.3, count)),
            ]);
            assert_eq!((compared.over, compared.pairs), (over, pairs));
        }
    }

    #[test]
    fn the_harmonic_mean_ranks_where_all_classes_are_candidates() {
        use bidilel::calibrate::SeenUnseen;
        let run = |split: &str, seen: f64, unseen: f64| Measurement {
            generalized: Some(Generalized {
                calibrated: SeenUnseen::new(seen, unseen),
                ausuc: 0.3,
                bias: 0.1,
                uncalibrated: SeenUnseen::new(seen, 0.01),
            }),
            candidates: Some(10),
            ..measured(split, &[seen, unseen])
        };
        let of = |seen: f64, unseen: f64| vec![run("standard", seen, unseen)];
        // The higher mean over all classes is not the higher harmonic mean.
        let entries = vec![
            entry("lopsided", Kind::Inductive, of(0.9, 0.2)),
            entry("even", Kind::Inductive, of(0.5, 0.5)),
            entry("broken", Kind::Inductive, vec![]),
        ];
        let compared = comparison(entries);
        let names: Vec<&str> = compared.results.iter().map(|row| &row.method[..]).collect();
        assert_eq!(names, ["even", "lopsided", "broken"]);
        assert_eq!((compared.over, compared.pairs), (Over::Nothing, 0));
        assert!((compared.chance - 0.1).abs() < 1e-12, "one of all candidates, known ones among them");
        let row = &compared.results[1];
        assert_eq!((row.standard_error, row.interval, row.p_value), (None, None, None));
        let text = serde_json::to_string(&compared).expect("serializable");
        assert_eq!(serde_json::from_str::<Comparison>(&text).expect("an object"), compared);
        // Spreads over six trials are those of the harmonic mean.
        let trials = |base: f64| {
            (0..6).map(|i| run(&format!("random:{i}"), base, 0.4 + 0.01 * f64::from(i))).collect()
        };
        let compared = comparison(vec![
            entry("a", Kind::Inductive, trials(0.5)),
            entry("b", Kind::Inductive, trials(0.3)),
        ]);
        let (low, high) = compared.results[0].interval.expect("six trials");
        let figure = compared.results[0].figure().expect("it ran");
        assert!(low < figure && figure < high && high < 0.5, "{low} {figure} {high}");
        assert!(compared.text(None).contains("harmonic"), "{}", compared.text(None));
    }

    #[test]
    fn the_object_comes_back_from_json() {
        let compared = comparison(vec![
            entry("a", Kind::Inductive, vec![measured("standard", &[0.3, 0.4])]),
            entry("b", Kind::Transductive, vec![]),
        ]);
        let text = serde_json::to_string(&compared).expect("serializable");
        assert_eq!(serde_json::from_str::<Comparison>(&text).expect("an object"), compared);
    }
}
