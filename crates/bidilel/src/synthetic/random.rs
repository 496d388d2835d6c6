//! Independent streams of random numbers, one for every part of a task.

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// A part of a task that draws for itself.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Factors,
    Appearance,
    Shift,
    Attributes,
    Words,
    Counts,
    Splits,
    Variation,
    Layer(usize),
    /// Variation of one block of instances.
    InstanceBlock(usize),
    /// Noise of one block of instances in one view.
    NoiseBlock(usize, usize),
}

/// The stream of that part: parts never share a number, so a knob of one does not disturb another.
pub(super) fn stream(seed: u64, part: Part) -> ChaCha8Rng {
    let (kind, major, minor) = match part {
        Part::Factors => (0, 0, 0),
        Part::Appearance => (1, 0, 0),
        Part::Shift => (2, 0, 0),
        Part::Attributes => (3, 0, 0),
        Part::Words => (4, 0, 0),
        Part::Counts => (5, 0, 0),
        Part::Splits => (6, 0, 0),
        Part::Variation => (7, 0, 0),
        Part::Layer(view) => (8, view, 0),
        Part::InstanceBlock(block) => (9, 0, block),
        Part::NoiseBlock(view, block) => (10, view, block),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((kind << 56) | ((major as u64) << 40) | minor as u64);
    rng
}

/// One standard normal number.
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// A matrix of standard normal numbers, drawn column by column.
pub(super) fn normal_matrix(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Mat<f64> {
    let mut matrix = Mat::zeros(rows, columns);
    for column in 0..columns {
        for value in matrix.col_as_slice_mut(column) {
            *value = normal(rng);
        }
    }
    matrix
}
