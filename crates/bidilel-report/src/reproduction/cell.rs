//! One number of a table: ours, the published one, the difference and how sure it is.

use std::collections::BTreeMap;

use bidilel::reproduce::Measured;
use bidilel::settings::Settings;
use bidilel_math::statistics::{Summary, t_test, welch};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::FEWEST_TRIALS;
use crate::evaluation::mean_of;

/// What became of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellStatus {
    /// It has a number.
    Measured,
    /// Its data are missing.
    Missing,
    /// It could not be computed; the note says why.
    Failed,
    /// The table has no number there.
    Empty,
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellUnit {
    /// Per-class accuracy, a fraction of one, shown in percent.
    Accuracy,
    /// The value of a setting.
    Setting,
}

/// What a difference from a published number is tested over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestedOver {
    /// Trials of both.
    Trials,
    /// Our unseen classes.
    Classes,
}

/// The mark of a published number that is over other unseen classes than ours.
pub(super) const OTHER_CLASSES: char = '†';
/// The mark of a published number that is the share of instances, not the mean over classes.
pub(super) const OVER_INSTANCES: char = '‡';

/// A published number, in the unit of the cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedNumber {
    /// The number.
    pub value: f64,
    /// What stands after `±`.
    pub spread: Option<f64>,
    /// A mark after it: † is over other unseen classes, ‡ over instances instead of classes; others only stand there.
    pub mark: String,
    /// Trials that the spread is the standard error over; none where it is something else.
    pub trials: Option<usize>,
}

impl PublishedNumber {
    /// Whether it is over other unseen classes than ours.
    pub(super) fn is_of_other_classes(&self) -> bool {
        self.mark.contains(OTHER_CLASSES)
    }

    /// Whether it is the share of instances.
    pub(super) fn is_over_instances(&self) -> bool {
        self.mark.contains(OVER_INSTANCES)
    }
}

/// One run behind a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRun {
    /// The trial.
    pub trial: String,
    /// The seed.
    pub seed: u64,
    /// Mean of the classes' accuracies.
    pub per_class: f64,
    /// Share of the instances.
    pub per_image: f64,
    /// The settings in force.
    pub settings: Settings,
}

/// What a search chose in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableChoice {
    /// The trial.
    pub trial: String,
    /// The settings that were chosen.
    pub settings: Settings,
    /// Mean per-class accuracy on held-out known classes; none where there was nothing to try.
    pub mean: Option<f64>,
    /// Its standard error over folds.
    pub standard_error: Option<f64>,
    /// How many folds.
    pub folds: usize,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// What became of it.
    pub status: CellStatus,
    /// What the number is.
    pub unit: CellUnit,
    /// Our number: a mean over trials and starts, or a setting (of several trials their median).
    pub value: Option<f64>,
    /// What stands after `±`; none for a single run.
    pub spread: Option<f64>,
    /// The published number.
    pub published: Option<PublishedNumber>,
    /// Ours less the published one; ours over instances where the published one is.
    pub difference: Option<f64>,
    /// Of the difference.
    pub p_value: Option<f64>,
    /// What it is tested over.
    pub over: Option<TestedOver>,
    /// Whether it is the best of its row or column, or not to be told from it.
    pub best: bool,
    /// Whether other data than the published ones stand in.
    pub substitute: bool,
    /// What is missing, or why it failed.
    pub note: Option<String>,
    /// Representations as the dataset calls them.
    pub visual: Vec<String>,
    /// The same for descriptions.
    pub semantic: Vec<String>,
    /// What was chosen on known classes, in every trial in which something was searched for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<TableChoice>,
    /// Every run.
    pub runs: Vec<TableRun>,
    /// Accuracies by trial or by class, which tests are over.
    #[serde(skip)]
    pub units: BTreeMap<String, f64>,
}

impl TableCell {
    /// The same cell without its difference from the published number, where that would say nothing.
    #[must_use]
    pub fn incomparable(self) -> Self {
        Self { difference: None, p_value: None, over: None, ..self }
    }

    /// A cell without a number.
    pub fn without(
        status: CellStatus,
        unit: CellUnit,
        published: Option<PublishedNumber>,
        note: Option<String>,
    ) -> Self {
        Self {
            status,
            unit,
            value: None,
            spread: None,
            published,
            difference: None,
            p_value: None,
            over: None,
            best: false,
            substitute: false,
            note,
            visual: Vec::new(),
            semantic: Vec::new(),
            choices: Vec::new(),
            runs: Vec::new(),
            units: BTreeMap::new(),
        }
    }

    /// The accuracy of some runs: of one trial from several starts, or of several trials.
    pub fn accuracy(runs: &[Measured], deviation: bool, published: Option<PublishedNumber>) -> Self {
        let means = by_trial(runs, |run| run.per_class);
        let over_trials: Vec<f64> = means.values().copied().collect();
        let all: Vec<f64> = runs.iter().map(|run| run.per_class).collect();
        let summary = Summary::of(&over_trials);
        let spread = match (deviation, runs.len(), over_trials.len()) {
            (true, 2.., _) => Some(Summary::of(&all).standard_deviation),
            (false, _, 2..) => Some(summary.standard_error),
            _ => None,
        };
        let many = over_trials.len() >= FEWEST_TRIALS;
        let units = if many { means } else { by_class(runs) };
        // Numbers of other classes or of another kind of mean are not tested against each other.
        let testable =
            published.as_ref().filter(|number| !number.is_of_other_classes() && !number.is_over_instances());
        let tested = match (testable, over_trials.len()) {
            (
                Some(PublishedNumber { value, spread: Some(error), trials: Some(trials), .. }),
                FEWEST_TRIALS..,
            ) => {
                let ours = (summary.mean, summary.standard_error, over_trials.len());
                welch(ours, (*value, *error, *trials)).map(|p| (p, TestedOver::Trials))
            }
            (Some(published), 1) => {
                let values: Vec<f64> = units.values().copied().collect();
                t_test(&values, published.value).map(|p| (p, TestedOver::Classes))
            }
            // Of a few trials the mean is over trials, that of their classes is another.
            _ => None,
        };
        let comparable = match &published {
            Some(number) if number.is_over_instances() => {
                mean_of(by_trial(runs, |run| run.per_image).into_values())
            }
            _ => summary.mean,
        };
        let run = |run: &Measured| TableRun {
            trial: run.trial.clone(),
            seed: run.seed,
            per_class: run.per_class,
            per_image: run.per_image,
            settings: run.settings.clone(),
        };
        Self {
            value: Some(summary.mean),
            spread,
            difference: published.as_ref().map(|published| comparable - published.value),
            p_value: tested.map(|(p, _)| p),
            over: tested.map(|(_, over)| over),
            runs: runs.iter().map(run).collect(),
            units,
            ..Self::without(CellStatus::Measured, CellUnit::Accuracy, published, None)
        }
    }

    /// The value of a setting that was chosen in one or several trials.
    pub fn setting(chosen: &[Value], published: Option<PublishedNumber>) -> Self {
        let mut values: Vec<f64> = chosen.iter().filter_map(Value::as_f64).collect();
        values.sort_by(f64::total_cmp);
        let value = values.get(values.len() / 2).copied();
        let status = if value.is_some() { CellStatus::Measured } else { CellStatus::Failed };
        let note = value.is_none().then(|| "the setting has no say in what was chosen".to_owned());
        Self { value, ..Self::without(status, CellUnit::Setting, published, note) }
    }
}

/// Accuracies of trials: means over starts.
fn by_trial(runs: &[Measured], of: impl Fn(&Measured) -> f64) -> BTreeMap<String, f64> {
    let mut trials: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    runs.iter().for_each(|run| trials.entry(&run.trial).or_default().push(of(run)));
    trials.into_iter().map(|(trial, runs)| (trial.to_owned(), Summary::of(&runs).mean)).collect()
}

/// Accuracies of classes: means over runs.
fn by_class(runs: &[Measured]) -> BTreeMap<String, f64> {
    let mut classes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (class, accuracy) in runs.iter().flat_map(|run| &run.classes) {
        classes.entry(class.clone()).or_default().push(*accuracy);
    }
    classes.into_iter().map(|(class, all)| (class, mean_of(all.into_iter()))).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::reproduction) fn run(trial: &str, seed: u64, classes: &[f64]) -> Measured {
        let name = |(class, &accuracy): (usize, &f64)| (format!("class {class:02}"), accuracy);
        Measured {
            trial: trial.to_owned(),
            seed,
            per_class: classes.iter().sum::<f64>() / classes.len() as f64,
            per_image: 0.5,
            classes: classes.iter().enumerate().map(name).collect(),
            settings: Settings { alpha: Some(10.0), ..Settings::default() },
        }
    }

    pub(in crate::reproduction) fn number(
        value: f64,
        spread: Option<f64>,
        trials: Option<usize>,
    ) -> PublishedNumber {
        PublishedNumber { value, spread, mark: String::new(), trials }
    }

    #[test]
    fn one_trial_is_tested_over_its_classes() {
        let runs = [run("standard", 0, &[0.4, 0.5, 0.6]), run("standard", 1, &[0.4, 0.5, 0.66])];
        let cell = TableCell::accuracy(&runs, true, Some(number(0.9, Some(0.0), None)));
        assert_eq!((cell.over, cell.stars()), (Some(TestedOver::Classes), "*"));
        assert_eq!(cell.p_value, t_test(&[0.4, 0.5, 0.63], 0.9));
        assert_eq!(cell.text(), "51.0 ± 1.4 (90.0 ± 0.0, -39.0*)");
        let single = TableCell::accuracy(&runs[..1], true, None);
        assert_eq!(single.text(), "50.0", "one run has no spread");
    }

    #[test]
    fn many_trials_are_tested_over_trials_with_both_spreads() {
        let trials: Vec<Measured> =
            (0..8).map(|i| run(&format!("random:{i}"), 0, &[0.2 + 0.01 * f64::from(i), 0.3])).collect();
        let cell = TableCell::accuracy(&trials, false, Some(number(0.2, Some(0.004), Some(30))));
        let summary = Summary::of(&trials.iter().map(|run| run.per_class).collect::<Vec<_>>());
        assert_eq!(cell.p_value, welch((summary.mean, summary.standard_error, 8), (0.2, 0.004, 30)));
        assert_eq!((cell.over, cell.units.len()), (Some(TestedOver::Trials), 8));
        assert_eq!(cell.text(), "26.8 ± 0.4 (20.0 ± 0.4, +6.8***)");
        // A number without a spread over trials cannot be tested against trials.
        let untested = TableCell::accuracy(&trials, false, Some(number(0.2, None, Some(30))));
        assert_eq!((untested.p_value, untested.over), (None, None));
    }

    #[test]
    fn between_one_trial_and_enough_of_them_nothing_is_tested() {
        let trials: Vec<Measured> =
            (0..7).map(|i| run(&format!("random:{i}"), 0, &[0.2 + 0.01 * f64::from(i), 0.3, 0.25])).collect();
        let tested = |count: usize, published| {
            let cell = TableCell::accuracy(&trials[..count], false, Some(published));
            assert!(cell.difference.is_some(), "{count}");
            cell.over
        };
        let over_trials = || number(0.9, Some(0.004), Some(30));
        for (count, over) in
            [(1, Some(TestedOver::Classes)), (2, None), (5, None), (6, Some(TestedOver::Trials))]
        {
            assert_eq!(tested(count, over_trials()), over, "{count} trials");
        }
        assert_eq!(tested(5, number(0.9, None, None)), None);
    }

    #[test]
    fn what_is_of_other_classes_is_not_tested_and_what_is_over_instances_is_compared_with_ours_over_instances()
     {
        let runs = [run("standard", 0, &[0.4, 0.5, 0.6])];
        let marked = |mark: &str| {
            let published = PublishedNumber { mark: mark.to_owned(), ..number(0.9, None, None) };
            TableCell::accuracy(&runs, false, Some(published))
        };
        assert_eq!(marked("").stars(), "*", "the test would be significant");
        let dagger = marked("†");
        assert_eq!((dagger.p_value, dagger.over, dagger.stars()), (None, None, ""));
        assert_eq!(dagger.text(), "50.0 (90.0†, -40.0)");
        let mut instances = marked("‡");
        assert_eq!((instances.p_value, instances.over), (None, None));
        assert_eq!(instances.difference, Some(0.5 - 0.9), "the share of instances is 0.5 in every run");
        let others = [run("standard", 0, &[0.4, 0.5, 0.6]), Measured { per_image: 0.7, ..runs[0].clone() }];
        let published = PublishedNumber { mark: "‡".to_owned(), ..number(0.9, None, None) };
        instances = TableCell::accuracy(&others, false, Some(published));
        assert!((instances.difference.expect("a difference") - (0.6 - 0.9)).abs() < 1e-12);
        assert_eq!(instances.text(), "50.0 (90.0‡, -30.0)");
    }

    #[test]
    fn settings_have_no_difference_and_cells_without_a_number_say_so() {
        let chosen = TableCell::setting(&[1000.into()], Some(number(10.0, None, None)));
        assert_eq!(chosen.text(), "1000 (10)");
        assert_eq!(TableCell::setting(&[(0.1 + 0.2).into()], None).text(), "0.3");
        let without =
            |status| TableCell::without(status, CellUnit::Accuracy, Some(number(0.476, None, None)), None);
        assert_eq!(without(CellStatus::Missing).text(), "n/a (47.6)");
        assert_eq!(without(CellStatus::Failed).text(), "failed (47.6)");
        let empty = TableCell::without(CellStatus::Empty, CellUnit::Accuracy, None, None);
        assert_eq!(empty.text(), "-");
    }
}
