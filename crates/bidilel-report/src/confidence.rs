//! How sure a method may be of its answers: calibration, coverage and unknowns, as means over runs.

use bidilel::calibrate::{Assessment, Coverage, OpenSet, OpenSetDraw, ProbabilityQuality, Signal};
use bidilel::metrics::{OpenSetPoint, ReliabilityBin, correct_rate_at};
use serde::{Deserialize, Serialize};

use crate::evaluation::mean_of;

/// Intervals of the false positive rate between the points of a mean open-set curve.
const CURVE_INTERVALS: u32 = 100;

/// What an evaluation has beyond accuracies, where it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Probabilities against the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationReport>,
    /// Prediction sets against the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageReport>,
    /// Instances of classes that were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_set: Option<OpenSetReport>,
}

/// A figure of the scores as they are, and of the calibrated ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BeforeAfter {
    /// At a temperature of 1.
    pub before: f64,
    /// At the temperature that was fitted to held-out known classes.
    pub after: f64,
}

/// Probabilities against the truth: means over runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationReport {
    /// Folds of known classes that the temperature was fitted to.
    pub folds: usize,
    /// The temperature.
    pub temperature: f64,
    /// Expected calibration error.
    pub ece: BeforeAfter,
    /// Negative log-likelihood.
    pub nll: BeforeAfter,
    /// Brier score.
    pub brier: BeforeAfter,
    /// Reliability diagram after calibration, over the instances of all runs.
    pub bins: Vec<ReliabilityBin>,
    /// The same before it.
    pub bins_before: Vec<ReliabilityBin>,
}

/// Prediction sets against the truth: means over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoverageReport {
    /// Share of the instances whose set was to hold the right class.
    pub wanted: f64,
    /// Share whose set does.
    pub measured: f64,
    /// The same as the mean over classes.
    pub per_class: f64,
    /// Mean number of classes in a set.
    pub mean_size: f64,
    /// How many classes there are to choose from.
    pub candidates: f64,
}

/// One signal against unknown instances: means over draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignalReport {
    /// Area under the ROC curve.
    pub auroc: f64,
    /// False positive rate where 95 % of the candidates' instances are accepted.
    pub fpr95: f64,
    /// Area under the open-set curve.
    pub area: f64,
}

/// A threshold that was chosen on held-out known classes: means over draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RejectionReport {
    /// Share of the candidates' instances that might be rejected.
    pub rate: f64,
    /// Share that is.
    pub false_alarms: f64,
    /// Share of unknown instances that is.
    pub detected: f64,
}

/// Instances of classes that were left out: means over all draws of all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenSetReport {
    /// Share of the unseen classes that was left out.
    pub share: f64,
    /// Draws per run.
    pub draws: usize,
    /// The signal that was chosen on held-out known classes, or asked for; that of most runs.
    pub by: Signal,
    /// Its figures.
    #[serde(flatten)]
    pub chosen: SignalReport,
    /// Standard error of the area under the ROC curve over draws.
    pub auroc_standard_error: f64,
    /// Share of the candidates' instances that are recognized, without a threshold.
    pub accuracy: f64,
    /// The figures of the score of the best class.
    pub score: SignalReport,
    /// The figures of its margin over the second.
    pub margin: SignalReport,
    /// The threshold.
    pub rejection: RejectionReport,
    /// Mean open-set curve.
    pub curve: Vec<OpenSetPoint>,
}

/// The draws of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSetRun {
    /// The signal that was chosen.
    pub by: Signal,
    /// The draws.
    pub draws: Vec<OpenSetDraw>,
}

impl CalibrationReport {
    /// The means over runs; none without runs.
    pub fn mean(runs: &[Assessment]) -> Option<Self> {
        let first = runs.first()?;
        let both = |of: fn(&ProbabilityQuality) -> f64| BeforeAfter {
            before: mean_of(runs.iter().map(|run| of(&run.before))),
            after: mean_of(runs.iter().map(|run| of(&run.after))),
        };
        Some(Self {
            folds: first.folds,
            temperature: mean_of(runs.iter().map(|run| run.after.temperature)),
            ece: both(|quality| quality.calibration_error),
            nll: both(|quality| quality.negative_log_likelihood),
            brier: both(|quality| quality.brier),
            bins: pooled(runs.iter().map(|run| run.after.bins.as_slice())),
            bins_before: pooled(runs.iter().map(|run| run.before.bins.as_slice())),
        })
    }
}

/// The bins of several diagrams as one.
fn pooled<'a>(diagrams: impl Iterator<Item = &'a [ReliabilityBin]>) -> Vec<ReliabilityBin> {
    let merged = |a: Option<f64>, b: Option<f64>, (of_a, of_b): (usize, usize)| match (a, b) {
        (Some(a), Some(b)) => Some((a * of_a as f64 + b * of_b as f64) / (of_a + of_b) as f64),
        (one, other) => one.or(other),
    };
    let merge = |mut all: Vec<ReliabilityBin>, own: Vec<ReliabilityBin>| {
        for (bin, own) in all.iter_mut().zip(own) {
            let counts = (bin.instances, own.instances);
            bin.confidence = merged(bin.confidence, own.confidence, counts);
            bin.accuracy = merged(bin.accuracy, own.accuracy, counts);
            bin.instances += own.instances;
        }
        all
    };
    diagrams.map(<[ReliabilityBin]>::to_vec).reduce(merge).unwrap_or_default()
}

impl CoverageReport {
    /// The means over runs; none without runs.
    pub fn mean(runs: &[Assessment]) -> Option<Self> {
        let first = runs.first()?;
        let mean = |of: fn(&Coverage) -> f64| mean_of(runs.iter().map(|run| of(&run.coverage)));
        Some(Self {
            wanted: first.coverage.wanted,
            measured: mean(|coverage| coverage.measured),
            per_class: mean(|coverage| coverage.per_class),
            mean_size: mean(|coverage| coverage.mean_size),
            candidates: mean(|coverage| coverage.candidates as f64),
        })
    }
}

impl OpenSetReport {
    /// The means over all draws of all runs; none without draws.
    pub fn mean(runs: &[OpenSetRun], open: &OpenSet, rate: f64) -> Option<Self> {
        let draws: Vec<(Signal, &OpenSetDraw)> =
            runs.iter().flat_map(|run| run.draws.iter().map(|draw| (run.by, draw))).collect();
        if draws.is_empty() {
            return None;
        }
        let mean =
            |of: &dyn Fn(Signal, &OpenSetDraw) -> f64| mean_of(draws.iter().map(|&(by, draw)| of(by, draw)));
        let signal = |of: Option<Signal>| SignalReport {
            auroc: mean(&|by, draw| draw.by(of.unwrap_or(by)).auroc),
            fpr95: mean(&|by, draw| draw.by(of.unwrap_or(by)).false_positive_rate),
            area: mean(&|by, draw| draw.by(of.unwrap_or(by)).area),
        };
        let areas: Vec<f64> = draws.iter().map(|&(by, draw)| draw.by(by).auroc).collect();
        let by_margin = runs.iter().filter(|run| run.by == Signal::Margin).count();
        let point = |step: u32| {
            let rate = f64::from(step) / f64::from(CURVE_INTERVALS);
            let correct_rate = mean(&|by, draw| correct_rate_at(&draw.by(by).curve, rate));
            OpenSetPoint { false_positive_rate: rate, correct_rate }
        };
        Some(Self {
            share: open.share,
            draws: open.draws,
            by: if 2 * by_margin > runs.len() { Signal::Margin } else { Signal::Score },
            chosen: signal(None),
            auroc_standard_error: bidilel_math::statistics::Summary::of(&areas).standard_error,
            accuracy: mean(&|_, draw| draw.accuracy),
            score: signal(Some(Signal::Score)),
            margin: signal(Some(Signal::Margin)),
            rejection: RejectionReport {
                rate,
                false_alarms: mean(&|_, draw| draw.false_alarms),
                detected: mean(&|_, draw| draw.detected),
            },
            curve: (0..=CURVE_INTERVALS).map(point).collect(),
        })
    }
}
