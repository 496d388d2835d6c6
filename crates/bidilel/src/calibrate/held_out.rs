//! Scores of held-out known classes by any method.

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use bidilel_math::{Check, Observer};

use super::draw::draw_classes;
use super::fold::Fold;
use super::{Curve, best_bias};
use crate::bottom_up::Sizes;
use crate::error::{Error, Result};
use crate::method::{FittedMethod, Method, ZeroShotMethod};
use crate::post::{Batch, BesideKnown, counts, refined};
use crate::recognize::{Recognition, Scores};
use crate::split::{TEST_SEEN_SHARE, check_share};
use crate::task::{Candidates, Task};

/// Keeps the draw apart from others of the same seed, such as that of test instances.
const STREAM: u64 = 0x4341_4c49_4252;

/// How many folds there are where nobody says.
pub const FOLDS: usize = 5;
/// Bounds on the share of classes that [`HoldOut::like`] holds out.
const CLASS_SHARES: (f64, f64) = (0.1, 0.5);

/// How known classes and their instances are held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoldOut {
    /// How many times.
    pub folds: usize,
    /// Share of the known classes that act as unseen ones.
    pub class_share: f64,
    /// Share of the other known classes' instances that are tested, where known classes are candidates.
    pub instance_share: f64,
    /// Seed of the draw.
    pub seed: u64,
    /// The candidates: [`Candidates::All`], or [`Candidates::Unseen`] for held-out classes and their instances alone.
    pub candidates: Candidates,
}

impl HoldOut {
    /// Folds that resemble a task: of their classes as large a share is unseen, and of the instances of known classes
    /// as large a share is tested, where the task tests some.
    pub fn like(task: &Task, candidates: Candidates, seed: u64) -> Self {
        let (known, unseen) = (task.known.len() as f64, task.unseen.len() as f64);
        let tested = task.test_seen.as_ref().map_or(0.0, |seen| seen.labels.len() as f64);
        let share = tested / (tested + task.train.labels.len() as f64);
        Self {
            folds: FOLDS,
            class_share: (unseen / (known + unseen)).clamp(CLASS_SHARES.0, CLASS_SHARES.1),
            instance_share: if tested > 0.0 { share } else { TEST_SEEN_SHARE },
            seed,
            candidates,
        }
    }
}

/// Scores of one fold: some known classes act as unseen ones, held-out instances of the other known classes as test
/// instances of known classes.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutScores {
    /// Candidates x instances: the known classes of the fold first, then its held-out classes.
    pub scores: Scores,
    /// How many of the candidates are known; none where only held-out classes compete.
    pub known: usize,
    /// The candidate that every instance belongs to; instances of known classes come first.
    pub truth: Vec<usize>,
    /// The candidates, as indices into the known classes of the task.
    pub classes: Vec<usize>,
}

/// Fits a method to every fold of a task's known classes, and scores what the fold holds out, refiners included.
///
/// # Errors
/// [`Error::Setting`] for shares that are none and for fewer than four known classes; those of the fits.
pub fn held_out(
    task: &Task,
    method: &Method,
    hold_out: &HoldOut,
    watch: &dyn Observer,
) -> Result<Vec<HeldOutScores>> {
    let folds = recognized(task, method, hold_out, watch)?;
    let (post, name) = (method.post(), method.kind().to_string());
    let bias = if post.is_empty() { 0.0 } else { best_bias(&curves(&folds)) };
    let refine = |fold: Recognized| {
        let Recognized { found, known, truth, classes } = fold;
        let counts = counts(&truth, known, classes.len());
        let batch = Batch::held_out(&counts);
        let found = match known {
            0 => refined(&name, found, post, &batch, |_, _| ())?,
            known => BesideKnown { known, bias }.refined(&name, found, post, &batch, |_, _| ())?,
        };
        Ok(HeldOutScores { scores: found.scores, known, truth, classes })
    };
    folds.into_iter().map(refine).collect()
}

/// What a fold holds out, recognized by a method without its refiners.
pub(super) struct Recognized {
    pub(super) found: Recognition,
    pub(super) known: usize,
    pub(super) truth: Vec<usize>,
    pub(super) classes: Vec<usize>,
}

/// The curves of folds.
pub(super) fn curves(folds: &[Recognized]) -> Vec<Curve> {
    folds.iter().map(|fold| Curve::new(&fold.found.scores, fold.known, &fold.truth)).collect()
}

/// Fits a method to every fold, and recognizes what the fold holds out, without refiners.
pub(super) fn recognized(
    task: &Task,
    method: &Method,
    hold_out: &HoldOut,
    watch: &dyn Observer,
) -> Result<Vec<Recognized>> {
    let candidates = hold_out.candidates;
    each_fold(task, hold_out, watch, |Fold { task, classes }, watch| {
        let fitted = within(method, &task).fit(&task, watch)?;
        let batch = task.batch(candidates);
        let range = candidates.range(task.known.len(), task.unseen.len());
        Ok(Recognized {
            found: fitted.recognize(batch.prepared(), candidates)?,
            known: range.len() - task.unseen.len(),
            truth: batch.labels.clone(),
            classes: classes[range].to_vec(),
        })
    })
}

/// The method with no more latent dimensions than a fold has: a fold has fewer classes and instances than the task.
fn within(method: &Method, fold: &Task) -> Method {
    let mut method = method.clone();
    if let Method::Bidilel(pipeline) = &mut method {
        let semantic_dim = fold.semantics.vectors().map_or(usize::MAX, |vectors| vectors.nrows());
        let sizes = Sizes { instances: fold.train.labels.len(), classes: fold.known.len(), semantic_dim };
        let most = pipeline.bottom_up.learner().most_dim(&sizes).max(1);
        if let Some(Some(dim)) = pipeline.bottom_up.learner_mut().dim() {
            *dim = most.min(*dim);
        }
    }
    method
}

/// Does something with every fold, one after another: each holds its own copy of most features.
fn each_fold<R>(
    task: &Task,
    hold_out: &HoldOut,
    watch: &dyn Observer,
    mut each: impl FnMut(Fold, &dyn Observer) -> Result<R>,
) -> Result<Vec<R>> {
    if hold_out.candidates == Candidates::Known {
        let (setting, expected) =
            ("candidates", "all or unseen: held-out classes are always among them".into());
        return Err(Error::Setting { setting, expected, found: "known".to_owned() });
    }
    check_share("instance-share", hold_out.instance_share)?;
    let mut random = ChaCha8Rng::seed_from_u64(hold_out.seed);
    random.set_stream(STREAM);
    let folds = draw_classes(task.known.len(), hold_out, &mut random)?;
    watch.stage("calibrate");
    let mut found = Vec::with_capacity(folds.len());
    for (number, held_out) in folds.iter().enumerate() {
        watch.progress(number, folds.len());
        Error::unless_cancelled(watch)?;
        let fold = Fold::new(task, number, held_out, hold_out, &mut random);
        found.push(each(fold, &Within(watch))?);
    }
    watch.progress(folds.len(), folds.len());
    Ok(found)
}

/// Passes on checks, and whether to go on: the stages and notes of a fold are not those of the fit.
struct Within<'a>(&'a dyn Observer);

impl Observer for Within<'_> {
    fn check(&self, check: &Check) {
        self.0.check(check);
    }

    fn poll(&self) -> ControlFlow<()> {
        self.0.poll()
    }
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;

    use super::*;
    use crate::bottom_up::{BottomUp, Lda};
    use crate::method::Eszsl;
    use crate::pipeline::Pipeline;
    use crate::post::{Balanced, Post, SelfTraining, Structured};
    use crate::synthetic::Synthetic;
    use crate::task::Choice;

    fn task() -> Task {
        let dataset = Synthetic { scale: 0.4, ..Synthetic::default() }.generate(1).expect("data");
        let whole = dataset.trials(None).expect("a split").remove(0);
        let trial = whole.with_test_seen(&dataset, 0.25, 0).expect("test instances of known classes");
        let choice = Choice { candidates: Candidates::All, ..Choice::default() };
        Task::new(&dataset, &trial, &choice, &Silent).expect("a task")
    }

    fn methods() -> Vec<Method> {
        let post = [
            Post::SelfTraining(SelfTraining { self_training_neighbors: 5, ..SelfTraining::default() }),
            Post::Structured(Structured::default()),
            Post::Balanced(Balanced::default()),
        ];
        let pipelines =
            post.into_iter().map(|post| Pipeline { post: vec![post], ..Pipeline::default() }.into());
        [Pipeline::default().into(), Eszsl::default().into()].into_iter().chain(pipelines).collect()
    }

    #[test]
    fn folds_divide_the_known_classes_and_their_training_instances() {
        let task = task();
        for candidates in [Candidates::All, Candidates::Unseen] {
            let hold_out = HoldOut::like(&task, candidates, 3);
            let found = held_out(&task, &Eszsl::default().into(), &hold_out, &Silent).expect("scores");
            assert_eq!(found.len(), FOLDS);
            for fold in found {
                assert_eq!(
                    (fold.scores.classes(), fold.scores.instances()),
                    (fold.classes.len(), fold.truth.len())
                );
                let mut classes = fold.classes.clone();
                classes.sort_unstable();
                classes.dedup();
                assert_eq!(classes.len(), fold.classes.len());
                let instances =
                    |class: usize| task.train.labels.iter().filter(|&&label| label == class).count();
                for (candidate, &class) in fold.classes.iter().enumerate() {
                    let tested = fold.truth.iter().filter(|&&truth| truth == candidate).count();
                    if candidate < fold.known {
                        assert!(tested > 0 && tested < instances(class), "the others are learned from");
                    } else {
                        assert_eq!(tested, instances(class), "held out whole");
                    }
                }
                let known = if candidates == Candidates::All { task.known.len() } else { fold.classes.len() };
                assert_eq!(fold.known > 0, candidates == Candidates::All);
                assert_eq!(fold.classes.len(), known);
            }
        }
    }

    /// Test instances, their labels and the descriptions of unseen classes are not looked at.
    #[test]
    fn nothing_of_the_test_instances_nor_of_the_unseen_classes_matters() {
        let task = task();
        let mut poisoned = task.clone();
        let other = Synthetic { scale: 0.4, ..Synthetic::default() }.generate(2).expect("data");
        let trial = other.trials(None).expect("a split").remove(0);
        let other = Task::new(&other, &trial, &Choice::default(), &Silent).expect("a task");
        for samples in [Some(&mut poisoned.test), poisoned.test_seen.as_mut()].into_iter().flatten() {
            samples.features.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v = f32::NAN));
        }
        poisoned.test.labels.fill(0);
        for (own, other) in
            poisoned.semantics.representations.iter_mut().zip(&other.semantics.representations)
        {
            for class in task.known.len()..own.raw.ncols() {
                own.raw.col_mut(class).copy_from(other.raw.col(class));
                own.values.col_mut(class).copy_from(other.values.col(class));
            }
        }
        for method in methods() {
            for candidates in [Candidates::All, Candidates::Unseen] {
                let hold_out = HoldOut { folds: 2, ..HoldOut::like(&task, candidates, 0) };
                let scores = |task: &Task| held_out(task, &method, &hold_out, &Silent).expect("scores");
                assert_eq!(scores(&task), scores(&poisoned));
            }
        }
    }

    /// Twenty known classes have nineteen dimensions of separation, and a fold fewer.
    #[test]
    fn dimensions_that_a_fold_does_not_have_are_left_out() {
        let task = task();
        let lda = Lda { dim: Some(task.known.len() - 1), ..Lda::default() };
        let method = Pipeline { bottom_up: BottomUp::Lda(lda), ..Pipeline::default() }.into();
        for candidates in [Candidates::All, Candidates::Unseen] {
            let hold_out = HoldOut { folds: 2, ..HoldOut::like(&task, candidates, 0) };
            assert_eq!(held_out(&task, &method, &hold_out, &Silent).expect("scores").len(), 2);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_scores_and_another_one_others() {
        let task = task();
        let scores = |seed: u64| {
            let hold_out = HoldOut { folds: 2, ..HoldOut::like(&task, Candidates::All, seed) };
            held_out(&task, &Eszsl::default().into(), &hold_out, &Silent).expect("scores")
        };
        assert_eq!(scores(0), scores(0));
        // Folds of other sizes cannot be compared as matrices.
        let classes =
            |seed: u64| -> Vec<Vec<usize>> { scores(seed).into_iter().map(|fold| fold.classes).collect() };
        assert_ne!(classes(0), classes(1));
    }
}
