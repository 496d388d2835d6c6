//! The test instances of a task as one batch, with labels that count within the candidates.

use std::borrow::Cow;

use faer::Mat;

use super::{Candidates, Samples, Task};

impl<T> Task<T> {
    /// The classes that compete for a test instance: all of them where known classes are tested, too.
    pub fn candidates(&self) -> Candidates {
        if self.test_seen.is_some() { Candidates::All } else { Candidates::Unseen }
    }

    /// Names of candidates, in the order of their scores.
    pub fn names(&self, candidates: Candidates) -> Vec<String> {
        let range = candidates.range(self.known.len(), self.unseen.len());
        self.known.iter().chain(&self.unseen).skip(range.start).take(range.len()).cloned().collect()
    }

    /// The classes of the test instances of the candidates, those of known classes first, counted within the candidates.
    pub fn truth(&self, candidates: Candidates) -> Vec<usize> {
        let seen = self.test_seen.iter().flat_map(|seen| seen.labels.iter().copied());
        let unseen = |first: usize| self.test.labels.iter().map(move |label| first + label);
        match candidates {
            Candidates::Known => seen.collect(),
            Candidates::Unseen => unseen(0).collect(),
            Candidates::All => seen.chain(unseen(self.known.len())).collect(),
        }
    }
}

impl<T: Clone> Task<T> {
    /// The test instances of the candidates, those of known classes first; labels count within the candidates.
    pub fn batch(&self, candidates: Candidates) -> Cow<'_, Samples<T>> {
        let seen = match (candidates, &self.test_seen) {
            (Candidates::Unseen, _) => return Cow::Borrowed(&self.test),
            (Candidates::Known, Some(seen)) => return Cow::Borrowed(seen),
            (Candidates::Known | Candidates::All, seen) => seen.as_ref(),
        };
        let unseen = (candidates == Candidates::All).then_some(&self.test);
        let parts: Vec<&Samples<T>> = seen.into_iter().chain(unseen).collect();
        let columns: Vec<_> = parts.iter().flat_map(|part| part.features.col_iter()).collect();
        let features = Mat::from_fn(self.test.features.nrows(), columns.len(), |i, j| columns[j][i].clone());
        Cow::Owned(Samples { features, labels: self.truth(candidates) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;
    use crate::task::Choice;

    #[test]
    fn a_batch_has_the_instances_of_its_candidates_and_their_labels() {
        let dataset = Synthetic::preset("small").expect("a preset").generate(0).expect("data");
        let trial =
            dataset.trials(None).expect("a split")[0].with_test_seen(&dataset, 0.2, 0).expect("a draw");
        let choice = Choice { candidates: Candidates::All, ..Choice::default() };
        let task = Task::new(&dataset, &trial, &choice, &bidilel_math::Silent).expect("a task");
        let all = task.batch(Candidates::All);
        let names: Vec<&String> = task.known.iter().chain(&task.unseen).collect();
        let instances: Vec<usize> = trial.test_seen.iter().chain(&trial.test).copied().collect();
        assert_eq!(all.labels.len(), instances.len());
        for (instance, &label) in instances.iter().zip(&all.labels) {
            assert_eq!(names[label], &dataset.classes[dataset.labels[*instance]]);
        }
        assert_eq!(names.into_iter().cloned().collect::<Vec<_>>(), task.names(task.candidates()));
        let (seen, unseen) = (task.batch(Candidates::Known), task.batch(Candidates::Unseen));
        let first = seen.labels.len();
        assert_eq!(first, trial.test_seen.len());
        assert_eq!(all.features.subcols(0, first), seen.features);
        assert_eq!(all.features.subcols(first, unseen.labels.len()), unseen.features);
    }
}
