//! The two traits of a zero-shot method: what learns, and what was learned.

use bidilel_math::Observer;

use crate::error::Result;
use crate::recognize::{Candidates, Recognition, Scores};
use crate::task::{Prepared, Task};

/// Learns to score classes, some of which have no labeled instance.
///
/// Features are `f32`; the type parameter exists so that tests can follow a reference in `f64`.
pub trait ZeroShotMethod<T = f32> {
    /// What is learned.
    type Fitted: FittedMethod<T>;

    /// Learns from the labeled instances of the known classes and the descriptions of all classes.
    fn fit(&self, task: &Task<T>, watch: &dyn Observer) -> Result<Self::Fitted>;

    /// The same settings, with everything that was left open as it turned out in a fit.
    #[must_use]
    fn resolved(&self, _task: &Task<T>, _fitted: &Self::Fitted) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

/// Scores candidate classes for instances.
pub trait FittedMethod<T = f32> {
    /// Scores of all candidates, with the points behind them where the method has a latent space.
    fn recognize(&self, instances: Prepared<'_, T>, candidates: Candidates) -> Result<Recognition>;

    /// Scores of all candidates.
    fn score(&self, instances: Prepared<'_, T>, candidates: Candidates) -> Result<Scores> {
        Ok(self.recognize(instances, candidates)?.scores)
    }
}
