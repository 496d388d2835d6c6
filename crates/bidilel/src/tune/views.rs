//! Which views to use together: Algorithm 2 of the paper, started by cross-validation on known classes.
//!
//! Every view is scored alone on folds of the known classes; the best is taken first, then always the one that is most
//! complementary to those taken ([`crate::visual::select`]). Views are looked at one after another, so that only one is
//! in memory, and its neighbor lists serve the folds and the complementarity alike.

use std::sync::Arc;

use bidilel_math::Observer;
use bidilel_math::statistics::Summary;

use super::{Evaluator, Forgetful};
use crate::bottom_up::Neighborhood;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::split::Trial;
use crate::visual::{Pairs, Selection, Until, select};

/// Views in the order in which to take them.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenViews {
    /// Per-class accuracy of every view alone on every fold.
    pub validation: Vec<Vec<f64>>,
    /// Same-class neighbor pairs of every view.
    pub pairs: Vec<usize>,
    /// The order, by number.
    pub selection: Selection,
}

/// Orders views on known classes of `trial`; `k` neighbors make the pairs. All of `bases` name the same views and
/// normalize them alike: each gets an order of its own, from one look at every view.
///
/// # Errors
/// What the first view that cannot be used fails with.
pub fn choose_views(
    dataset: &Arc<Dataset>,
    trial: &Trial,
    folds: &[Trial],
    bases: &[Settings],
    (k, until): (usize, Until),
    seed: u64,
    watch: &dyn Observer,
) -> Result<Vec<ChosenViews>> {
    let names = bases.first().and_then(|base| base.visual.clone()).unwrap_or_default();
    if names.is_empty() {
        let expected = "at least one visual representation".into();
        return Err(Error::Setting { setting: "visual", expected, found: "none".to_owned() });
    }
    let (mut validation, mut pairs) = (vec![Vec::new(); bases.len()], Vec::new());
    for name in &names {
        let alone: Vec<Settings> =
            bases.iter().map(|base| base.with_views(std::slice::from_ref(name))).collect();
        let choice = alone[0].choice(dataset)?;
        let mut evaluator = Evaluator::new(Arc::clone(dataset), trial, folds.to_vec(), &choice, seed, watch)?;
        // Lists for several folds are longer: those for the pairs are their beginnings.
        if folds.len() > 1 {
            evaluator.prepare(&alone, watch)?;
        }
        evaluator.pool.prepare_all(Neighborhood::Global, k, 0.0, watch)?;
        let found = evaluator.pool.pairs(k).swap_remove(0);
        let scores = evaluator.score(&alone, 0..folds.len(), &Forgetful, watch)?;
        scores.failures.into_iter().next().map_or(Ok(()), |(_, failure)| Err(failure))?;
        for (base, scores) in validation.iter_mut().zip(scores.values) {
            base.push(scores.into_iter().flatten().collect());
        }
        pairs.push(found);
    }
    let chosen = |validation: Vec<Vec<f64>>| {
        let means: Vec<f64> = validation.iter().map(|scores| Summary::of(scores).mean).collect();
        let better = |best: usize, next: usize| if means[next] > means[best] { next } else { best };
        let start = (0..names.len()).reduce(better).unwrap_or(0);
        let selection = select(&pairs, start, until);
        ChosenViews { validation, pairs: pairs.iter().map(Pairs::len).collect(), selection }
    };
    Ok(validation.into_iter().map(chosen).collect())
}

impl Settings {
    /// The same settings over some of the views, all of the same weight.
    #[must_use]
    pub fn with_views(&self, names: &[String]) -> Self {
        let own = |text: &&String| match text.rsplit_once('=') {
            Some((name, _)) => names.iter().any(|other| other == name),
            None => true,
        };
        let kernel = self.kernel.as_ref().map(|all| all.iter().filter(own).cloned().collect::<Vec<_>>());
        Self {
            visual: Some(names.to_vec()),
            view_weights: None,
            kernel: kernel.filter(|kernel| !kernel.is_empty()),
            ..self.clone()
        }
    }
}
