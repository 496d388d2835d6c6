//! Thresholds that turn scores into tags, found on known labels alone.
//!
//! Unseen labels share one threshold: in folds some known labels play the unseen ones, the method learns from what carries none of
//! them, and the threshold is that of the largest F1 over all pairs of held-out instances and labels of all folds. As many
//! labels are held out as are unseen, if there are twice as many, because F1 depends on how many labels an instance may have.
//! A known label has a threshold of its own: the method learns from four fifths of the training instances, and the threshold
//! is that of the label's largest F1 on the others. A label that none of them has takes the threshold of all known labels
//! together.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::trial::TagTrial;
use super::{Relevance, Tagged};
use crate::error::{Error, Result, SplitProblem};
use crate::method::{Method, ZeroShotMethod};
use crate::post::Batch;
use crate::recognize::{Candidates, Scores};
use crate::task::Choice;

/// Folds in which known labels play the unseen ones.
const FOLDS: usize = 3;
/// One in so many training instances is held out for the thresholds of known labels.
const HELD_OUT: usize = 5;
/// Keeps the draw apart from others of the same seed.
const STREAM: u64 = 0x5448_5245_5348;

/// The least scores of tags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Of each known label, in the order of the model; none where they were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<f64>>,
    /// Of every unseen label.
    pub unseen: f64,
}

impl Thresholds {
    /// One threshold per candidate, for `known` known and `unseen` unseen labels; none where those of known labels are
    /// missing.
    pub fn of(&self, candidates: Candidates, unseen: usize) -> Option<Vec<f64>> {
        let unseen = || vec![self.unseen; unseen];
        match candidates {
            Candidates::Unseen => Some(unseen()),
            Candidates::Known => self.known.clone(),
            Candidates::All => self.known.clone().map(|known| [known, unseen()].concat()),
        }
    }

    /// Finds the thresholds of a method in a trial, from its training instances alone; those of known labels where
    /// `candidates` has them.
    ///
    /// # Errors
    /// [`Error::Split`] where there are too few known labels to hold some out; those of the fits.
    pub(super) fn find(
        tagged: &Tagged,
        trial: &TagTrial,
        method: &Method,
        choice: &Choice,
        candidates: Candidates,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let finder = Finder { tagged, trial, method, choice, seed, watch };
        let unseen = finder.shared()?;
        let known = match candidates {
            Candidates::Unseen => None,
            Candidates::Known | Candidates::All => Some(finder.own()?),
        };
        Ok(Self { known, unseen })
    }
}

struct Finder<'a> {
    tagged: &'a Tagged,
    trial: &'a TagTrial,
    method: &'a Method,
    choice: &'a Choice,
    seed: u64,
    watch: &'a dyn Observer,
}

impl Finder<'_> {
    /// The threshold of unseen labels.
    fn shared(&self) -> Result<f64> {
        let (mut scores, mut relevant) = (Vec::new(), Vec::new());
        for (number, held) in self.folds()?.iter().enumerate() {
            let known: Vec<usize> =
                self.trial.known.iter().copied().filter(|class| held.binary_search(class).is_err()).collect();
            let name = format!("{}, held-out labels {number}", self.trial.name);
            let fold = self.tagged.divided(&name, &known, held, &self.trial.train)?;
            let (found, truth) = self.scored(&fold, Candidates::Unseen, held)?;
            for label in 0..held.len() {
                scores.extend(found.of_class(label));
                relevant.extend(truth.of_label(label));
            }
        }
        // Held-out labels have instances: folds without would not have been divided.
        Ok(best_threshold(&scores, &relevant).unwrap_or(f64::INFINITY))
    }

    /// The threshold of each known label.
    fn own(&self) -> Result<Vec<f64>> {
        let mut order = self.trial.train.clone();
        order.shuffle(&mut self.random(1));
        let (held, kept) = order.split_at(order.len() / HELD_OUT);
        let (mut held, mut kept) = (held.to_vec(), kept.to_vec());
        held.sort_unstable();
        kept.sort_unstable();
        let learned = |&class: &usize| kept.iter().any(|&one| self.tagged.tags.has(one, class));
        let known: Vec<usize> = self.trial.known.iter().copied().filter(learned).collect();
        let fold = TagTrial { known, train: kept, test: held, ..self.trial.clone() };
        let (found, truth) = self.scored(&fold, Candidates::Known, &fold.known)?;
        let all: Vec<f64> = (0..fold.known.len()).flat_map(|label| found.of_class(label)).collect();
        let relevant: Vec<bool> = (0..fold.known.len()).flat_map(|label| truth.of_label(label)).collect();
        let common = best_threshold(&all, &relevant).unwrap_or(f64::INFINITY);
        let own = |class: &usize| {
            let label = fold.known.binary_search(class).ok()?;
            best_threshold(&found.of_class(label), &truth.of_label(label))
        };
        Ok(self.trial.known.iter().map(|class| own(class).unwrap_or(common)).collect())
    }

    /// Fits a fold, and scores its test instances for some labels.
    fn scored(
        &self,
        fold: &TagTrial,
        candidates: Candidates,
        labels: &[usize],
    ) -> Result<(Scores, Relevance)> {
        let task = self.tagged.task(fold, self.choice, self.watch)?;
        let fitted = self.method.fit(&task, self.watch)?;
        let found =
            self.method.recognize(&fitted, task.test.prepared(), candidates, &Batch::UNNAMED, |_, _| ())?;
        let has = |label: usize, one: usize| self.tagged.tags.has(fold.test[one], labels[label]);
        Ok((found.scores, Relevance::new(labels.len(), fold.test.len(), has)))
    }

    /// Known labels that play the unseen ones, in each fold: those that the split names for validation, or some at random.
    fn folds(&self) -> Result<Vec<Vec<usize>>> {
        let known = &self.trial.known;
        let named: Vec<usize> = self
            .trial
            .validation
            .iter()
            .copied()
            .filter(|class| known.binary_search(class).is_ok())
            .collect();
        if !named.is_empty() && named.len() < known.len() {
            return Ok(vec![named]);
        }
        if known.len() < 3 {
            let problem = SplitProblem::FewKnownLabels { found: known.len() };
            return Err(Error::Split { split: self.trial.name.clone(), problem });
        }
        let count = self.trial.unseen.len().clamp(1, known.len() / 2);
        let mut rng = self.random(0);
        let draw = |_| {
            let mut order = known.clone();
            order.shuffle(&mut rng);
            order.truncate(count);
            order.sort_unstable();
            order
        };
        Ok((0..FOLDS).map(draw).collect())
    }

    fn random(&self, part: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(STREAM + part);
        rng
    }
}

/// The threshold of the largest F1: halfway between the last score that is a tag and the next. Of equal ones the highest;
/// none where nothing is relevant.
pub fn best_threshold(scores: &[f64], relevant: &[bool]) -> Option<f64> {
    let labels = relevant.iter().filter(|&&relevant| relevant).count();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut right, mut tags) = (0, 0);
    let mut best: Option<(f64, f64)> = None;
    for equal in order.chunk_by(|&a, &b| scores[a].total_cmp(&scores[b]).is_eq()) {
        tags += equal.len();
        right += equal.iter().filter(|&&place| relevant[place]).count();
        let f1 = 2.0 * right as f64 / (tags + labels) as f64;
        if right > 0 && best.is_none_or(|(most, _)| f1 > most) {
            let score = scores[equal[0]];
            let next = order.get(tags).map_or(score, |&place| scores[place]);
            best = Some((f1, f64::midpoint(score, next)));
        }
    }
    best.map(|(_, threshold)| threshold)
}

#[cfg(test)]
mod tests {
    use super::super::metrics::at_threshold;
    use super::*;

    #[test]
    fn no_other_threshold_has_a_larger_f1() {
        let number = |i: usize| (i.wrapping_mul(2_654_435_761) >> 9) % 89;
        for seed in 0..40 {
            let scores: Vec<f64> = (0..30).map(|i| (number(i * 7 + seed) / 4) as f64).collect();
            let relevant: Vec<bool> =
                (0..30).map(|i| number(i * 3 + seed * 11) as f64 + scores[i] > 60.0).collect();
            let found = best_threshold(&scores, &relevant);
            let Some(found) = found else {
                assert!(!relevant.contains(&true));
                continue;
            };
            let best = at_threshold(&scores, &relevant, found).f1;
            for other in 0..100 {
                let other = f64::from(other) / 4.0 - 1.0;
                assert!(at_threshold(&scores, &relevant, other).f1 <= best + 1e-15, "{other}");
            }
        }
    }

    #[test]
    fn it_lies_halfway_and_nothing_relevant_has_none() {
        assert_eq!(best_threshold(&[3.0, 1.0], &[true, false]), Some(2.0));
        assert_eq!(best_threshold(&[3.0, 1.0], &[true, true]), Some(1.0));
        assert_eq!(best_threshold(&[3.0, 1.0], &[false, false]), None);
        assert_eq!(best_threshold(&[], &[]), None);
    }

    #[test]
    fn candidates_get_the_thresholds_of_their_side() {
        let both = Thresholds { known: Some(vec![1.0, 2.0]), unseen: 3.0 };
        assert_eq!(both.of(Candidates::All, 2), Some(vec![1.0, 2.0, 3.0, 3.0]));
        assert_eq!(both.of(Candidates::Unseen, 1), Some(vec![3.0]));
        let unseen = Thresholds { known: None, unseen: 3.0 };
        assert_eq!(unseen.of(Candidates::All, 2), None);
    }
}
