//! Several visual representations (views) of the same instances, used as one.
//!
//! The graphs of the views are averaged, $\tilde W = \sum_m w_m W^{(m)}$, and so are their kernels,
//! $\tilde K = \sum_m w_m K^{(m)}$, with $w_m \ge 0$, $\sum_m w_m = 1$; all $w_m = 1 / M$ by default
//! (Wang & Chen 2017, eqs. A.8 and A.9). The features of all views are stacked in one matrix,
//! unscaled; [`Views`] says which rows belong to which view.
//!
//! - [`Fusion`] learns a latent space from them: in the visual dimensions, over the training instances, or over a
//!   sample of these, whichever costs least.
//! - [`complementarity()`] measures what one view adds to others, and [`select`] orders views by it (Appendix C).
//!
//! ```
//! use bidilel::{Choice, Kernel, KernelForm, Pipeline, Silent, Synthetic, Task, ViewChoice, ZeroShotMethod};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let view = |name: &str, kernel| ViewChoice { name: name.to_owned(), weight: 0.5, kernel };
//! let visual = vec![view("cnn", Kernel::Linear), view("motion", Kernel::Rbf { gamma: None })];
//! let choice = Choice { visual, ..Choice::default() };
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &choice, &Silent)?;
//! let fitted = Pipeline::default().fit(&task, &Silent)?;
//! // A kernel that is not linear: the unknowns are coefficients of the training instances.
//! assert_eq!(fitted.fusion.method, KernelForm::NSpace);
//! # Ok::<(), bidilel::Error>(())
//! ```

mod complementarity;
mod form;
mod fusion;
mod kernel;
mod map;
mod neighborhood;

use faer::MatRef;
use serde::{Deserialize, Serialize};

use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::neighbors::{self, Neighbors};
use bidilel_math::{Observer, Scalar, backend};

pub use complementarity::{Pairs, Selection, Until, complementarity, select};
pub(crate) use form::{Mapped, Unfolded};
pub use fusion::{Fusion, KernelForm, Report, ViewReport};
pub use kernel::Kernel;
pub use map::{KernelMap, KernelView};
pub use neighborhood::{Neighborhood, Search};

use crate::error::{Error, Result};

/// A view that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewChoice {
    /// Its name in the dataset.
    pub name: String,
    /// Its weight among the views.
    pub weight: f64,
    /// Its kernel.
    pub kernel: Kernel,
}

impl ViewChoice {
    /// One view alone, as it is.
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), weight: 1.0, kernel: Kernel::Linear }
    }
}

/// One view of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its name.
    pub name: String,
    /// How many features it has.
    pub dim: usize,
    /// Its weight.
    pub weight: f64,
    /// Its kernel.
    pub kernel: Kernel,
    /// The names of its features, where they come from a table that has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
}

/// The views of a task, in the order in which their features are stacked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Views {
    /// At least one.
    pub parts: Vec<View>,
}

impl Views {
    /// One representation, used as it is.
    pub fn single(name: &str, dim: usize) -> Self {
        Self {
            parts: vec![View {
                name: name.to_owned(),
                dim,
                weight: 1.0,
                kernel: Kernel::Linear,
                columns: None,
            }],
        }
    }

    /// Whether there is one view and its features are used as they are.
    pub fn is_plain(&self) -> bool {
        self.parts.len() == 1 && self.is_linear()
    }

    /// Whether all kernels of views with a positive weight are linear.
    pub fn is_linear(&self) -> bool {
        self.used().all(|(_, view)| view.kernel == Kernel::Linear)
    }

    /// Features of all views together.
    pub fn dim(&self) -> usize {
        self.parts.iter().map(|view| view.dim).sum()
    }

    /// Views with a positive weight, each with the row at which its features begin.
    pub fn used(&self) -> impl Iterator<Item = (usize, &View)> {
        let begin = |at: &mut usize, view: &View| {
            *at += view.dim;
            Some(*at - view.dim)
        };
        let first = self.parts.iter().scan(0, begin);
        first.zip(&self.parts).filter(|(_, view)| view.weight > 0.0)
    }

    /// The features of every view with a positive weight.
    pub(crate) fn split<'a, T>(&self, features: MatRef<'a, T>) -> Vec<MatRef<'a, T>> {
        self.used().map(|(first, view)| features.subrows(first, view.dim)).collect()
    }

    /// The square root of the weight of its view, per feature: the linear kernel of features times these is the weighted
    /// sum of the views' linear kernels. None where a single view is used as it is.
    pub fn scales(&self) -> Option<Vec<f64>> {
        let scale = |view: &View| std::iter::repeat_n(view.weight.sqrt(), view.dim);
        (self.parts.len() > 1).then(|| self.parts.iter().flat_map(scale).collect())
    }

    /// Neighbors in every view with a positive weight, a few of them compared with a plain search. Within classes they are
    /// always exact.
    pub(crate) fn neighbors<T: Scalar>(
        &self,
        features: MatRef<'_, T>,
        labels: &[usize],
        how: (Neighborhood, Search),
        k: usize,
        watch: &dyn Observer,
    ) -> Result<Vec<Neighbors>> {
        let find = |part: MatRef<'_, T>| {
            let (found, outcome) = match how {
                (Neighborhood::Global, Search::Exact) => {
                    let found = backend::exact(part, k, watch);
                    let outcome = neighbors::verify(part, &found, watch);
                    (found, outcome)
                }
                (Neighborhood::Global, Search::Approximate) => {
                    let found = neighbors::approximate(part, k, watch);
                    let outcome = neighbors::recall(part, &found, watch);
                    (found, outcome)
                }
                (Neighborhood::WithinClass, _) => {
                    let found = neighbors::within_labels(part, labels, k, watch);
                    let outcome = neighbors::verify_within_labels(part, labels, &found, watch);
                    (found, outcome)
                }
            };
            Error::unless_cancelled(watch)?;
            outcome.map_err(Error::in_stage("neighbors"))?;
            Ok(found)
        };
        self.split(features).into_iter().map(find).collect()
    }

    /// The weighted mean of the views' graphs of the `k` nearest neighbors; with `labels`, only of edges within a label.
    ///
    /// There is one list per view with a positive weight.
    pub fn graph(
        &self,
        lists: &[&Neighbors],
        k: usize,
        labels: Option<&[usize]>,
        weights: Weights,
    ) -> Affinity {
        let graph = |list: &&Neighbors| Affinity::of_nearest(list, k, labels, weights);
        let mut graphs: Vec<Affinity> = lists.iter().map(graph).collect();
        if graphs.len() == 1 {
            return graphs.swap_remove(0);
        }
        let shares: Vec<f64> = self.used().map(|(_, view)| view.weight).collect();
        Affinity::weighted_mean(&graphs, &shares)
    }
}

/// Fails unless every view is there once and the weights are shares of one.
pub(crate) fn check_choice(chosen: &[ViewChoice]) -> Result<()> {
    for (index, view) in chosen.iter().enumerate() {
        if chosen[..index].iter().any(|earlier| earlier.name == view.name) {
            return Err(Error::Setting {
                setting: "visual representations",
                expected: "different from each other".into(),
                found: format!("`{}` twice", view.name),
            });
        }
    }
    let sum: f64 = chosen.iter().map(|view| view.weight).sum();
    if chosen.iter().all(|view| view.weight >= 0.0) && (sum - 1.0).abs() < 1e-9 {
        return Ok(());
    }
    let (names, weights) = chosen.iter().map(|view| (view.name.clone(), view.weight)).unzip();
    Err(Error::Weights { setting: "view_weights", names, weights })
}
