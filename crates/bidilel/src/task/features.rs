//! Feature rows as learners take them: gathered from where they are stored, checked, normalized view by view.

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use bidilel_math::vector::{all_finite, widen};
use bidilel_math::{Observer, distance};

use super::{Choice, Samples};
use crate::dataset::{Dataset, Rows, Visual};
use crate::error::{Error, Result};
use crate::settings::named;
use crate::visual::{View, ViewChoice, Views, check_choice};

/// Features (visual dimensions x instances) that were checked and normalized as those of a task are.
///
/// Fitted methods take nothing else, so that raw features cannot be scored by mistake: [`super::Samples::prepared`]
/// gives those of a task, [`Model::predict`](crate::model::Model::predict) prepares raw ones.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<'a, T = f32> {
    /// One column per instance.
    pub(crate) features: MatRef<'a, T>,
}

impl<'a, T> Prepared<'a, T> {
    /// The features, one column per instance.
    pub fn features(self) -> MatRef<'a, T> {
        self.features
    }
}

/// The normalization of every visual instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    /// Divided by its l2 norm.
    #[default]
    L2,
    /// Every feature replaced by its signed square root, then divided by the l2 norm: large features count less (F.
    /// Perronnin et al. 2010). It helps features that are never negative, and can cost signed ones.
    Power,
    /// Nothing.
    None,
}

named! { Normalize: "l2" | "power" | "none"; }

impl Normalize {
    /// Normalizes every column; returns how many were zero and stayed so.
    pub(crate) fn apply(self, mut features: MatMut<'_, f32>) -> usize {
        match self {
            Self::L2 => distance::normalize_columns(features),
            Self::Power => {
                features.as_mut().par_col_iter_mut().for_each(|column| column.iter_mut().for_each(power));
                distance::normalize_columns(features)
            }
            Self::None => 0,
        }
    }
}

/// The signed square root.
fn power(value: &mut f32) {
    *value = value.abs().sqrt().copysign(*value);
}

/// The visual representations of a choice, where they are stored.
pub(crate) struct Sources<'a> {
    visual: Vec<&'a Visual>,
    pub(crate) views: Views,
}

impl<'a> Sources<'a> {
    /// Finds and checks them: each once, with one row per label.
    pub(crate) fn new(dataset: &'a Dataset, choice: &Choice) -> Result<Self> {
        let first = [ViewChoice::plain(&dataset.visual(None)?.name)];
        let chosen = if choice.visual.is_empty() { &first[..] } else { &choice.visual[..] };
        check_choice(chosen)?;
        let find = |view: &ViewChoice| dataset.visual(Some(&view.name));
        let visual = chosen.iter().map(find).collect::<Result<Vec<_>>>()?;
        visual.iter().try_for_each(|visual| check_labels(dataset, visual))?;
        let part = |(view, visual): (&ViewChoice, &&Visual)| View {
            name: view.name.clone(),
            dim: visual.rows.dim(),
            weight: view.weight,
            kernel: view.kernel,
            columns: visual.rows.names().map(<[String]>::to_vec),
        };
        let views = Views { parts: chosen.iter().zip(&visual).map(part).collect() };
        Ok(Self { visual, views })
    }

    /// The rows of some instances, checked, normalized view by view and stacked.
    pub(crate) fn features(
        &self,
        instances: &[usize],
        normalize: Normalize,
        watch: &dyn Observer,
    ) -> Result<Mat<f32>> {
        let rows = self.visual.iter().map(|visual| (visual.rows.as_ref(), visual.origin.as_str()));
        let (features, losses) = gather_views(rows, instances, normalize, watch)?;
        self.visual.iter().zip(losses).for_each(|(visual, losses)| losses.note(&visual.origin, watch));
        Ok(features)
    }
}

/// What reading took from a representation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Losses {
    /// Rows that are all zero.
    pub(crate) zero_rows: usize,
    /// Numbers that are too small for `f32`.
    pub(crate) vanished: usize,
}

impl Losses {
    fn note(self, origin: &str, watch: &dyn Observer) {
        let Self { zero_rows, vanished } = self;
        if zero_rows > 0 {
            watch.note(&format!("{origin}: {zero_rows} rows are all zero and stay so"));
        }
        if vanished > 0 {
            watch.note(&format!("{origin}: {vanished} numbers are too small for float32 and read as zero"));
        }
    }
}

/// Rows of several representations, each normalized by itself, stacked; and what was lost of each.
pub(crate) fn gather_views<'r>(
    rows: impl Iterator<Item = (&'r dyn Rows, &'r str)> + Clone,
    instances: &[usize],
    normalize: Normalize,
    watch: &dyn Observer,
) -> Result<(Mat<f32>, Vec<Losses>)> {
    let dim = rows.clone().map(|(rows, _)| rows.dim()).sum();
    let mut features = bidilel_math::parallel::zeros(dim, instances.len());
    let mut rest = features.as_mut();
    let mut losses = Vec::new();
    for (rows, origin) in rows {
        let (mut part, after) = rest.split_at_row_mut(rows.dim());
        let vanished = gather(rows, origin, instances, part.as_mut(), watch)?;
        losses.push(Losses { zero_rows: normalize.apply(part), vanished });
        rest = after;
    }
    Ok((features, losses))
}

impl Samples {
    /// Reads labeled instances from rows that are anywhere in memory, one representation per view, each with its name for
    /// messages: checked, normalized view by view and stacked, as those of a [`Task`](super::Task) are. Nothing of the rows is kept.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of rows than labels; [`Error::NotFinite`], [`Error::OutOfRange`].
    pub fn read(
        views: &[(&dyn Rows, &str)],
        labels: Vec<usize>,
        normalize: Normalize,
        watch: &dyn Observer,
    ) -> Result<Self> {
        for (rows, origin) in views {
            if rows.count() != labels.len() {
                let (origin, what) = ((*origin).to_owned(), "rows (one per label)");
                return Err(Error::Mismatch { origin, what, expected: labels.len(), found: rows.count() });
            }
        }
        let instances: Vec<usize> = (0..labels.len()).collect();
        let (features, losses) = gather_views(views.iter().copied(), &instances, normalize, watch)?;
        views.iter().zip(losses).for_each(|((_, origin), losses)| losses.note(origin, watch));
        Ok(Self { features, labels })
    }
}

fn check_labels(dataset: &Dataset, visual: &Visual) -> Result<()> {
    if visual.rows.count() != dataset.labels.len() {
        return Err(Error::Mismatch {
            origin: visual.origin.clone(),
            what: "rows (one per label)",
            expected: dataset.labels.len(),
            found: visual.rows.count(),
        });
    }
    let classes = dataset.classes.len();
    match dataset.labels.iter().position(|&label| label >= classes) {
        Some(instance) => Err(Error::LabelOutOfRange { label: dataset.labels[instance], instance, classes }),
        None => Ok(()),
    }
}

/// Copies rows into columns, counts numbers that vanish, and fails at the first number that is not finite.
fn gather(
    rows: &dyn Rows,
    origin: &str,
    instances: &[usize],
    into: MatMut<'_, f32>,
    watch: &dyn Observer,
) -> Result<usize> {
    let vanished = AtomicUsize::new(0);
    let read = |(column, &row): (faer::ColMut<'_, f32>, &usize)| {
        Error::unless_cancelled(watch)?;
        let column = column.try_as_col_major_mut().expect("an owned matrix").as_slice_mut();
        read_row(rows, origin, row, column)?;
        vanished.fetch_add(rows.vanished(row, column), Ordering::Relaxed);
        Ok(())
    };
    let failures = into.par_col_iter_mut().zip(instances).map(read).filter_map(Result::err);
    let first_row = |failure: &Error| match failure {
        Error::NotFinite { row, .. } | Error::OutOfRange { row, .. } => *row,
        _ => usize::MAX,
    };
    failures.min_by_key(first_row).map_or(Ok(vanished.load(Ordering::Relaxed)), Err)
}

/// Reads one row, and fails at a number that is not finite.
fn read_row(rows: &dyn Rows, origin: &str, row: usize, into: &mut [f32]) -> Result<()> {
    rows.read(row, into);
    if all_finite(into) { Ok(()) } else { Err(not_finite(rows, origin, row, into)) }
}

fn not_finite(rows: &dyn Rows, origin: &str, row: usize, values: &[f32]) -> Error {
    let column = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
    let (origin, value) = (origin.to_owned(), rows.stored(row, column));
    if value.is_finite() {
        Error::OutOfRange { origin, row, column, value }
    } else {
        Error::NotFinite { origin, row, column, value }
    }
}

/// Reads a block of rows of several representations, stacked, one column per instance, each representation normalized
/// by itself, and widened to `f64`: what [`gather_views`] gives, for a block that fits into the cache.
pub(crate) fn read_views(
    rows: &[(&dyn Rows, &str)],
    first: usize,
    normalize: Normalize,
    into: MatMut<'_, f64>,
) -> Result<()> {
    let mut narrow = vec![0.0_f32; into.nrows()];
    for (row, column) in (first..).zip(into.col_iter_mut()) {
        let column = column.try_as_col_major_mut().expect("blocks are contiguous").as_slice_mut();
        let (mut rest, mut wide) = (narrow.as_mut_slice(), column);
        for &(rows, origin) in rows {
            let (part, after) = rest.split_at_mut(rows.dim());
            let (into, below) = wide.split_at_mut(rows.dim());
            let values = rows.stored_row(row).unwrap_or_else(|| {
                rows.read(row, part);
                part
            });
            let finite = match normalize {
                // The norm of single precision, in double, is finite if all numbers are.
                Normalize::L2 => distance::normalize_into(values, into).is_finite(),
                Normalize::Power => {
                    let mut roots = values.to_vec();
                    roots.iter_mut().for_each(power);
                    distance::normalize_into(&roots, into).is_finite()
                }
                Normalize::None => {
                    widen(values, into);
                    all_finite(values)
                }
            };
            if !finite {
                return Err(not_finite(rows, origin, row, values));
            }
            (rest, wide) = (after, below);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;
    use crate::task::Task;
    use bidilel_math::Silent;

    #[test]
    fn rows_in_memory_become_the_samples_that_a_task_has() {
        let dataset = Synthetic::preset("small").expect("a preset").generate(0).expect("a dataset");
        let trial = &dataset.trials(None).expect("a split")[0];
        let task = Task::new(&dataset, trial, &Choice::default(), &Silent).expect("a task");
        let from = dataset.visual(None).expect("features").rows.as_ref();
        let mut rows = Mat::<f32>::zeros(from.dim(), trial.train.len());
        trial.train.iter().enumerate().for_each(|(i, &row)| from.read(row, rows.col_as_slice_mut(i)));
        let read = |rows: &Mat<f32>, labels| Samples::read(&[(rows, "X")], labels, Normalize::L2, &Silent);
        assert_eq!(read(&rows, task.train.labels.clone()).expect("the same"), task.train);
        let error = read(&rows, vec![0]).expect_err("one label").to_string();
        assert!(error.contains("X: expected 1 rows"), "{error}");
        rows[(1, 2)] = f32::NAN;
        let error = read(&rows, task.train.labels.clone()).expect_err("not finite").to_string();
        assert_eq!(error, "X: row 2, column 1 is NaN");
    }
}
