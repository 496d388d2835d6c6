//! Probabilities, prediction sets and "none of these": the options of `evaluate` and `predict`.

use anyhow::Result;
use bidilel::calibrate::{
    Answering, Asked, Assessment, CALIBRATION_FOLDS, COVERAGE, Calibration, HoldOut, OpenSet, Signal,
    open_set,
};
use bidilel::evaluate::Finished;
use bidilel::{Candidates, Method, Model, Post, Settings};
use bidilel_math::Observer;
use bidilel_report::{CalibrationReport, Confidence, CoverageReport, OpenSetReport, OpenSetRun};
use clap::{Args, ValueEnum};

use crate::args::parse_count;
use crate::failure::hinted;

/// The folds of `--calibrate` without a number.
pub(crate) const DEFAULT_FOLDS: &str = "3";
const _: () = assert!(CALIBRATION_FOLDS == 3);
/// The rate of false alarms that `evaluate --open-set` measures where none is given.
const REJECT_RATE: f64 = 0.05;

/// What an instance may be rejected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RejectBy {
    /// The score of the best class
    Score,
    /// Its margin over the second
    Margin,
}

impl From<RejectBy> for Signal {
    fn from(by: RejectBy) -> Self {
        match by {
            RejectBy::Score => Self::Score,
            RejectBy::Margin => Self::Margin,
        }
    }
}

/// What is asked of predictions beside their labels.
#[derive(Debug, Args)]
pub(crate) struct AskedArgs {
    /// Answer "none of these" (an empty label) where the best class is not convincing; at most this share of the
    /// instances of candidate classes is rejected, as far as they are like known ones. Needs a model of `fit --calibrate`
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate)]
    reject: Option<f64>,
    /// Reject by the score of the best class, or by its margin over the second [default: what tells more on known
    /// classes]
    #[arg(long, value_name = "SIGNAL", requires = "reject")]
    reject_by: Option<RejectBy>,
    /// Write all classes that are needed to hold the right one with this probability: one row each, `in_set` true. Needs
    /// a model of `fit --calibrate`
    #[arg(long, value_name = "C", allow_negative_numbers = true, value_parser = parse_share)]
    coverage: Option<f64>,
}

impl AskedArgs {
    /// How a model answers, where it is calibrated for these refiners.
    ///
    /// # Errors
    /// Where something is asked that only a calibrated model can answer.
    pub(crate) fn answering(
        &self,
        model: &Model,
        post: &[Post],
        watch: &dyn Observer,
    ) -> Result<Option<Answering>> {
        let option = [self.reject.map(|_| "--reject"), self.coverage.map(|_| "--coverage")];
        let option = option.into_iter().flatten().next();
        let Some(calibration) = &model.calibration else {
            return match option {
                Some(option) => Err(hinted(
                    format!("{option} needs a calibrated model, and this one is not"),
                    "fit it again with `fit --calibrate`",
                )),
                None => Ok(None),
            };
        };
        if post != model.method.post() {
            return if let Some(option) = option {
                Err(hinted(
                    format!("{option} needs the refiners that the model was calibrated with"),
                    "leave --post and its settings out, or give them to `fit --calibrate`",
                ))
            } else {
                watch.note("the model was calibrated with other refiners: no probabilities");
                Ok(None)
            };
        }
        let asked = Asked {
            reject: self.reject,
            reject_by: self.reject_by.map(Signal::from),
            coverage: self.coverage,
        };
        Ok(Some(calibration.answering(&asked)?))
    }
}

/// What `evaluate` measures beside accuracies.
#[derive(Debug, Args)]
#[command(next_help_heading = "Confidence")]
pub(crate) struct ConfidenceArgs {
    /// Turn scores into probabilities, by a temperature that is fitted to held-out known classes, and compare them with the
    /// truth. FOLDS more fits [default: 3]
    #[arg(
        long,
        value_name = "FOLDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = DEFAULT_FOLDS,
        value_parser = parse_count
    )]
    calibrate: Option<usize>,
    /// Coverage of prediction sets that is wanted; implies --calibrate [default: 0.9]
    #[arg(long, value_name = "C", allow_negative_numbers = true, value_parser = parse_share)]
    coverage: Option<f64>,
    /// Leave a share of the unseen classes out, and measure how well their instances are told from those of the others
    /// [default: 0.5]
    #[arg(
        long,
        value_name = "SHARE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.5",
        value_parser = parse_share
    )]
    open_set: Option<f64>,
    /// Times that classes are left out, by --seed [default: 5]
    #[arg(long, value_name = "N", value_parser = parse_count, requires = "open_set")]
    open_set_draws: Option<usize>,
    /// Wanted share of false alarms among instances of candidate classes, for --open-set [default: 0.05]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate, requires = "open_set")]
    reject: Option<f64>,
    /// Reject by the score of the best class, or by its margin over the second [default: what tells more on held-out
    /// known classes]
    #[arg(long, value_name = "SIGNAL", requires = "open_set")]
    reject_by: Option<RejectBy>,
}

/// What was measured in every run.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    assessments: Vec<Assessment>,
    open_set: Vec<OpenSetRun>,
}

impl ConfidenceArgs {
    /// Measures one run.
    pub(crate) fn measure(
        &self,
        settings: &Settings,
        run: &Finished<'_>,
        measured: &mut Measured,
        watch: &dyn Observer,
    ) -> bidilel::Result<()> {
        let calibrates = self.calibrate.is_some() || self.coverage.is_some();
        if !calibrates && self.open_set.is_none() {
            return Ok(());
        }
        let Finished { task, seed, fitted, recognition, .. } = run;
        let method = Method::from_settings(settings, *seed);
        let folds = self.calibrate.unwrap_or(CALIBRATION_FOLDS);
        let candidates = task.candidates();
        let (biases, calibration) = if candidates == Candidates::All {
            let like = HoldOut::like(task, candidates, *seed);
            let hold_out = HoldOut { folds: self.calibrate.unwrap_or(like.folds), ..like };
            let (biases, calibration) = Calibration::generalized(task, &method, &hold_out, watch)?;
            (Some(biases), calibration)
        } else {
            (None, Calibration::new(task, &method, folds, *seed, watch)?)
        };
        if calibrates {
            let coverage = self.coverage.unwrap_or(COVERAGE);
            let truth = task.truth(candidates);
            measured.assessments.push(calibration.assess(&recognition.scores, &truth, coverage)?);
        }
        if let Some(open) = self.open(*seed) {
            let by = self.reject_by.map(Signal::from);
            let threshold = calibration.rejection.threshold(self.rate(), by);
            let draws = open_set((&method, fitted), task, biases.as_ref(), &open, &threshold, watch)?;
            measured.open_set.push(OpenSetRun { by: threshold.by, draws });
        }
        Ok(())
    }

    /// The means over all runs.
    pub(crate) fn report(&self, measured: &Measured, seed: u64) -> Confidence {
        let Measured { assessments, open_set } = measured;
        Confidence {
            calibration: CalibrationReport::mean(assessments),
            coverage: CoverageReport::mean(assessments),
            open_set: self.open(seed).and_then(|open| OpenSetReport::mean(open_set, &open, self.rate())),
        }
    }

    fn open(&self, seed: u64) -> Option<OpenSet> {
        let default = OpenSet::default();
        self.open_set.map(|share| OpenSet {
            share,
            draws: self.open_set_draws.unwrap_or(default.draws),
            seed,
        })
    }

    fn rate(&self) -> f64 {
        self.reject.unwrap_or(REJECT_RATE)
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a share between 0 and 1, such as 0.9".to_owned()),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.0..1.0).contains(&rate) => Ok(rate),
        _ => Err("expected a share of at least 0 and below 1, such as 0.05".to_owned()),
    }
}
