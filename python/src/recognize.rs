//! Recognition of rows that Python lends.

use std::ops::Range;

use bidilel::{Candidates, Error, Map, Mat, Model, Observer, Recognition, Rows, Scores};

use crate::array::Part;
use crate::failure::Failure;

/// Least and most rows that are recognized between two looks at whether to go on.
const POLLED_ROWS: Range<usize> = 64..8_192;
/// Multiply-adds between two looks, within the bounds on rows: a fraction of a second of one processor.
const POLLED_PRODUCTS: usize = 2 << 30;

/// Rows of every view, each with its name for messages.
pub(crate) type Views<'a> = [(&'a dyn Rows, &'a str)];

/// The views of a model, which stand side by side in the rows.
pub(crate) fn with_views<R>(model: &Model, rows: &dyn Rows, use_views: impl FnOnce(&Views<'_>) -> R) -> R {
    let parts = &model.views.parts;
    // Another number of features is refused by the library, in its own words.
    if parts.len() == 1 || rows.dim() != model.views.dim() {
        return use_views(&[(rows, "X")]);
    }
    let firsts = parts.iter().scan(0, |next, view| {
        let first = *next;
        *next += view.dim;
        Some(first)
    });
    let own: Vec<Part<'_>> =
        firsts.zip(parts).map(|(first, view)| Part::new(rows, first, view.dim)).collect();
    let views: Vec<(&dyn Rows, &str)> =
        own.iter().zip(parts).map(|(part, view)| (part as &dyn Rows, view.name.as_str())).collect();
    use_views(&views)
}

/// Rows that are recognized between two looks at whether to go on: few where each is compared with many support instances.
pub(crate) fn polled_rows(model: &Model) -> usize {
    let row = match model.latent().map(|fitted| &fitted.space.map) {
        Ok(Map::Kernel(kernel)) => {
            kernel.views.iter().map(|view| view.support.nrows() * view.support.ncols()).sum()
        }
        Ok(Map::Linear(map) | Map::Several { map, .. }) => map.nrows() * map.ncols(),
        _ => model.views.dim() * (model.known.len() + model.unseen.len()),
    };
    (POLLED_PRODUCTS / row.max(1)).clamp(POLLED_ROWS.start, POLLED_ROWS.end)
}

/// Recognizes rows in blocks in parallel, with the bias of a generalized model where all classes compete.
pub(crate) fn blocks<R: Send>(
    model: &Model,
    rows: &dyn Rows,
    candidates: Candidates,
    watch: &dyn Observer,
    report: impl Fn(Recognition) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    watch.stage("recognize");
    let (known, count) = (model.known.len(), rows.count());
    let bias = model.generalized.as_ref().filter(|_| candidates == Candidates::All);
    let each = |_: usize, found: Recognition| {
        report(match bias {
            Some(biases) => {
                Recognition { scores: found.scores.calibrated(known, biases.inductive), latent: found.latent }
            }
            None => found,
        })
    };
    with_views(model, rows, |views| {
        let (mut all, block) = (Vec::new(), polled_rows(model));
        for first in (0..count).step_by(block) {
            let range = first..count.min(first + block);
            watch.progress(first, count);
            all.extend(model.recognize_among(views, range, candidates, each)?);
            if watch.poll().is_break() {
                return Err(Error::Cancelled.into());
            }
        }
        Ok(all)
    })
}

/// All rows together, before refiners.
pub(crate) fn whole(model: &Model, rows: &dyn Rows, watch: &dyn Observer) -> Result<Recognition, Failure> {
    let (candidates, count) = (model.candidates(), rows.count());
    if let Ok(fitted) = model.latent() {
        return Ok(fitted.nearest(project(model, rows, true, watch)?, candidates));
    }
    watch.stage("recognize");
    let values = gathered(model, model.names(candidates).len(), count, watch, |range| {
        let scores =
            |views: &Views<'_>| model.uncalibrated_views(views, range, |_, found| found.scores.values);
        with_views(model, rows, scores)
    })?;
    Ok(Scores { values }.into())
}

/// Points of rows in the latent space: of unit norm, or centered only.
pub(crate) fn project(
    model: &Model,
    rows: &dyn Rows,
    unit: bool,
    watch: &dyn Observer,
) -> Result<Mat<f64>, Failure> {
    watch.stage("project");
    with_views(model, rows, |views| {
        gathered(model, model.latent()?.space.dim(), rows.count(), watch, |range| {
            let points = if unit {
                model.project_views(views, range)
            } else {
                model.project_views_unnormalized(views, range)
            };
            Ok(vec![points?])
        })
    })
}

/// A matrix with one column per row, from blocks of consecutive rows, between which it may be canceled.
fn gathered(
    model: &Model,
    height: usize,
    count: usize,
    watch: &dyn Observer,
    block: impl Fn(Range<usize>) -> bidilel::Result<Vec<Mat<f64>>>,
) -> Result<Mat<f64>, Failure> {
    let mut all = Mat::zeros(height, count);
    let (mut next, polled) = (0, polled_rows(model));
    for first in (0..count).step_by(polled) {
        watch.progress(first, count);
        for part in block(first..count.min(first + polled))? {
            all.as_mut().subcols_mut(next, part.ncols()).copy_from(&part);
            next += part.ncols();
        }
        if watch.poll().is_break() {
            return Err(Error::Cancelled.into());
        }
    }
    Ok(all)
}
