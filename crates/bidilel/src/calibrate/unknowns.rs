//! Open-set recognition measured: unseen classes that are left out of the candidates, whose instances are unknown.
//!
//! In every draw a share of the unseen classes is neither learned from nor a candidate: the remaining ones are embedded
//! without them. All test instances are recognized among the remaining classes, as one batch where refiners need one.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use bidilel_math::Observer;

use super::generalized::Biases;
use super::reject::{Signal, Threshold};
use crate::bottom_up::LandmarkSpace;
use crate::error::{Error, Result};
use crate::method::{AnyFitted, Method, ZeroShotMethod};
use crate::metrics::{OpenSetPoint, auroc, false_positive_rate, open_set_area, open_set_curve};
use crate::post::Batch;
use crate::recognize::{Recognition, Scores};
use crate::task::{Candidates, Task};

/// Keeps the draw apart from others of the same seed.
const STREAM: u64 = 0x4f50_454e;
/// Share of inside instances that are accepted where the false positive rate is measured.
pub const RECALL: f64 = 0.95;
/// Fewer remaining classes have no margin.
const MIN_CANDIDATES: usize = 2;

/// How unseen classes are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenSet {
    /// Share of the unseen classes that are left out.
    pub share: f64,
    /// How many times.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for OpenSet {
    fn default() -> Self {
        Self { share: 0.5, draws: 5, seed: 0 }
    }
}

/// How well one signal tells unknown instances.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalQuality {
    /// Area under the ROC curve.
    pub auroc: f64,
    /// False positive rate at [`RECALL`].
    pub false_positive_rate: f64,
    /// Area under the open-set curve.
    pub area: f64,
    /// The open-set curve.
    pub curve: Vec<OpenSetPoint>,
}

/// The figures of one draw.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSetDraw {
    /// Names of the classes that were left out.
    pub left_out: Vec<String>,
    /// Share of inside instances that are recognized, without a threshold.
    pub accuracy: f64,
    /// By the score of the best class.
    pub score: SignalQuality,
    /// By its margin over the second.
    pub margin: SignalQuality,
    /// Share of inside instances that the threshold rejects: false alarms.
    pub false_alarms: f64,
    /// Share of unknown instances that the threshold rejects.
    pub detected: f64,
}

/// Recognizes the test instances of a task with some of its unseen classes left out, several times. The fit is that to
/// the whole task, whose bottom-up half is used again. With biases known classes are candidates, too, and their test
/// instances are inside.
///
/// # Errors
/// [`Error::Setting`] for a share that is none, no draws, or too few unseen classes; those of the fits.
pub fn open_set(
    (method, fitted): (&Method, &AnyFitted),
    task: &Task,
    biases: Option<&Biases>,
    open: &OpenSet,
    threshold: &Threshold,
    watch: &dyn Observer,
) -> Result<Vec<OpenSetDraw>> {
    let draws = draw(task.unseen.len(), open)?;
    watch.stage("open_set");
    let candidates = if biases.is_some() { Candidates::All } else { Candidates::Unseen };
    let batch = task.batch(candidates);
    let first = candidates.range(task.known.len(), task.unseen.len()).len() - task.unseen.len();
    // Recognition looks at no label.
    let mut part = task.clone();
    part.test.labels.clear();
    let known: Vec<usize> = (0..task.known.len()).collect();
    let mut found = Vec::with_capacity(draws.len());
    for (number, remaining) in draws.iter().enumerate() {
        watch.progress(number, draws.len());
        Error::unless_cancelled(watch)?;
        let classes: Vec<usize> = remaining.iter().map(|class| task.known.len() + class).collect();
        part.unseen = remaining.iter().map(|&class| task.unseen[class].clone()).collect();
        part.semantics = task.semantics.among(&known, &classes);
        let refitted = refit(method, &part, fitted, watch)?;
        // Instances of classes that were left out make the batch other than it is.
        let named = Batch { classes: &part.unseen, ..Batch::UNNAMED };
        let scores = match biases {
            None => method.recognize(&refitted, batch.prepared(), candidates, &named, |_, _| ())?.scores,
            Some(biases) => {
                let known = task.known.len();
                let each = |_: &str, _: &Recognition, _| ();
                let found = biases.recognize((method, &refitted), batch.prepared(), known, &named, each)?;
                found.scores.calibrated(known, biases.last())
            }
        };
        // The row of every instance's class, or none for the classes that were left out.
        let row = |&label: &usize| match label.checked_sub(first) {
            None => Some(label),
            Some(unseen) => remaining.binary_search(&unseen).ok().map(|place| first + place),
        };
        let truth: Vec<Option<usize>> = batch.labels.iter().map(row).collect();
        let out = (0..task.unseen.len()).filter(|class| remaining.binary_search(class).is_err());
        let left_out = out.map(|class| task.unseen[class].clone()).collect();
        found.push(OpenSetDraw::of(left_out, &scores, &truth, threshold));
    }
    watch.progress(draws.len(), draws.len());
    Ok(found)
}

/// The classes that remain in every draw, ascending.
fn draw(unseen: usize, open: &OpenSet) -> Result<Vec<Vec<usize>>> {
    let wrong = |setting, expected: &str, found: String| {
        Err(Error::Setting { setting, expected: expected.to_owned().into(), found })
    };
    if !(open.share > 0.0 && open.share < 1.0) {
        return wrong("open-set", "a share between 0 and 1", open.share.to_string());
    }
    if open.draws == 0 {
        return wrong("open-set-draws", "at least 1", "0".to_owned());
    }
    if unseen <= MIN_CANDIDATES {
        let expected = "at least 3, of which some are left out";
        return wrong("the number of unseen classes", expected, unseen.to_string());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let out = ((unseen as f64 * open.share).round() as usize).clamp(1, unseen - MIN_CANDIDATES);
    let mut random = ChaCha8Rng::seed_from_u64(open.seed);
    random.set_stream(STREAM);
    let one = |_| {
        let mut classes: Vec<usize> = (0..unseen).collect();
        classes.shuffle(&mut random);
        classes.truncate(unseen - out);
        classes.sort_unstable();
        classes
    };
    Ok((0..open.draws).map(one).collect())
}

/// A fit to a task of the same known classes and instances.
fn refit(method: &Method, part: &Task, fitted: &AnyFitted, watch: &dyn Observer) -> Result<AnyFitted> {
    match (method, fitted) {
        // The space and the landmarks know nothing of unseen classes.
        (Method::Bidilel(pipeline), AnyFitted::Bidilel(fitted)) => {
            let learned = LandmarkSpace {
                space: fitted.space.clone(),
                landmarks: fitted.landmarks.clone(),
                fusion: fitted.fusion.clone(),
            };
            Ok(AnyFitted::Bidilel(pipeline.embed(learned, &part.semantics, watch)?))
        }
        _ => method.fit(part, watch),
    }
}

impl OpenSetDraw {
    fn of(left_out: Vec<String>, scores: &Scores, truth: &[Option<usize>], threshold: &Threshold) -> Self {
        let labels = scores.labels();
        let split = |signal: Signal| {
            let all = signal.all(scores).into_iter().zip(truth);
            let (inside, unknown): (Vec<_>, Vec<_>) = all.partition(|(_, truth)| truth.is_some());
            let values = |of: Vec<(f64, &Option<usize>)>| of.into_iter().map(|one| one.0).collect::<Vec<_>>();
            (values(inside), values(unknown))
        };
        let inside = labels.iter().zip(truth).filter(|(_, truth)| truth.is_some());
        let right: Vec<bool> = inside.map(|(label, truth)| Some(*label) == *truth).collect();
        let quality = |signal: Signal| {
            let (inside, unknown) = split(signal);
            let curve = open_set_curve(&inside, &right, &unknown);
            SignalQuality {
                auroc: auroc(&inside, &unknown),
                false_positive_rate: false_positive_rate(&inside, &unknown, RECALL),
                area: open_set_area(&curve),
                curve,
            }
        };
        let (inside, unknown) = split(threshold.by);
        let rejected = |signals: &[f64]| {
            let below = signals.iter().filter(|&&signal| signal < threshold.least).count();
            below as f64 / signals.len().max(1) as f64
        };
        Self {
            left_out,
            accuracy: right.iter().filter(|&&right| right).count() as f64 / right.len().max(1) as f64,
            score: quality(Signal::Score),
            margin: quality(Signal::Margin),
            false_alarms: rejected(&inside),
            detected: rejected(&unknown),
        }
    }

    /// The figures of one signal.
    pub fn by(&self, signal: Signal) -> &SignalQuality {
        match signal {
            Signal::Score => &self.score,
            Signal::Margin => &self.margin,
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::Mat;

    use super::*;

    #[test]
    fn draws_leave_the_share_out_and_two_classes_at_least_remain() {
        let found = draw(10, &OpenSet { share: 0.3, draws: 4, seed: 1 }).expect("draws");
        assert!(found.iter().all(|remaining| remaining.len() == 7 && remaining.is_sorted()));
        assert_ne!(found[0], found[1], "other classes each time");
        assert_eq!(found, draw(10, &OpenSet { share: 0.3, draws: 4, seed: 1 }).expect("the same"));
        assert_eq!(draw(3, &OpenSet { share: 0.9, ..OpenSet::default() }).expect("draws")[0].len(), 2);
        for (unseen, open) in [
            (2, OpenSet::default()),
            (9, OpenSet { share: 0.0, ..OpenSet::default() }),
            (9, OpenSet { share: 1.0, ..OpenSet::default() }),
            (9, OpenSet { draws: 0, ..OpenSet::default() }),
        ] {
            assert!(draw(unseen, &open).is_err(), "{unseen} {open:?}");
        }
    }

    #[test]
    fn figures_are_counts_of_instances() {
        // Five instances of two candidates; the last two are unknown.
        let values = [[0.875, 0.25, 0.75, 0.5, 0.125], [0.125, 0.625, 0.625, 0.375, 0.375]];
        let scores = Scores { values: Mat::from_fn(2, 5, |class, i| values[class][i]) };
        let truth = [Some(0), Some(1), Some(1), None, None];
        let threshold = Threshold { by: Signal::Score, least: 0.55 };
        let found = OpenSetDraw::of(Vec::new(), &scores, &truth, &threshold);
        assert_relative_eq!(found.accuracy, 2.0 / 3.0);
        assert_relative_eq!(found.score.auroc, 1.0);
        // Margins 0.75, 0.375 and 0.125 inside, 0.125 and 0.25 unknown: one tie, one pair the wrong way.
        assert_relative_eq!(found.margin.auroc, 4.5 / 6.0, epsilon = 1e-9);
        assert_relative_eq!(found.false_alarms, 0.0);
        assert_relative_eq!(found.detected, 1.0);
        assert_eq!(found.by(Signal::Margin), &found.margin);
    }
}
