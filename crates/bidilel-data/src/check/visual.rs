//! One pass over the rows of a visual representation.

use bidilel::dataset::{Rows, Visual};
use bidilel_math::Observer;
use rayon::prelude::*;

use super::duplicates::{Duplicates, Fingerprint};
use super::problem::{Problem, count, place};
use super::scale;
use super::summary::{Distribution, Histogram};
use crate::error::{Error, Result};

/// Rows that a thread reads before it fetches more work.
const BLOCK: usize = 128;

/// A visual representation in numbers; ranges and norms leave out what is not finite.
#[derive(Debug, Clone, serde::Serialize)]
pub struct VisualSummary {
    /// Where it came from.
    pub origin: String,
    /// The type of number that is stored, by NumPy's name.
    pub element: &'static str,
    /// How many rows there are.
    pub instances: usize,
    /// How long they are.
    pub dimensions: usize,
    /// The smallest value.
    pub minimum: Option<f32>,
    /// The largest value.
    pub maximum: Option<f32>,
    /// The share of values that are zero.
    pub sparsity: f64,
    /// The l2 norms of the rows.
    pub norms: Option<Distribution>,
    /// How many rows have which norm.
    pub norm_histogram: Option<Histogram>,
    /// The typical distance of a row from its nearest neighbor among a sample.
    pub neighbor_distance: Option<f64>,
    /// Values that are not zero, but too small for `f32`.
    pub vanished: usize,
    /// Values that are NaN or infinite, as `f32`.
    pub not_finite: usize,
    /// Rows that are all zero.
    pub zero_rows: usize,
    /// Dimensions that have the same value in all rows.
    pub constant_dimensions: usize,
    /// Rows that repeat an earlier row.
    pub duplicates: usize,
    /// Pairs of rows that differ by less than a thousandth of their norm, though not equal.
    pub near_duplicates: usize,
}

pub(super) fn describe(
    visual: &Visual,
    problems: &mut Vec<Problem>,
    watch: &dyn Observer,
) -> Result<(VisualSummary, Duplicates)> {
    let rows = &*visual.rows;
    let mut norms = vec![0.0_f64; rows.count()];
    let mut prints = vec![Fingerprint::default(); rows.count()];
    let totals = norms
        .par_chunks_mut(BLOCK)
        .zip(prints.par_chunks_mut(BLOCK))
        .enumerate()
        .try_fold(
            || Totals::new(rows.dim()),
            |totals, (block, (norms, prints))| {
                Error::where_cancelled(watch)?;
                Ok(totals.add_block(rows, block * BLOCK, norms, prints))
            },
        )
        .try_reduce(|| Totals::new(rows.dim()), |one, other| Ok(one.join(other)))?;
    let duplicates = Duplicates::find(rows, &prints, watch)?;
    let mut finite: Vec<f64> = norms.iter().copied().filter(|norm| norm.is_finite()).collect();
    let constant = totals.constant_dimensions(rows.count());
    let summary = VisualSummary {
        origin: place(&visual.origin),
        element: rows.element(),
        instances: rows.count(),
        dimensions: rows.dim(),
        minimum: totals.minima.iter().copied().min_by(f32::total_cmp).filter(|value| value.is_finite()),
        maximum: totals.maxima.iter().copied().max_by(f32::total_cmp).filter(|value| value.is_finite()),
        sparsity: totals.zeros as f64 / (rows.count() * rows.dim()).max(1) as f64,
        zero_rows: finite.iter().filter(|&&norm| norm <= 0.0).count(),
        norm_histogram: Histogram::of(&finite),
        norms: Distribution::of(&mut finite),
        neighbor_distance: scale::neighbor_distance(rows),
        vanished: totals.vanished,
        not_finite: totals.not_finite,
        constant_dimensions: constant,
        duplicates: duplicates.repeats(),
        near_duplicates: duplicates.near,
    };
    let first = totals.first.map(|(row, column, _)| (row, column, rows.stored(row, column)));
    find_problems(&summary, first, problems);
    Ok((summary, duplicates))
}

fn find_problems(summary: &VisualSummary, first: Option<(usize, usize, f64)>, problems: &mut Vec<Problem>) {
    let at = |detail: String| format!("{}{detail}", summary.origin);
    if let Some((row, column, value)) = first {
        let shown = if value.is_finite() {
            format!("{value:e}, beyond the range of float32 (3.4e38)")
        } else {
            value.to_string()
        };
        let message = match summary.not_finite {
            1 => format!("the value is {shown}"),
            many => format!("the value is {shown}, the first of {many} that are not finite"),
        };
        let hint = if value.is_finite() {
            "features are read as float32: divide all of them by a constant"
        } else {
            "remove the instances, or repair the file that they came from"
        };
        problems.push(Problem::error(at(format!(", row {row}, column {column}")), message).with_hint(hint));
    }
    if summary.vanished > 0 {
        let message = format!(
            "{} too small for float32 and read as zero",
            count(summary.vanished, "value is", "values are")
        );
        let hint = "features are read as float32: multiply all of them by a constant";
        problems.push(Problem::warning(at(String::new()), message).with_hint(hint));
    }
    if summary.constant_dimensions > 0 {
        let dead = count(summary.constant_dimensions, "is constant", "are constant");
        let message = format!("of {} dimensions {dead}", summary.dimensions);
        let hint = "they tell nothing and are dropped when a model is fitted; check that the features are the right ones";
        problems.push(Problem::warning(at(String::new()), message).with_hint(hint));
    }
    if summary.zero_rows > 0 {
        let message = count(summary.zero_rows, "row is all zero", "rows are all zero");
        let hint =
            "check the instances: a row of zeros has no direction and is as near to one class as to another";
        problems.push(Problem::warning(at(String::new()), message).with_hint(hint));
    }
    problems.extend(summary.neighbor_distance.and_then(|distance| scale::problem(&summary.origin, distance)));
}

/// What is known of the rows so far.
struct Totals {
    minima: Vec<f32>,
    maxima: Vec<f32>,
    zeros: usize,
    vanished: usize,
    not_finite: usize,
    /// Row, column and value of the first number that is not finite.
    first: Option<(usize, usize, f32)>,
}

impl Totals {
    fn new(dimensions: usize) -> Self {
        let (minima, maxima) = (vec![f32::INFINITY; dimensions], vec![f32::NEG_INFINITY; dimensions]);
        Self { minima, maxima, zeros: 0, vanished: 0, not_finite: 0, first: None }
    }

    fn add_block(
        mut self,
        rows: &dyn Rows,
        start: usize,
        norms: &mut [f64],
        prints: &mut [Fingerprint],
    ) -> Self {
        let mut row = vec![0.0; rows.dim()];
        let mut bytes = Vec::with_capacity(4 * rows.dim());
        for (offset, (norm, print)) in norms.iter_mut().zip(prints).enumerate() {
            rows.read(start + offset, &mut row);
            self.add(start + offset, &row);
            self.vanished += rows.vanished(start + offset, &row);
            *norm = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
            *print = Fingerprint::of(&row, *norm, &mut bytes);
        }
        self
    }

    fn add(&mut self, index: usize, row: &[f32]) {
        self.zeros += row.iter().filter(|&&value| value == 0.0).count();
        let bad = row.iter().filter(|value| !value.is_finite()).count();
        if bad > 0 {
            self.not_finite += bad;
            let column = row.iter().position(|value| !value.is_finite()).expect("one was counted");
            let found = (index, column, row[column]);
            self.first = Some(self.first.filter(|first| first.0 < index).unwrap_or(found));
        }
        for ((minimum, maximum), &value) in self.minima.iter_mut().zip(&mut self.maxima).zip(row) {
            if value.is_finite() {
                *minimum = minimum.min(value);
                *maximum = maximum.max(value);
            }
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.minima.iter_mut().zip(other.minima).for_each(|(own, value)| *own = own.min(value));
        self.maxima.iter_mut().zip(other.maxima).for_each(|(own, value)| *own = own.max(value));
        self.zeros += other.zeros;
        self.vanished += other.vanished;
        self.not_finite += other.not_finite;
        self.first = [self.first, other.first].into_iter().flatten().min_by_key(|first| first.0);
        self
    }

    fn constant_dimensions(&self, rows: usize) -> usize {
        // One row is no evidence.
        if rows < 2 {
            return 0;
        }
        self.minima.iter().zip(&self.maxima).filter(|(minimum, maximum)| minimum >= maximum).count()
    }
}
