//! Fit, score, tag: over all trials of a split, with any method.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::Tagged;
use super::metrics::{self, MeanPrecision, PrecisionRecall, Relevance};
use super::thresholds::Thresholds;
use super::trial::TagTrial;
use crate::error::{Error, Result};
use crate::method::{AnyFitted, Method, MethodReport, ZeroShotMethod};
use crate::post::Batch;
use crate::recognize::{Candidates, Scores};
use crate::settings::Settings;
use crate::split::SplitChoice;
use crate::task::{Choice, Task};

/// What to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct TagExperiment {
    /// The method and the representations, by their settings.
    pub settings: Settings,
    /// The trials.
    pub split: SplitChoice,
    /// Seed.
    pub seed: u64,
    /// The labels that compete: unseen ones, or all.
    pub candidates: Candidates,
    /// The `k` for which F1 of the `k` best labels is counted.
    pub top: Vec<usize>,
}

impl Default for TagExperiment {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            split: SplitChoice::First,
            seed: 0,
            candidates: Candidates::Unseen,
            top: vec![3, 5],
        }
    }
}

/// How well one label is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TagClass {
    /// Its name.
    pub name: String,
    /// Test instances that have it.
    pub instances: usize,
    /// Average precision of its ranking of the test instances; none without such an instance.
    pub average_precision: Option<f64>,
    /// Precision, recall and F1 of the tags above its threshold.
    #[serde(flatten)]
    pub tags: PrecisionRecall,
    /// The least score of a tag.
    pub threshold: f64,
}

/// The result of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TagRun {
    /// Name of the trial.
    pub split: String,
    /// Seed.
    pub seed: u64,
    /// Test instances.
    pub instances: usize,
    /// Mean average precision.
    pub mean_average_precision: MeanPrecision,
    /// Mean average precision per class of random scores: the share of relevant pairs.
    pub chance: f64,
    /// Precision, recall and F1 of the `k` best labels, by `k`.
    pub top: BTreeMap<usize, PrecisionRecall>,
    /// The same of the tags above thresholds, over all pairs together.
    pub micro: PrecisionRecall,
    /// Mean F1 of the labels above their thresholds.
    pub macro_f1: f64,
    /// Every candidate label.
    pub classes: Vec<TagClass>,
}

/// The result of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct TagEvaluated {
    /// Name of the dataset.
    pub dataset: String,
    /// The split as it was asked for.
    pub split: String,
    /// Visual representations.
    pub visual: Vec<String>,
    /// Semantic representations.
    pub semantic: Vec<String>,
    /// The method as it turned out in the first trial.
    pub method: MethodReport,
    /// Every trial.
    pub runs: Vec<TagRun>,
}

/// Runs an experiment.
///
/// # Errors
/// Whatever is wrong with the settings, the data or a fit; a split without enough known labels for thresholds.
pub fn evaluate(tagged: &Tagged, experiment: &TagExperiment, watch: &dyn Observer) -> Result<TagEvaluated> {
    let TagExperiment { settings, split, seed, candidates, top } = experiment;
    let choice = settings.choice(&tagged.dataset)?;
    let (split, trials) = tagged.trials(split)?;
    let method = Method::from_settings(settings, *seed);
    let (mut report, mut runs) = (None, Vec::new());
    for trial in &trials {
        let TagFit { task, fitted, thresholds } =
            tagged.fit(trial, &method, &choice, *candidates, *seed, watch)?;
        watch.stage("recognize");
        let batch = Batch::of(&task.unseen, watch);
        let found = method.recognize(&fitted, task.test.prepared(), *candidates, &batch, |_, _| ())?;
        runs.push(scored(tagged, trial, &found.scores, &thresholds, *candidates, *seed, top)?);
        report.get_or_insert_with(|| MethodReport::new(&method, &choice, &task, &fitted));
    }
    let method = report.ok_or_else(|| Error::Split {
        split: split.clone(),
        problem: crate::error::SplitProblem::NoUnseenClass,
    })?;
    Ok(TagEvaluated {
        dataset: tagged.name().to_owned(),
        split,
        visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
        semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
        method,
        runs,
    })
}

/// A method that was fitted to a trial, with the thresholds of its tags.
#[derive(Debug)]
pub struct TagFit {
    /// What it was fitted to.
    pub task: Task,
    /// What it has learned.
    pub fitted: AnyFitted,
    /// The least scores of tags.
    pub thresholds: Thresholds,
}

impl Tagged {
    /// Fits a method to a trial and finds the thresholds of its tags; those of known labels where `candidates` has them.
    ///
    /// # Errors
    /// Those of the fits; [`Error::Split`] where there are too few known labels.
    pub fn fit(
        &self,
        trial: &TagTrial,
        method: &Method,
        choice: &Choice,
        candidates: Candidates,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<TagFit> {
        let thresholds = Thresholds::find(self, trial, method, choice, candidates, seed, watch)?;
        let task = self.task(trial, choice, watch)?;
        let fitted = method.fit(&task, watch)?;
        Ok(TagFit { task, fitted, thresholds })
    }
}

/// The figures of one trial.
fn scored(
    tagged: &Tagged,
    trial: &TagTrial,
    scores: &Scores,
    thresholds: &Thresholds,
    candidates: Candidates,
    seed: u64,
    top: &[usize],
) -> Result<TagRun> {
    let both = [trial.known.clone(), trial.unseen.clone()].concat();
    let labels = &both[candidates.range(trial.known.len(), trial.unseen.len())];
    let missing = || Error::Setting {
        setting: "candidates",
        expected: "those that thresholds were found for".to_owned().into(),
        found: "known labels".to_owned(),
    };
    let thresholds = thresholds.of(candidates, trial.unseen.len()).ok_or_else(missing)?;
    let has = |label: usize, one: usize| tagged.tags.has(trial.test[one], labels[label]);
    let truth = Relevance::new(labels.len(), trial.test.len(), has);
    let (mut right, mut tags, mut wanted) = (0, 0, 0);
    let mut classes = Vec::with_capacity(labels.len());
    for (label, &class) in labels.iter().enumerate() {
        let (own, relevant) = (scores.of_class(label), truth.of_label(label));
        let counts = metrics::counts(&own, &relevant, thresholds[label]);
        (right, tags, wanted) = (right + counts.0, tags + counts.1, wanted + counts.2);
        classes.push(TagClass {
            name: tagged.classes()[class].clone(),
            instances: counts.2,
            average_precision: metrics::average_precision(&own, &relevant),
            tags: PrecisionRecall::of(counts.0, counts.1, counts.2),
            threshold: thresholds[label],
        });
    }
    Ok(TagRun {
        split: trial.name.clone(),
        seed,
        instances: trial.test.len(),
        mean_average_precision: metrics::mean_average_precision(scores, &truth),
        chance: truth.share(),
        top: top.iter().map(|&k| (k, metrics::f1_at(scores, &truth, k))).collect(),
        micro: PrecisionRecall::of(right, tags, wanted),
        macro_f1: metrics::macro_f1(scores, &truth, &thresholds),
        classes,
    })
}
