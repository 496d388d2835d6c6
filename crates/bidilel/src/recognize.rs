//! Recognition: the unseen class whose embedding is nearest to an instance.
//!
//! $l^* = \arg\min_l d(\hat y^u, b^u_l)$ with the Euclidean distance (Wang & Chen 2017, eq. 9).

use std::sync::Arc;

use faer::Mat;

use bidilel_math::distance::pairwise;

/// Instances, class embeddings, and the distances between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognition {
    /// $Y^u$, latent dimensions x instances.
    pub points: Arc<Mat<f64>>,
    /// $B^u$, latent dimensions x unseen classes.
    pub embedding: Mat<f64>,
    /// Unseen classes x instances.
    pub distances: Mat<f64>,
}

impl Recognition {
    /// Measures every instance against every class.
    pub fn nearest(points: Arc<Mat<f64>>, embedding: Mat<f64>) -> Self {
        let distances = pairwise(embedding.as_ref(), points.as_ref().as_ref());
        Self { points, embedding, distances }
    }

    /// The nearest class of every instance; ties go to the class that comes first.
    pub fn labels(&self) -> Vec<usize> {
        let nearest = |instance: usize| {
            let column = self.distances.col_as_slice(instance);
            let best = column.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            best.map_or(0, |(class, _)| class)
        };
        (0..self.distances.ncols()).map(nearest).collect()
    }

    /// The `count` nearest classes of an instance with their distances, nearest first.
    pub fn top(&self, instance: usize, count: usize) -> Vec<(usize, f64)> {
        let mut all: Vec<(usize, f64)> =
            self.distances.col_as_slice(instance).iter().copied().enumerate().collect();
        let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if (1..all.len()).contains(&count) {
            all.select_nth_unstable_by(count - 1, order);
        }
        all.truncate(count);
        all.sort_unstable_by(order);
        all
    }
}
