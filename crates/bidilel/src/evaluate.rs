//! Fit, recognize, score: over all trials of a split and several seeds, with any method.
//!
//! ```
//! use bidilel::{Experiment, Silent, Synthetic, evaluate};
//!
//! let dataset = Synthetic::preset("small").expect("a preset").generate(0)?;
//! let evaluated = evaluate(dataset, &Experiment::default(), &Silent)?;
//! println!("{:.1} % per class", 100.0 * evaluated.runs[0].accuracy().per_class);
//! # Ok::<(), bidilel::Error>(())
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use crate::bottom_up::LandmarkSpace;
use crate::calibrate::{Generalized, HoldOut, SeenUnseen, calibrate};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::method::{AnyFitted, Method, MethodReport, ZeroShotMethod};
use crate::metrics::{self, Accuracy};
use crate::post::{Batch, Remarks};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::settings::Settings;
use crate::split::{DrawnSplits, SplitChoice, Trial, Trials};
use crate::task::{Side, Task};
use crate::visual;

/// What to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The method and the representations, by their settings.
    pub settings: Settings,
    /// The trials: those of a split, or drawn at random.
    pub split: SplitChoice,
    /// Share of every known class's instances that is tested instead of learned from; drawn by `seed`.
    pub test_seen_share: Option<f64>,
    /// Seed of the first run.
    pub seed: u64,
    /// Runs of every trial, with seeds counting up.
    pub repeats: u16,
    /// The `k` for which the right class among the `k` best is counted, and hubness.
    pub top: Vec<usize>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            split: SplitChoice::First,
            test_seen_share: None,
            seed: 0,
            repeats: 1,
            top: vec![1, 5],
        }
    }
}

/// Accuracy after one step of recognition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// `inductive`, or the refiner that was applied.
    pub name: String,
    /// Accuracy after it.
    #[serde(flatten)]
    pub accuracy: Accuracy,
    /// On either side, where known classes are candidates.
    #[serde(flatten)]
    pub generalized: Option<SeenUnseen>,
    /// Skewness of the number of instances that have a class as their best; none in results of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hubness: Option<f64>,
}

/// The result of one fit and recognition.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Name of the trial.
    pub split: String,
    /// Seed.
    pub seed: u64,
    /// Names of the candidates: its unseen classes, or its known ones and these.
    pub classes: Vec<String>,
    /// How many of them are known; they come first.
    pub known: usize,
    /// `confusion[truth][predicted]` in these classes.
    pub confusion: Vec<Vec<usize>>,
    /// Accuracy after every step; the last is the run's.
    pub steps: Vec<Step>,
    /// What known and unseen classes come to, where known ones are candidates.
    pub generalized: Option<Generalized>,
    /// Accuracy of the `k` best classes, by `k`.
    pub top: BTreeMap<usize, Accuracy>,
    /// Skewness of the number of instances that have a class among their `k` best, by `k`.
    pub hubness: BTreeMap<usize, f64>,
    /// The number of instances that have a class among their `k` best, by `k`, in the order of the classes.
    pub occurrences: BTreeMap<usize, Vec<usize>>,
    /// Cost of the mapping at the embedding; none for methods without one.
    pub stress: Option<f64>,
    /// Whether every iteration converged before its limit.
    pub converged: bool,
    /// What speaks against the refinement of its batch.
    pub notes: Vec<String>,
}

impl Run {
    /// Accuracy after the last step.
    pub fn accuracy(&self) -> Accuracy {
        self.steps.last().map_or(Accuracy { per_class: 0.0, per_image: 0.0 }, |step| step.accuracy)
    }
}

/// The result of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// Name of the dataset.
    pub dataset: String,
    /// The split as it was asked for.
    pub split: String,
    /// How its trials were drawn; none where the dataset has them.
    pub drawn: Option<DrawnSplits>,
    /// Share of the known classes' instances that was drawn for the test.
    pub test_seen_share: Option<f64>,
    /// Visual representations.
    pub visual: Vec<String>,
    /// Semantic representations.
    pub semantic: Vec<String>,
    /// The method as it turned out in the first run.
    pub method: MethodReport,
    /// Every fit and recognition.
    pub runs: Vec<Run>,
}

/// One run, while its task and recognition are still there.
pub struct Finished<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// Its task.
    pub task: &'a Task,
    /// Its seed.
    pub seed: u64,
    /// What was learned.
    pub fitted: &'a AnyFitted,
    /// The recognition after the last step, with the bias of known classes where these are candidates.
    pub recognition: Recognition,
}

/// Runs an experiment.
///
/// # Errors
/// Whatever is wrong with the settings, the data or a fit.
pub fn evaluate(dataset: Dataset, experiment: &Experiment, watch: &dyn Observer) -> Result<Evaluated> {
    evaluate_with(dataset, experiment, watch, |_| Ok(()))
}

/// Runs an experiment, and passes every run to `sink` when it is finished.
///
/// The dataset is dropped before the last fit: mapped files count as memory for as long as they are open.
pub fn evaluate_with<E: From<Error>>(
    dataset: Dataset,
    experiment: &Experiment,
    watch: &dyn Observer,
    mut sink: impl FnMut(Finished<'_>) -> Result<(), E>,
) -> Result<Evaluated, E> {
    let Experiment { settings, split, test_seen_share, seed, repeats, top } = experiment;
    let choice = settings.choice(&dataset)?;
    let trials = split.trials(&dataset)?.with_test_seen(&dataset, *test_seen_share, *seed)?;
    let Trials { split, trials, drawn } = trials;
    let name = dataset.name.clone();
    let (mut report, mut runs) = (None, Vec::new());
    let mut dataset = Some(dataset);
    for (number, trial) in trials.iter().enumerate() {
        let Some(open) = &dataset else { break };
        let task = Task::new(open, trial, &choice, watch)?;
        if number + 1 == trials.len() {
            dataset = None;
        }
        task.require_instances(Side::Unseen)?;
        task.require_test_of(choice.candidates)?;
        let mut shared = None;
        for seed in (0..u64::from(*repeats)).map(|repeat| seed.wrapping_add(repeat)) {
            let method = Method::from_settings(settings, seed);
            let fitted = fit_again(&method, &task, &mut shared, watch)?;
            let (run, recognition) = score(&method, &task, &fitted, seed, top, watch)?;
            report.get_or_insert_with(|| MethodReport::new(&method, &choice, &task, &fitted));
            runs.push(run);
            sink(Finished { trial, task: &task, seed, fitted: &fitted, recognition })?;
        }
    }
    let method = report.ok_or_else(|| Error::Setting {
        setting: "repeat",
        expected: "at least 1".to_owned().into(),
        found: repeats.to_string(),
    })?;
    Ok(Evaluated {
        dataset: name,
        split,
        drawn,
        test_seen_share: *test_seen_share,
        visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
        semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
        method,
        runs,
    })
}

/// A fit that shares its bottom-up half with earlier ones of the same task, where seeds make no difference to it.
pub(crate) fn fit_again(
    method: &Method,
    task: &Task,
    shared: &mut Option<LandmarkSpace>,
    watch: &dyn Observer,
) -> Result<AnyFitted> {
    let Method::Bidilel(pipeline) = method else { return method.fit(task, watch) };
    let learned = match shared.take() {
        Some(learned)
            if learned.fusion.method != visual::KernelForm::Nystrom
                && !pipeline.bottom_up.learner().is_random() =>
        {
            learned
        }
        _ => {
            let learned = pipeline.learn(task, watch);
            Error::unless_cancelled(watch)?;
            learned?
        }
    };
    *shared = Some(learned.clone());
    let fitted = pipeline.embed(learned, &task.semantics, watch);
    Error::unless_cancelled(watch)?;
    Ok(AnyFitted::Bidilel(fitted?))
}

/// Recognizes the test instances of a task and scores every step.
///
/// Where the task tests known classes, all classes compete, with a bias that is chosen on held-out known classes.
pub fn score(
    method: &Method,
    task: &Task,
    fitted: &AnyFitted,
    seed: u64,
    top: &[usize],
    watch: &dyn Observer,
) -> Result<(Run, Recognition)> {
    let candidates = task.candidates();
    let (truth, names) = (task.truth(candidates), task.names(candidates));
    let remarks = Remarks::to(watch);
    let named = Batch::of(&task.unseen, &remarks);
    let mut steps = Vec::new();
    let mut step = |name: &str, scores: &Scores, generalized| {
        let accuracy = metrics::accuracy(&scores.labels(), &truth, names.len());
        let hubness = Some(metrics::hubness(scores, 1));
        steps.push(Step { name: name.to_owned(), accuracy, generalized, hubness });
    };
    let (recognition, generalized) = if candidates == Candidates::All {
        let biases = calibrate(task, method, &HoldOut::like(task, candidates, seed), watch)?;
        watch.stage("recognize");
        let (known, batch) = (task.known.len(), task.batch(candidates));
        let mut last = None;
        let each = |name: &str, found: &Recognition, bias: f64| {
            let figures = Generalized::of(&found.scores, known, &truth, bias);
            step(name, &found.scores.clone().calibrated(known, bias), Some(figures.calibrated));
            last = Some(figures);
        };
        let Recognition { scores, latent } =
            biases.recognize((method, fitted), batch.prepared(), known, &named, each)?;
        (Recognition { scores: scores.calibrated(known, biases.last()), latent }, last)
    } else {
        watch.stage("recognize");
        let each = |name: &str, found: &Recognition| step(name, &found.scores, None);
        (method.recognize(fitted, task.test.prepared(), candidates, &named, each)?, None)
    };
    // Among as many classes as there are, the right one always is.
    let counts = || top.iter().copied().filter(|&k| k == 1 || k < names.len());
    let scores = &recognition.scores;
    let run = Run {
        split: task.split.clone(),
        seed,
        confusion: metrics::confusion(&scores.labels(), &truth, names.len()),
        steps,
        generalized,
        top: counts().map(|k| (k, metrics::top_k(scores, &truth, k))).collect(),
        hubness: counts().map(|k| (k, metrics::hubness(scores, k))).collect(),
        occurrences: counts().map(|k| (k, metrics::occurrences(scores, k))).collect(),
        stress: fitted.latent().map(|fitted| fitted.stress),
        converged: fitted.latent().is_none_or(|fitted| fitted.embedding.converged),
        known: names.len() - task.unseen.len(),
        classes: names,
        notes: remarks.taken(),
    };
    Ok((run, recognition))
}
