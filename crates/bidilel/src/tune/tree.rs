//! What the settings of a batch have in common, as a tree.
//!
//! | level | computed once per fold and node |
//! | --- | --- |
//! | views and fusion | the fused kernel, where the problem is not solved in the visual dimensions |
//! | learner | one pair of scatter matrices, where it has a graph |
//! | alpha | one space at the largest dim |
//! | dim | landmarks in the leading dimensions |
//! | semantics and embedder | one embedding, from which all refiners start |
//!
//! The tree depends on the whole batch and never on which scores are known, so a resumed search computes the same bits.

use crate::bottom_up::{BottomUp, DEFAULT_DIM, Locality, Neighborhood};
use crate::pipeline::Pipeline;
use crate::top_down::TopDown;
use crate::visual::{Fusion, Views};

/// Settings, by their index in the batch, that have `key` in common.
pub(super) struct Node<K, C> {
    pub(super) key: K,
    pub(super) settings: Vec<usize>,
    pub(super) children: Vec<C>,
}

/// How the scores of some settings are found.
pub(super) enum Branch {
    /// They are settings of the pipeline over the same views, and share their work.
    Shared(ViewsNode),
    /// Each is fitted by itself ([`super::naive`]).
    Whole(Vec<usize>),
}

pub(super) type ViewsNode = Node<ViewsKey, LearnerNode>;
pub(super) type LearnerNode = Node<LearnerKey, SpaceNode>;
/// By alpha, where the learner has one.
pub(super) type SpaceNode = Node<Option<f64>, DimNode>;
/// By the most latent dimensions that are used.
pub(super) type DimNode = Node<usize, EmbedderNode>;
/// By semantic representations and embedder.
pub(super) type EmbedderNode = Node<(usize, TopDown), ()>;

/// What the features of a learner depend on.
#[derive(PartialEq)]
pub(super) struct ViewsKey {
    pub(super) views: Views,
    pub(super) fusion: Fusion,
    pub(super) direct: bool,
}

/// What a latent space depends on besides alpha and dim.
#[derive(PartialEq)]
pub(super) struct LearnerKey {
    /// With alpha and dim left out.
    pub(super) learner: BottomUp,
    /// The semantic representations, where the learner looks at them.
    pub(super) semantics: Option<usize>,
    /// Whether it learns all dimensions that there are: fewer may cost less.
    all_dims: bool,
}

/// A setting as the executor needs it.
pub(super) struct Setting {
    pub(super) pipeline: Pipeline,
    pub(super) views: Views,
    /// The index of its semantic representations among those of the batch.
    pub(super) semantics: usize,
    /// The most dims that were asked of its space so far, known scores included; none where it learns all that there are.
    pub(super) asked: Option<usize>,
}

/// The graph that a learner asks for.
pub(super) struct GraphSettings<'a> {
    pub(super) locality: &'a Locality,
    pub(super) neighborhood: Neighborhood,
    pub(super) supervised: bool,
}

impl<'a> GraphSettings<'a> {
    pub(super) fn of(learner: &'a BottomUp) -> Option<Self> {
        let (locality, neighborhood, supervised) = match learner {
            BottomUp::Slpp(slpp) => (&slpp.locality, slpp.neighborhood, true),
            BottomUp::Lpp(lpp) => (&lpp.locality, Neighborhood::Global, false),
            _ => return None,
        };
        Some(Self { locality, neighborhood, supervised })
    }
}

/// The tree over those of some settings that share their work.
pub(super) fn tree(settings: &[Setting], shared: Vec<usize>) -> Vec<Branch> {
    let parts: Vec<_> = settings.iter().map(|setting| parts(&setting.pipeline.bottom_up)).collect();
    let views = |i: usize| {
        let Setting { pipeline, views, .. } = &settings[i];
        let direct = pipeline.bottom_up.is_direct();
        ViewsKey { views: views.clone(), fusion: pipeline.fusion.clone(), direct }
    };
    let learner = |i: usize| LearnerKey {
        learner: parts[i].0.clone(),
        semantics: parts[i].0.learner().reads_semantics().then_some(settings[i].semantics),
        all_dims: parts[i].2 == usize::MAX,
    };
    let embedder = |i: usize| (settings[i].semantics, settings[i].pipeline.top_down.clone());
    let nodes = nodes(shared, views, |members| {
        nodes(members, learner, |members| {
            nodes(
                members,
                |i| parts[i].1,
                |members| nodes(members, |i| parts[i].2, |members| nodes(members, embedder, |_| Vec::new())),
            )
        })
    });
    nodes.into_iter().map(Branch::Shared).collect()
}

/// One node per key, in the order in which keys first appear.
fn nodes<K: PartialEq, C>(
    members: Vec<usize>,
    key: impl Fn(usize) -> K,
    children: impl Fn(Vec<usize>) -> Vec<C>,
) -> Vec<Node<K, C>> {
    let mut nodes: Vec<Node<K, C>> = Vec::new();
    for setting in members {
        let key = key(setting);
        match nodes.iter_mut().find(|node| node.key == key) {
            Some(node) => node.settings.push(setting),
            None => nodes.push(Node { key, settings: vec![setting], children: Vec::new() }),
        }
    }
    nodes.iter_mut().for_each(|node| node.children = children(node.settings.clone()));
    nodes
}

/// A learner without alpha and dim, its alpha, and the most dimensions that are used of its space.
pub(super) fn parts(learner: &BottomUp) -> (BottomUp, Option<f64>, usize) {
    let mut learner = learner.clone();
    let own = learner.learner_mut();
    let alpha = own.alpha().map(|alpha| std::mem::replace(alpha, 0.0));
    let default = if alpha.is_some() { DEFAULT_DIM } else { usize::MAX };
    let dim = own.dim().and_then(Option::take).unwrap_or(default);
    (learner, alpha, dim)
}
