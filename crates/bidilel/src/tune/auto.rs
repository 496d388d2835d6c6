//! The choice among pipelines: which normalization, learner and embedder, and whether to refine.
//!
//! Every pipeline is tried with a few values of what matters most to it. The best of every learner that comes within one
//! standard error of the best of all are tuned: one setting at a time, the embedder by a small grid, the weights of semantic
//! representations. Those that are within one standard error then are tried with every refiner, and label propagation after
//! the refiner that was chosen. What is fixed stays.
//!
//! The highest mean wins: pipelines differ by more than values of one setting do, and the paper's with its defaults is
//! one of them. How sure the choice is against that one is said in the end.
//!
//! What is not tried: `lpp`, `pca` and `none` as learners, and support vector regression, for which kernel ridge regression
//! stands.

use bidilel_math::Scalar;

use super::grid::{self, Axis, product, set};
use super::search::Search;
use super::{Scored, Stage};
use crate::error::Result;
use crate::settings::{BottomUpName, Named, PostName, Settings};

/// The normalizations that are tried.
const NORMALIZATIONS: [&str; 2] = ["l2", "power"];

pub(super) fn run<T: Scalar>(search: &mut Search<'_, T>) -> Result<Settings> {
    // Embedders join semantic representations in ways of their own: they are judged together from the beginning.
    let several = search.plan.base.semantic.as_ref().is_some_and(|names| names.len() == 2);
    let open = !std::mem::take(&mut search.singles).is_empty();
    let base = Settings { post: None, ..search.plan.base.clone() };
    let batch = pipelines(search, &base)?;
    let batch = search.admit(batch);
    let mut axes = choices().to_vec();
    axes.extend(learners().into_iter().flat_map(|(_, axes)| axes).chain(fine()));
    let mut axes = search.wanted(axes);
    axes.extend(search.plan.axes.iter().cloned());
    search.begin(&base, &axes)?;
    let coarse = search.stage(Stage::Pipelines, batch.clone(), &base, None)?;
    let leaders = leaders(search, &batch, &coarse)?;
    let finalists = finalists(search, &leaders, several && open)?;
    let chosen = if let Some(post) = search.plan.base.post.clone() {
        let with = |one: &Settings| Settings { post: Some(post.clone()), ..one.clone() };
        let batch: Vec<Settings> = finalists.iter().map(with).collect();
        search.stage(Stage::Post, batch.clone(), &batch[0], None)?
    } else {
        let chosen = refined(search, &finalists)?;
        let own = of_learner(&finalists, &chosen);
        search.inductive = (own.post != chosen.post).then(|| own.clone());
        chosen
    };
    let learner = chosen.bottom_up;
    search.curves.retain(|curve| curve.points.iter().all(|one| one.settings.bottom_up == learner));
    Ok(chosen)
}

/// The finalist with the learner of `one`: there is one per learner.
fn of_learner<'a>(finalists: &'a [Settings], one: &Settings) -> &'a Settings {
    finalists.iter().find(|own| own.bottom_up == one.bottom_up).unwrap_or(&finalists[0])
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

/// The best of all, then the best of each other learner that is within one standard error of it.
fn leaders<T: Scalar>(
    search: &mut Search<'_, T>,
    batch: &[Settings],
    best: &Settings,
) -> Result<Vec<Settings>> {
    let mut leaders = vec![best.clone()];
    for (learner, _) in learners() {
        let learner = BottomUpName::parse(learner);
        let own = batch.iter().filter(|one| one.bottom_up == learner);
        let own: Vec<Scored> = own.map(|one| search.scored(Stage::Pipelines, one)).collect();
        let Some(leader) = Scored::best(&own).ok().filter(|leader| leader.problem.is_none()) else {
            continue;
        };
        if learner != best.bottom_up && is_close(search, &leader.settings, best)? {
            leaders.push(leader.settings.clone());
        }
    }
    Ok(leaders)
}

/// The best of these pipelines once each is tuned, then those that are still close to it.
///
/// The few values of the first stage may suit one learner and miss what another needs: which is better shows when each has
/// its own.
fn finalists<T: Scalar>(
    search: &mut Search<'_, T>,
    leaders: &[Settings],
    several: bool,
) -> Result<Vec<Settings>> {
    let mut tuned = Vec::new();
    for leader in leaders {
        let mut current = leader.clone();
        for axis in search.wanted(fine()) {
            current = search.one(&axis, &current)?;
        }
        let embedders = embedders(search, &current)?;
        current = search.stage(Stage::Fine, embedders, &current, None)?;
        if several {
            current = search.one(&Axis::new("gamma", &[0.2, 0.35, 0.5, 0.65, 0.8]), &current)?;
        }
        tuned.push(current);
    }
    let best = search.stage(Stage::Fine, tuned.clone(), &leaders[0], None)?;
    let mut finalists = vec![best.clone()];
    for one in tuned {
        if one != best && is_close(search, &one, &best)? {
            finalists.push(one);
        }
    }
    Ok(finalists)
}

/// Whether a setting is within one standard error of the best.
fn is_close<T: Scalar>(search: &mut Search<'_, T>, one: &Settings, best: &Settings) -> Result<bool> {
    Ok(search.paired(best, one)?.is_within_one_error())
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

/// The best of the finalists without refinement, with each refiner, or as the refiners are fixed.
///
/// Pipelines that are alike before refinement may differ by points after it, so that the refined accuracy decides among them.
/// Shares of the classes that are held divide an uneven batch wrongly, however sure they look on even folds: they are
/// left free unless holding them is better by more than noise.
fn refined<T: Scalar>(search: &mut Search<'_, T>, finalists: &[Settings]) -> Result<Settings> {
    let with = |best: &Settings, refiner| Settings { post: Some(vec![refiner]), ..best.clone() };
    let balanced = |search: &Search<'_, T>, best: &Settings, strengths: &[f64]| {
        let axes = vec![
            Axis::new("balanced_strength", strengths),
            Axis::new("balanced_temperature", &[0.03, 0.05, 0.08]),
            Axis::new("balanced_pull", &[0.1, 0.3, 1.0, 2.0]),
        ];
        product(&with(best, PostName::Balanced), &search.wanted(axes))
    };
    let mut batch = finalists.to_vec();
    for best in finalists {
        batch.push(with(best, PostName::Structured));
        batch.extend(product(
            &with(best, PostName::SelfTraining),
            &search.wanted(vec![grid::self_training()]),
        )?);
        batch.extend(balanced(search, best, &[0.0])?);
    }
    let free = search.stage(Stage::Post, batch, &finalists[0], None)?;
    search.tried.clear();
    let held = balanced(search, of_learner(finalists, &free), &[0.5, 1.0])?;
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
