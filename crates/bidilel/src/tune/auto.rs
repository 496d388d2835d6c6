//! The choice among pipelines: which normalization, learner and embedder, and whether to refine.
//!
//! Every pipeline is tried with a few values of what matters most to it. The best of every learner that comes within one
//! standard error of the best of all are tuned: one setting at a time, the embedder by a small grid, the weights of semantic
//! representations. Those that are within one standard error then are tried with every refiner, and label propagation after
//! the refiner that was chosen. What is fixed stays, and of a list that is given one value is chosen: a list stands for the
//! values that are tried otherwise.
//!
//! The highest mean wins: pipelines differ by more than values of one setting do, and the paper's with its defaults is
//! one of them. How sure the choice is against that one is said in the end.
//!
//! What is not tried: `lpp`, `pca` and `none` as learners, and support vector regression, for which kernel ridge regression
//! stands.

use bidilel_math::Scalar;

use serde_json::Value;

use super::grid::{self, Axis, distinct, product, set};
use super::search::Search;
use super::{Plan, Scored, Stage};
use crate::error::Result;
use crate::settings::{BottomUpName, PostName, Settings};

/// The normalizations that are tried.
const NORMALIZATIONS: [&str; 2] = ["l2", "power"];
/// The embedders of the first stage.
const FIRST_EMBEDDERS: [&str; 2] = ["lsm", "krr"];
/// Those that a pipeline is tuned with.
const EMBEDDERS: [&str; 3] = ["lsm", "lsm+krr", "krr"];
/// Settings that stages before refinement vary by themselves.
const PIPELINE: [&str; 10] = [
    "normalize",
    "bottom_up",
    "alpha",
    "ridge",
    "dim",
    "neighbors",
    "top_down",
    "krr_ridge",
    "krr_width",
    "gamma",
];

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
    let weighed = search.plan.axes.iter().any(|axis| axis.name == "semantic_weights");
    let finalists = finalists(search, &leaders, several && open && !weighed)?;
    let chosen = match asked_refiners(search, &finalists)? {
        Some(batch) => {
            // Where a budget ends here, one without refiners was scored already.
            let known = |one: &&Settings| !search.scored(Stage::Post, one).scores.is_empty();
            let current = batch.iter().find(known).unwrap_or(&batch[0]).clone();
            search.stage(Stage::Post, batch, &current, None)?
        }
        None => refined(search, &finalists)?,
    };
    let own = of_learner(&finalists, &chosen).clone();
    let chosen = refiners_tuned(search, &own, chosen)?;
    if search.plan.base.post.is_none() && !chosen.post().is_empty() {
        search.inductive = Some(own);
    }
    let learner = chosen.bottom_up;
    search.curves.retain(|curve| curve.points.iter().all(|one| one.settings.bottom_up == learner));
    Ok(chosen)
}

/// The finalists with the refiners that are fixed or listed; none where nobody says which.
fn asked_refiners<T: Scalar>(
    search: &Search<'_, T>,
    finalists: &[Settings],
) -> Result<Option<Vec<Settings>>> {
    if let Some(post) = &search.plan.base.post {
        let with = |one: &Settings| Settings { post: Some(post.clone()), ..one.clone() };
        return Ok(Some(finalists.iter().map(with).collect()));
    }
    let Some(listed) = search.plan.axes.iter().find(|axis| axis.name == "post") else { return Ok(None) };
    let each: Vec<Vec<Settings>> = finalists.iter().map(|one| listed.over(one)).collect::<Result<_>>()?;
    Ok(Some(each.concat()))
}

/// The best of the values that are listed for settings of the chosen refiners, one setting at a time.
fn refiners_tuned<T: Scalar>(
    search: &mut Search<'_, T>,
    inductive: &Settings,
    mut chosen: Settings,
) -> Result<Settings> {
    let listed: Vec<Axis> = search.plan.axes.iter().filter(|axis| axis.name != "post").cloned().collect();
    for axis in listed {
        // What matters without refiners was chosen without them.
        if distinct(axis.over(inductive)?).len() == 1 {
            chosen = search.one(&axis, &chosen)?;
        }
    }
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
        Axis::new("top_down", &FIRST_EMBEDDERS),
    ]
}

/// Every normalization with every learner and embedder, at a few values of what matters most.
fn pipelines<T: Scalar>(search: &Search<'_, T>, base: &Settings) -> Result<Vec<Settings>> {
    let mut batch = Vec::new();
    for normalize in values(search, "normalize", &NORMALIZATIONS) {
        let normalized = set(base, "normalize", &normalize)?;
        for learner in values(search, "bottom_up", &learners().map(|(learner, _)| learner)) {
            let own = learners().into_iter().find(|(name, _)| learner == *name);
            let axes = own.map(|(_, axes)| axes).unwrap_or_default();
            let learned = set(&normalized, "bottom_up", &learner)?;
            for learned in product(&learned, &search.wanted(axes))? {
                for embedder in values(search, "top_down", &FIRST_EMBEDDERS) {
                    let with = set(&learned, "top_down", &embedder)?;
                    if regresses(&embedder) {
                        let axes = [Axis::new("krr_ridge", &[0.03, 0.3]), Axis::new("krr_width", &[0.25])];
                        batch.extend(product(&on_sphere(&with), &search.wanted(axes.to_vec()))?);
                    } else {
                        batch.push(with);
                    }
                }
            }
        }
    }
    Ok(batch)
}

/// The values of a setting that are tried: the fixed one, those that are listed, or the usual ones.
fn values<T: Scalar>(search: &Search<'_, T>, name: &str, usual: &[&str]) -> Vec<Value> {
    if let Some(fixed) = search.plan.base.entries().remove(name) {
        return vec![fixed];
    }
    let listed = search.plan.axes.iter().find(|axis| axis.name == name);
    listed.map_or_else(|| usual.iter().map(|&value| value.into()).collect(), |axis| axis.values.clone())
}

/// Whether an embedder is a kernel ridge regression, alone or beside the mapping.
fn regresses(embedder: &Value) -> bool {
    embedder.as_str().is_some_and(|name| name.ends_with("krr"))
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
    let mut learners: Vec<Option<BottomUpName>> = Vec::new();
    for one in batch {
        if !learners.contains(&one.bottom_up) {
            learners.push(one.bottom_up);
        }
    }
    for learner in learners {
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
        let weights = [Axis::new("gamma", &[0.2, 0.35, 0.5, 0.65, 0.8])];
        let weights = if several { search.wanted(weights.to_vec()) } else { Vec::new() };
        for axis in weights.into_iter().chain(others(search)) {
            current = search.one(&axis, &current)?;
        }
        tuned.push(current);
    }
    // A budget may end before the last is tuned, and in the first stage before anything is scored.
    let judged: Vec<Scored> = tuned.iter().map(|one| search.scored(Stage::Fine, one)).collect();
    let best = Scored::best(&judged).map_or_else(|_| leaders[0].clone(), |best| best.settings.clone());
    let mut finalists = vec![best.clone()];
    for one in tuned {
        if one != best && is_close(search, &one, &best)? {
            finalists.push(one);
        }
    }
    Ok(finalists)
}

/// The lists of values of settings that the search does not vary otherwise. Those of refiners make no difference yet.
fn others<T: Scalar>(search: &Search<'_, T>) -> Vec<Axis> {
    let axes = search.plan.axes.iter();
    axes.filter(|axis| axis.name != "post" && !PIPELINE.contains(&&axis.name[..])).cloned().collect()
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
    let Plan { base, axes, .. } = search.plan;
    // Ridge and width by leaving classes out are none of a list.
    let listed = axes.iter().any(|axis| ["krr_ridge", "krr_width"].contains(&&axis.name[..]));
    for embedder in values(search, "top_down", &EMBEDDERS) {
        let with = set(best, "top_down", &embedder)?;
        let with = Settings { krr_ridge: base.krr_ridge, krr_width: base.krr_width, ..with };
        if !(listed && regresses(&embedder)) {
            batch.push(with.clone());
        }
        if regresses(&embedder) {
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
