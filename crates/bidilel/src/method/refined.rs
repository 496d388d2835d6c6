//! A compared method with the refiners that follow it.

use serde::{Deserialize, Serialize};

use bidilel_math::Observer;

use super::ZeroShotMethod;
use crate::error::Result;
use crate::post::Post;
use crate::task::Task;

/// A method with the refiners that follow it, as JSON one object: `post` stands beside the settings of the method.
///
/// [`Pipeline`](crate::Pipeline), the paper's method, has refiners of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refined<M> {
    /// The method.
    #[serde(flatten)]
    pub method: M,
    /// Refiners, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post: Vec<Post>,
}

impl<M> From<M> for Refined<M> {
    fn from(method: M) -> Self {
        Self { method, post: Vec::new() }
    }
}

impl<M: ZeroShotMethod + Clone> ZeroShotMethod for Refined<M> {
    type Fitted = M::Fitted;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<M::Fitted> {
        self.method.fit(task, watch)
    }

    fn resolved(&self, task: &Task, fitted: &M::Fitted) -> Self {
        Self { method: self.method.resolved(task, fitted), post: self.post.clone() }
    }
}
