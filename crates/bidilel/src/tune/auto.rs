//! The choice among pipelines: which normalization, learner and embedder, and whether to refine.
//!
//! Every pipeline is tried with a few values of what matters most to it; then the winner is tuned, one setting or one
//! small grid at a time; then the weights of semantic representations; then refiners are tried on it, and label propagation
//! after the refiner that was chosen. What is fixed stays.
//!
//! The highest mean wins: pipelines differ by more than values of one setting do, and the paper's with its defaults is
//! one of them. How sure the choice is against that one is said in the end.
//!
//! What is not tried: `lpp`, `pca` and `none` as learners, and support vector regression, for which kernel ridge regression
//! stands.

use bidilel_math::Scalar;

use super::Stage;
use super::grid::{self, Axis, product, set};
use super::search::Search;
use crate::error::Result;
use crate::settings::{PostName, Settings};

/// The normalizations that are tried.
const NORMALIZATIONS: [&str; 2] = ["l2", "power"];

pub(super) fn run<T: Scalar>(search: &mut Search<'_, T>) -> Result<Settings> {
    // Embedders join semantic representations in ways of their own: they are judged together from the beginning.
    let several = search.plan.base.semantic.as_ref().is_some_and(|names| names.len() == 2);
    let open = !std::mem::take(&mut search.singles).is_empty();
    let base = Settings { post: None, ..search.plan.base.clone() };
    let batch = pipelines(search, &base)?;
    let mut axes = choices().to_vec();
    axes.extend(learners().into_iter().flat_map(|(_, axes)| axes).chain(fine()));
    let mut axes = search.wanted(axes);
    axes.extend(search.plan.axes.iter().cloned());
    search.begin(&base, &axes)?;
    let mut best = search.stage(Stage::Pipelines, batch, &base, None)?;
    for axis in search.wanted(fine()) {
        best = search.one(&axis, &best)?;
    }
    let embedders = embedders(search, &best)?;
    best = search.stage(Stage::Fine, embedders, &best, None)?;
    if several && open {
        best = search.one(&Axis::new("gamma", &[0.2, 0.35, 0.5, 0.65, 0.8]), &best)?;
    }
    match &search.plan.base.post {
        None => {
            let chosen = refined(search, &best)?;
            search.inductive = (best.post != chosen.post).then_some(best);
            Ok(chosen)
        }
        fixed => {
            best.post.clone_from(fixed);
            Ok(best)
        }
    }
}

/// What distinguishes pipelines, with the values of the paper's among others.
fn choices() -> [Axis; 3] {
    [
        Axis::new("normalize", &NORMALIZATIONS),
        Axis::new("bottom_up", &learners().map(|(learner, _)| learner)),
        Axis::new("top_down", &["lsm", "krr"]),
    ]
}

/// Every normalization with every learner and embedder, at a few values of what matters most.
fn pipelines<T: Scalar>(search: &Search<'_, T>, base: &Settings) -> Result<Vec<Settings>> {
    let mut batch = Vec::new();
    for normalize in NORMALIZATIONS {
        let Some(normalized) = fixed_or(base, "normalize", normalize)? else { continue };
        for (learner, axes) in learners() {
            let Some(learned) = fixed_or(&normalized, "bottom_up", learner)? else { continue };
            for learned in product(&learned, &search.wanted(axes))? {
                if let Some(mapped) = fixed_or(&learned, "top_down", "lsm")? {
                    batch.push(mapped);
                }
                if let Some(regressed) = fixed_or(&learned, "top_down", "krr")? {
                    let axes = [Axis::new("krr_ridge", &[0.03, 0.3]), Axis::new("krr_width", &[0.25])];
                    batch.extend(product(&on_sphere(&regressed), &search.wanted(axes.to_vec()))?);
                }
            }
        }
    }
    // An embedder that is fixed and none of these.
    if batch.is_empty() {
        batch.push(base.clone());
    }
    Ok(batch)
}

/// The learners with the settings that matter most to each.
fn learners() -> [(&'static str, Vec<Axis>); 4] {
    let dims = || Axis::new("dim", &[50, 100]);
    [
        ("slpp", vec![Axis::new("alpha", &[10.0]), dims()]),
        ("lda", vec![Axis::new("ridge", &[0.1, 1.0, 10.0]), dims()]),
        ("cca", vec![Axis::new("ridge", &[0.3, 1.0, 3.0]), dims()]),
        ("cca+lda", vec![Axis::new("ridge", &[1.0, 3.0, 10.0]), dims()]),
    ]
}

/// One setting at a time; what has no say in the winner is passed over.
fn fine() -> Vec<Axis> {
    vec![
        Axis::new("alpha", &[1.0, 3.0, 10.0, 30.0, 100.0]),
        Axis::new("ridge", &[0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]),
        Axis::new("dim", &[20, 30, 50, 70, 100, 120, 150, 200]),
        Axis::new("neighbors", &[5, 10, 15, 20, 30]),
    ]
}

/// Every way to embed the classes in the space of `best`.
fn embedders<T: Scalar>(search: &Search<'_, T>, best: &Settings) -> Result<Vec<Settings>> {
    let mut batch = vec![best.clone()];
    let base = &search.plan.base;
    for embedder in ["lsm", "lsm+krr", "krr"] {
        if base.top_down.is_some() && set(base, "top_down", &embedder.into())? != *base {
            continue;
        }
        let with = set(best, "top_down", &embedder.into())?;
        let with = Settings { krr_ridge: base.krr_ridge, krr_width: base.krr_width, ..with };
        batch.push(with.clone());
        if embedder != "lsm" {
            let axes = [
                Axis::new("krr_ridge", &[0.003, 0.01, 0.03, 0.1, 0.3, 1.0]),
                Axis::new("krr_width", &[0.125, 0.25, 0.5, 1.0]),
            ];
            batch.extend(product(&on_sphere(&with), &search.wanted(axes.to_vec()))?);
        }
    }
    Ok(batch)
}

/// The best without refinement, with each refiner, or as the refiners are fixed.
///
/// Shares of the classes that are held divide an uneven batch wrongly, however sure they look on even folds: they are
/// left free unless holding them is better by more than noise.
fn refined<T: Scalar>(search: &mut Search<'_, T>, best: &Settings) -> Result<Settings> {
    let with = |refiner: PostName| Settings { post: Some(vec![refiner]), ..best.clone() };
    let mut batch = vec![best.clone(), with(PostName::Structured)];
    batch.extend(product(&with(PostName::SelfTraining), &search.wanted(vec![grid::self_training()]))?);
    let balanced = |strengths: &[f64]| {
        let axes = vec![
            Axis::new("balanced_strength", strengths),
            Axis::new("balanced_temperature", &[0.03, 0.05, 0.08]),
            Axis::new("balanced_pull", &[0.1, 0.3, 1.0, 2.0]),
        ];
        product(&with(PostName::Balanced), &search.wanted(axes))
    };
    let held = balanced(&[0.5, 1.0])?;
    batch.extend(balanced(&[0.0])?);
    let free = search.stage(Stage::Post, batch, best, None)?;
    search.tried.clear();
    let held = search.stage(Stage::Post, held, &free, None)?;
    let [with, without] = [&held, &free].map(|one| search.scored(Stage::Post, one).mean);
    let chosen = if with > without { search.settle(held, Some(&free))? } else { free };
    propagated(search, &chosen)
}

/// What was chosen, or the same with label propagation after it, whichever has the highest mean.
///
/// Its gain is small and of one sign: a choice by more than noise would pass over it on folds of few classes, and on folds
/// that were left out of the choice the highest mean did better (`docs/decisions/2026-11-18-label-propagation.md`).
fn propagated<T: Scalar>(search: &mut Search<'_, T>, chosen: &Settings) -> Result<Settings> {
    let mut post = chosen.post.clone().unwrap_or_default();
    post.push(PostName::Propagation);
    let with = Settings { post: Some(post), ..chosen.clone() };
    let mut batch = vec![chosen.clone()];
    batch.extend(product(&with, &search.wanted(vec![Axis::new("propagation_weight", &[0.3, 0.5, 0.7])]))?);
    search.stage(Stage::Post, batch, chosen, None)
}

/// Embeddings where the points live, unless it was said otherwise.
fn on_sphere(settings: &Settings) -> Settings {
    Settings { unit_embedding: settings.unit_embedding.or(Some(true)), ..settings.clone() }
}

/// The settings with `value`; nothing where another value is fixed.
fn fixed_or(base: &Settings, name: &str, value: &str) -> Result<Option<Settings>> {
    match base.entries().get(name) {
        Some(fixed) if fixed != value => Ok(None),
        _ => set(base, name, &value.into()).map(Some),
    }
}
