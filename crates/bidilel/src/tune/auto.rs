//! The choice among pipelines: which learner, which embedder, whether to refine.
//!
//! Every pipeline is tried with a few values of what matters most to it; then the winner is tuned one setting at a
//! time, as in the paper; then refiners are tried on it.

use bidilel_math::Scalar;

use super::Stage;
use super::grid::{self, Axis, product, set};
use super::search::Search;
use crate::error::Result;
use crate::settings::{PostName, Settings};

/// The embedders that are tried.
const EMBEDDERS: [&str; 3] = ["lsm", "svr", "lsm+svr"];

pub(super) fn run<T: Scalar>(search: &mut Search<'_, T>) -> Result<Settings> {
    let base = Settings { post: None, ..search.plan.base.clone() };
    let mut batch = Vec::new();
    for (learner, axes) in learners() {
        let Some(with) = fixed_or(&base, "bottom_up", learner)? else { continue };
        for embedder in EMBEDDERS {
            let Some(with) = fixed_or(&with, "top_down", embedder)? else { continue };
            batch.extend(product(&with, &search.wanted(axes.clone()))?);
        }
    }
    search.evaluator.prepare(&Axis::new("neighbors", &[10, 30]).over(&base)?, search.watch)?;
    let names = learners().map(|(learner, _)| learner);
    let mut axes = vec![Axis::new("bottom_up", &names), Axis::new("top_down", &EMBEDDERS)];
    axes.extend(learners().into_iter().flat_map(|(_, axes)| axes).chain(fine()));
    let mut axes = search.wanted(axes);
    axes.extend(search.plan.axes.iter().cloned());
    search.begin(&base, &axes)?;
    let mut best = search.stage(Stage::Pipelines, batch, &base, None)?;
    for axis in search.wanted(fine()) {
        best = search.one(&axis, &best)?;
    }
    best = search.settle(best, None)?;
    match &search.plan.base.post {
        None => {
            let with = refined(search, &best)?;
            let chosen = search.settle(with, Some(&best))?;
            let before = std::mem::replace(&mut best, chosen);
            search.inductive = (before.post != best.post).then_some(before);
        }
        fixed => best.post.clone_from(fixed),
    }
    search.fuse(&grid::gamma(), best)
}

/// The learners with the settings that matter most to each.
fn learners() -> [(&'static str, Vec<Axis>); 6] {
    let dims = || Axis::new("dim", &[100, 200]);
    let ridges = || Axis::new("ridge", &[0.1, 1.0, 10.0]);
    [
        ("slpp", vec![Axis::new("alpha", &[1.0, 10.0, 100.0]), dims()]),
        ("lpp", vec![Axis::new("alpha", &[10.0, 100.0]), dims()]),
        ("pca", vec![dims()]),
        ("lda", vec![ridges()]),
        ("cca", vec![ridges(), Axis::new("dim", &[50, 100])]),
        ("none", Vec::new()),
    ]
}

/// One setting at a time; what has no say in the winner is passed over.
fn fine() -> Vec<Axis> {
    let mut axes = grid::fine();
    axes.truncate(3);
    axes.insert(1, Axis::new("ridge", &[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]));
    axes.push(Axis::new("svr_c", &[0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]));
    axes.push(Axis::new("svr_epsilon", &[0.001, 0.003, 0.01, 0.03, 0.1]));
    axes
}

fn refined<T: Scalar>(search: &mut Search<'_, T>, best: &Settings) -> Result<Settings> {
    let mut batch = vec![best.clone()];
    for count in grid::self_training().values {
        let with = Settings { post: Some(vec![PostName::SelfTraining]), ..best.clone() };
        batch.push(set(&with, "self_training_neighbors", &count)?);
    }
    batch.push(Settings { post: Some(vec![PostName::Structured]), ..best.clone() });
    search.stage(Stage::Post, batch, best, None)
}

/// The settings with `value`; nothing where another value is fixed.
fn fixed_or(base: &Settings, name: &str, value: &str) -> Result<Option<Settings>> {
    match base.entries().get(name) {
        Some(fixed) if fixed != value => Ok(None),
        _ => set(base, name, &value.into()).map(Some),
    }
}
