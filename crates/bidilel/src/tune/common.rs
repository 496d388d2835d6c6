//! What settings have in common.

use bidilel_math::{Check, Observer};

use crate::bottom_up::{BottomUp, DEFAULT_DIM, Locality, Neighborhood, Search};
use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::settings::Settings;

/// What the graph of a locality preserving projection depends on.
#[derive(Clone, PartialEq)]
pub(crate) struct GraphKey {
    pub(crate) supervised: bool,
    pub(crate) neighborhood: Neighborhood,
    /// All that is not alpha or dim; these are zeroed.
    pub(crate) locality: Locality,
}

/// Indices with equal keys, in the order in which keys first appear.
pub(crate) fn groups<K: PartialEq>(indices: &[usize], key: impl Fn(usize) -> K) -> Vec<(K, Vec<usize>)> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for &index in indices {
        let key = key(index);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(index),
            None => groups.push((key, vec![index])),
        }
    }
    groups
}

pub(crate) fn graph_key(learner: &BottomUp) -> Option<GraphKey> {
    let common = |locality: &Locality| Locality { alpha: 0.0, dim: None, ..locality.clone() };
    match learner {
        BottomUp::Slpp(slpp) => Some(GraphKey {
            supervised: true,
            neighborhood: slpp.neighborhood,
            locality: common(&slpp.locality),
        }),
        BottomUp::Lpp(lpp) => Some(GraphKey {
            supervised: false,
            neighborhood: Neighborhood::Global,
            locality: common(&lpp.locality),
        }),
        _ => None,
    }
}

/// Fails where neighbours are to be approximate.
///
/// The lists over all instances are shared by the folds, and filtered for each: what is missing from them would be
/// missing otherwise than in a fit of its own.
pub(crate) fn check_search(batch: &[Settings]) -> Result<()> {
    if batch.iter().any(|settings| settings.effective().search == Some(Search::Approximate)) {
        return Err(Error::ApproximateFolds);
    }
    Ok(())
}

/// The neighbours that a learner asks of the pool's lists.
pub(crate) fn lists_of(learner: &BottomUp) -> Option<(Neighborhood, usize)> {
    graph_key(learner).map(|key| (key.neighborhood, key.locality.neighbors))
}

pub(crate) fn alpha(learner: &BottomUp) -> Option<f64> {
    match learner {
        BottomUp::Slpp(slpp) => Some(slpp.locality.alpha),
        BottomUp::Lpp(lpp) => Some(lpp.locality.alpha),
        _ => None,
    }
}

pub(crate) fn asked_dim(learner: &BottomUp) -> Option<usize> {
    match learner {
        BottomUp::Slpp(slpp) => slpp.locality.dim,
        BottomUp::Lpp(lpp) => lpp.locality.dim,
        BottomUp::Pca(pca) => pca.dim,
        BottomUp::Lda(lda) => lda.dim,
        BottomUp::Cca(cca) => cca.dim,
        BottomUp::None(_) => None,
    }
}

pub(crate) fn with_dim(learner: &BottomUp, dim: Option<usize>) -> BottomUp {
    let mut learner = learner.clone();
    match &mut learner {
        BottomUp::Slpp(slpp) => slpp.locality.dim = dim,
        BottomUp::Lpp(lpp) => lpp.locality.dim = dim,
        BottomUp::Pca(pca) => pca.dim = dim,
        BottomUp::Lda(lda) => lda.dim = dim,
        BottomUp::Cca(cca) => cca.dim = dim,
        BottomUp::None(_) => {}
    }
    learner
}

/// The dimensions that a pipeline uses of `most`.
pub(crate) fn dim(pipeline: &Pipeline, most: usize) -> usize {
    let default = match pipeline.bottom_up {
        BottomUp::Slpp(_) | BottomUp::Lpp(_) => DEFAULT_DIM,
        _ => most,
    };
    asked_dim(&pipeline.bottom_up).unwrap_or(default).min(most)
}

/// Hands on remarks and checks only: stages of parallel work would be a jumble.
pub(crate) struct NotesOnly<'a>(pub(crate) &'a dyn Observer);

impl Observer for NotesOnly<'_> {
    fn check(&self, check: &Check) {
        self.0.check(check);
    }

    fn note(&self, message: &str) {
        self.0.note(message);
    }
}
