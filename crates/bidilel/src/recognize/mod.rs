//! Recognition: scores of the candidate classes, and the points behind them where a method has some.
//!
//! BiDiLEL scores by minus the Euclidean distance between an instance and a class embedding:
//! `$l^* = \arg\min_l d(\hat y^u, b^u_l)$` (Wang & Chen 2017, eq. 9).
//!
//! ```
//! use bidilel::{Mat, Recognition};
//!
//! // Two instances and two classes in a latent space of two dimensions, one column each.
//! let points = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 0.2 });
//! let embedding = Mat::from_fn(2, 2, |i, j| if i == j { 0.0 } else { 1.0 });
//! let recognition = Recognition::nearest(points.into(), embedding);
//! assert_eq!(recognition.labels(), [1, 0]);
//! ```

mod scores;
mod softmax;

use std::sync::Arc;

use faer::{Mat, MatRef};

use bidilel_math::distance::pairwise;

pub use scores::Scores;
pub(crate) use softmax::log_sum;

use crate::latent_space::block_rows;
pub use crate::task::Candidates;

/// The scores of a batch of instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognition {
    /// Candidate classes x instances.
    pub scores: Scores,
    /// The points that were compared; none for methods without a latent space.
    pub latent: Option<Latent>,
}

/// Instances and candidate classes in one latent space.
#[derive(Debug, Clone, PartialEq)]
pub struct Latent {
    /// $Y^u$, latent dimensions x instances.
    pub points: Arc<Mat<f64>>,
    /// $B^u$, latent dimensions x candidate classes.
    pub embedding: Mat<f64>,
    /// How many spaces have these dimensions together.
    pub spaces: usize,
}

impl Latent {
    /// The distance of every instance to every class, as scores.
    pub fn scores(&self) -> Scores {
        Scores::from_distances(mean_distances(
            self.embedding.as_ref(),
            self.points.as_ref().as_ref(),
            self.spaces,
        ))
    }
}

/// Euclidean distances between points of several spaces, whose coordinates are below each other: the means over all
/// spaces.
pub fn mean_distances(left: MatRef<'_, f64>, right: MatRef<'_, f64>, spaces: usize) -> Mat<f64> {
    let each = block_rows(left.nrows(), spaces).map(|rows| pairwise(rows.of(left), rows.of(right)));
    let sum = each.reduce(|sum, own| sum + own).unwrap_or_else(|| Mat::zeros(left.ncols(), right.ncols()));
    if spaces > 1 { sum * faer::Scale(1.0 / spaces as f64) } else { sum }
}

impl From<Latent> for Recognition {
    fn from(latent: Latent) -> Self {
        Self { scores: latent.scores(), latent: Some(latent) }
    }
}

impl Recognition {
    /// Scores every class embedding by minus its distance to an instance.
    pub fn nearest(points: Arc<Mat<f64>>, embedding: Mat<f64>) -> Self {
        Latent { points, embedding, spaces: 1 }.into()
    }

    /// The best class of every instance; ties go to the class that comes first.
    pub fn labels(&self) -> Vec<usize> {
        self.scores.labels()
    }
}

impl From<Scores> for Recognition {
    fn from(scores: Scores) -> Self {
        Self { scores, latent: None }
    }
}
