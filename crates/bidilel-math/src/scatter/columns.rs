//! First-order statistics of columns: their mean, and which rows vary.

use rayon::prelude::*;

use crate::vector::add_scaled;
use crate::{Columns, Scalar};

/// Rows whose mean one thread computes at a time.
const ROWS_PER_TASK: usize = 128;

/// The mean of all columns.
///
/// # Panics
/// If columns are not contiguous.
pub fn mean<'a, T: Scalar>(points: impl Into<Columns<'a, T>>) -> Vec<f64> {
    let points = points.into();
    let mut mean = vec![0.0; points.nrows()];
    mean.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, sum)| {
        let own = task * ROWS_PER_TASK..task * ROWS_PER_TASK + sum.len();
        (0..points.ncols()).for_each(|i| add_scaled(sum, 1.0, &points.slice(i)[own.clone()]));
        sum.iter_mut().for_each(|value| *value /= points.ncols() as f64);
    });
    mean
}

/// The rows that are not constant over all columns, ascending.
pub fn varying<'a, T: Scalar>(points: impl Into<Columns<'a, T>>) -> Vec<usize> {
    let points = points.into();
    let mut same: Vec<usize> = (0..points.nrows()).collect();
    let mut columns = (0..points.ncols()).map(|i| points.col(i));
    let Some(first) = columns.next() else { return Vec::new() };
    // In real features nearly every row varies within the first few columns.
    for column in columns {
        same.retain(|&row| column[row] == first[row]);
        if same.is_empty() {
            break;
        }
    }
    let mut varies = vec![true; points.nrows()];
    same.into_iter().for_each(|row| varies[row] = false);
    (0..points.nrows()).filter(|&row| varies[row]).collect()
}
