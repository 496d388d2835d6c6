//! The result of `evaluate`: one object for scripts, tables for people.

use std::collections::BTreeMap;

use bidilel::calibrate::Generalized;
use bidilel::evaluate::{Evaluated, Run, Step};
use bidilel::method::MethodReport;
use bidilel::metrics::Accuracy;
use bidilel::split::DrawnSplits;
use bidilel_math::statistics::Summary;
use serde::{Deserialize, Serialize};

use crate::CheckReport;
use crate::class_scores::class_scores;
use crate::confidence::Confidence;
use crate::generalized::{mean_generalized, mean_sides};
use crate::hubs::{Hub, hubs};

/// What was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Name of the dataset.
    pub dataset: String,
    /// The split as it was given.
    pub split: String,
    /// How its trials were drawn; left out where the dataset has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_splits: Option<DrawnSplits>,
    /// Share of the known classes' instances that was drawn for the test; left out where the split has its own, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_seen_share: Option<f64>,
    /// Visual representations.
    pub visual: Vec<String>,
    /// Semantic representations.
    pub semantic: Vec<String>,
    /// The method with every setting in force.
    pub method: MethodReport,
}

/// Accuracy over all test instances, and on either side where known classes are candidates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Accuracies {
    /// Over all.
    #[serde(flatten)]
    pub overall: Accuracy,
    /// On known and on unseen classes.
    #[serde(flatten)]
    pub generalized: Option<Generalized>,
}

/// Scores of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunScore {
    /// Name of the trial.
    pub split: String,
    /// Seed.
    pub seed: u64,
    /// Accuracy.
    #[serde(flatten)]
    pub accuracy: Accuracy,
    /// On known and on unseen classes, where all are candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalized: Option<Generalized>,
    /// Accuracy of the `k` nearest classes, by `k`.
    #[serde(default)]
    pub top: BTreeMap<usize, Accuracy>,
    /// Cost of the mapping; none for methods without one.
    pub stress: Option<f64>,
    /// Names of the known classes of this run, where these are candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Names of the unseen classes of this run.
    pub unseen: Vec<String>,
    /// Instances by true class and by predicted class, in the order of `known`, then `unseen`.
    pub confusion: Vec<Vec<usize>>,
    /// What speaks against the refinement of its batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Scores of one class: means over the runs in which it was unseen, or known where known classes are candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassScore {
    /// Its name.
    pub name: String,
    /// Whether it was known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// Its test instances, over all trials in which it was so; repeats of a trial have the same ones.
    pub instances: usize,
    /// Mean accuracy.
    pub accuracy: f64,
    /// The most frequent wrong prediction.
    pub mistaken_for: Option<Mistake>,
}

/// A wrong prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// Its name.
    pub name: String,
    /// Share of the instances that it was predicted for.
    pub share: f64,
}

/// Spread over runs: of the per-class accuracy, or of the harmonic mean where known classes are candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub standard_deviation: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
}

/// The object that `evaluate --format json` prints.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use bidilel::{Experiment, Silent, Synthetic, evaluate};
/// use bidilel_report::{Evaluation, Format};
///
/// let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
/// let evaluated = evaluate(dataset, &Experiment::default(), &Silent)?;
/// let result = Evaluation::of(evaluated, BTreeMap::new(), Vec::new());
/// assert!(result.accuracy.overall.per_class > result.chance);
/// assert_eq!(result.runs_table().rows.len(), result.runs.len());
/// println!("{}", result.text(None));
/// println!("{}", result.summary_table().render(Format::Latex));
/// # Ok::<(), bidilel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// What was evaluated.
    #[serde(flatten)]
    pub subject: Subject,
    /// Mean accuracy over runs.
    pub accuracy: Accuracies,
    /// Mean accuracy after every step of recognition.
    pub steps: Vec<Step>,
    /// Mean accuracy of the `k` nearest classes, by `k`.
    pub top: BTreeMap<usize, Accuracy>,
    /// Every class.
    pub classes: Vec<ClassScore>,
    /// Every run.
    pub runs: Vec<RunScore>,
    /// Per-class accuracy over runs, or the harmonic mean where known classes are candidates.
    pub summary: Spread,
    /// Accuracy of guessing.
    pub chance: f64,
    /// Mean skewness of `N_k`, by `k`.
    pub hubness: BTreeMap<usize, f64>,
    /// The largest hubs, by `k`: classes among the `k` nearest of at least twice their share of instances.
    #[serde(default)]
    pub hubs: BTreeMap<usize, Vec<Hub>>,
    /// Mean cost of the mapping; none for methods without one.
    pub stress: Option<f64>,
    /// Whether every mapping settled before its iteration limit.
    #[serde(default)]
    pub converged: bool,
    /// How sure answers may be, where it was asked for.
    #[serde(flatten)]
    pub confidence: Confidence,
    /// Seconds by stage, over all runs.
    pub timings: BTreeMap<String, f64>,
    /// Self-checks of the stages, over all runs.
    #[serde(default)]
    pub checks: Vec<CheckReport>,
}

impl Evaluation {
    /// Averages the runs of an experiment.
    pub fn of(evaluated: Evaluated, timings: BTreeMap<String, f64>, checks: Vec<CheckReport>) -> Self {
        let Evaluated { dataset, split, drawn, test_seen_share, visual, semantic, method, runs } = evaluated;
        let subject =
            Subject { dataset, split, random_splits: drawn, test_seen_share, visual, semantic, method };
        Self::new(subject, &runs, timings, checks)
    }

    /// Averages runs.
    pub fn new(
        subject: Subject,
        runs: &[Run],
        timings: BTreeMap<String, f64>,
        checks: Vec<CheckReport>,
    ) -> Self {
        let figure = |run: &Run| match run.generalized {
            Some(figures) => figures.calibrated.harmonic,
            None => run.accuracy().per_class,
        };
        let Summary { mean, standard_deviation, standard_error } =
            Summary::of(&runs.iter().map(figure).collect::<Vec<_>>());
        let steps = runs.first().map_or(&[][..], |run| &run.steps);
        Self {
            subject,
            accuracy: Accuracies {
                overall: mean_accuracy(runs.iter().map(Run::accuracy)),
                generalized: mean_generalized(runs.iter().map(|run| run.generalized)),
            },
            steps: (0..steps.len())
                .map(|i| Step {
                    name: steps[i].name.clone(),
                    accuracy: mean_accuracy(runs.iter().map(|run| run.steps[i].accuracy)),
                    generalized: mean_sides(runs.iter().map(|run| run.steps[i].generalized)),
                    hubness: mean_hubness(runs, i),
                })
                .collect(),
            top: shared(runs, |run| &run.top)
                .map(|k| (k, mean_accuracy(runs.iter().map(|run| run.top[&k]))))
                .collect(),
            classes: class_scores(runs),
            runs: runs
                .iter()
                .map(|run| RunScore {
                    split: run.split.clone(),
                    seed: run.seed,
                    accuracy: run.accuracy(),
                    generalized: run.generalized,
                    top: run.top.clone(),
                    stress: run.stress,
                    known: run.classes[..run.known].to_vec(),
                    unseen: run.classes[run.known..].to_vec(),
                    confusion: run.confusion.clone(),
                    notes: run.notes.clone(),
                })
                .collect(),
            summary: Spread { mean, standard_deviation, standard_error },
            chance: mean_of(runs.iter().map(|run| 1.0 / run.classes.len().max(1) as f64)),
            hubness: shared(runs, |run| &run.hubness)
                .map(|k| (k, mean_of(runs.iter().map(|run| run.hubness[&k]))))
                .collect(),
            hubs: shared(runs, |run| &run.occurrences).map(|k| (k, hubs(runs, k))).collect(),
            stress: mean_stress(runs),
            converged: runs.iter().all(|run| run.converged),
            confidence: Confidence::default(),
            timings,
            checks,
        }
    }
}

/// The keys that every run's map has.
fn shared<'a, V: 'a>(
    runs: &'a [Run],
    map: impl Fn(&'a Run) -> &'a BTreeMap<usize, V> + Copy + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let first = runs.first().map(move |run| map(run).keys().copied());
    first.into_iter().flatten().filter(move |k| runs.iter().all(|run| map(run).contains_key(k)))
}

/// The mean over the runs after a step.
fn mean_hubness(runs: &[Run], step: usize) -> Option<f64> {
    let all: Option<Vec<f64>> = runs.iter().map(|run| run.steps[step].hubness).collect();
    all.map(|all| mean_of(all.into_iter()))
}

/// The mean over the runs, where all have a mapping.
fn mean_stress(runs: &[Run]) -> Option<f64> {
    let all: Option<Vec<f64>> = runs.iter().map(|run| run.stress).collect();
    all.map(|all| mean_of(all.into_iter()))
}

fn mean_accuracy(all: impl Iterator<Item = Accuracy> + Clone) -> Accuracy {
    Accuracy {
        per_class: mean_of(all.clone().map(|a| a.per_class)),
        per_image: mean_of(all.map(|a| a.per_image)),
    }
}

pub(crate) fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    Summary::of(&values.collect::<Vec<_>>()).mean
}
