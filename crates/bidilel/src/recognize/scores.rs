//! Scores of candidate classes: what every zero-shot method has.

use faer::Mat;

/// Candidate classes x instances; the larger a score, the likelier the class.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// One column per instance.
    pub values: Mat<f64>,
}

impl Scores {
    /// Scores that are minus these distances (classes x instances).
    pub fn from_distances(mut distances: Mat<f64>) -> Self {
        for column in distances.col_iter_mut() {
            column.iter_mut().for_each(|value| *value = -*value);
        }
        Self { values: distances }
    }

    /// How many candidate classes there are.
    pub fn classes(&self) -> usize {
        self.values.nrows()
    }

    /// How many instances there are.
    pub fn instances(&self) -> usize {
        self.values.ncols()
    }

    /// The scores of one class for all instances.
    pub fn of_class(&self, class: usize) -> Vec<f64> {
        (0..self.instances()).map(|instance| self.values[(class, instance)]).collect()
    }

    /// Minus the score: the distance, for methods that measure one.
    pub fn distance(&self, class: usize, instance: usize) -> f64 {
        -self.values[(class, instance)]
    }

    /// Minus the scores: candidate classes x instances.
    pub fn distances(&self) -> Mat<f64> {
        Self::from_distances(self.values.clone()).values
    }

    /// The same with a bias subtracted from the first `known` classes (calibrated stacking).
    #[must_use]
    pub fn calibrated(mut self, known: usize, bias: f64) -> Self {
        for instance in 0..self.values.ncols() {
            self.values.col_as_slice_mut(instance)[..known].iter_mut().for_each(|score| *score -= bias);
        }
        self
    }

    /// The best class of every instance; ties go to the class that comes first.
    pub fn labels(&self) -> Vec<usize> {
        let best = |instance: usize| {
            let column = self.values.col_as_slice(instance);
            let best = column.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
            best.map_or(0, |(class, _)| class)
        };
        (0..self.instances()).map(best).collect()
    }

    /// The `count` best classes of an instance with their scores, best first.
    pub fn top(&self, instance: usize, count: usize) -> Vec<(usize, f64)> {
        let mut all: Vec<(usize, f64)> =
            self.values.col_as_slice(instance).iter().copied().enumerate().collect();
        let order = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if (1..all.len()).contains(&count) {
            all.select_nth_unstable_by(count - 1, order);
        }
        all.truncate(count);
        all.sort_unstable_by(order);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_class_that_comes_first() {
        let scores = Scores { values: Mat::from_fn(3, 1, |_, _| 0.5) };
        assert_eq!(scores.labels(), [0]);
        assert_eq!(scores.top(0, 2), [(0, 0.5), (1, 0.5)]);
    }

    #[test]
    fn the_nearest_class_has_the_best_score() {
        let scores = Scores::from_distances(Mat::from_fn(3, 1, |class, _| [2.0, 0.0, 1.0][class]));
        assert_eq!(scores.labels(), [1]);
        let order: Vec<usize> = scores.top(0, 3).into_iter().map(|(class, _)| class).collect();
        assert_eq!(order, [1, 2, 0]);
        assert!(scores.distance(1, 0).is_sign_positive());
    }
}
