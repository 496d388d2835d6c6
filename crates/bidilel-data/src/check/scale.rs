//! Whether raw rows lie so far apart that the neighborhood graph would vanish.
//!
//! Edges weigh exp(-d/2). On raw network features d is often above 50 and all weights are as good as zero, so that
//! the graph says nothing. Rows are l2-normalized by default, and then all is well; this is for those who choose not to.

use bidilel::dataset::Rows;
use bidilel_math::distance::squared_slices;
use rayon::prelude::*;

use super::problem::Problem;
use super::summary::Distribution;

/// Rows that are compared with each other.
const SAMPLE: usize = 256;

/// Values of the sample that are kept in memory.
const MOST_VALUES: usize = 1 << 24;

/// Below this the weights are as good as zero.
const LEAST_WEIGHT: f64 = 1e-6;

/// The median distance of a row from its nearest neighbor, among rows that are spread evenly over the file.
pub(super) fn neighbor_distance(rows: &dyn Rows) -> Option<f64> {
    let most = (MOST_VALUES / rows.dim().max(1)).clamp(2, SAMPLE);
    let step = rows.count().div_ceil(most).max(1);
    let mut sample: Vec<Vec<f32>> = Vec::new();
    for index in (0..rows.count()).step_by(step) {
        let mut row = vec![0.0; rows.dim()];
        rows.read(index, &mut row);
        if row.iter().all(|value| value.is_finite()) {
            sample.push(row);
        }
    }
    let nearest = |own: usize| {
        let others = sample.iter().enumerate().filter(|&(other, _)| other != own);
        others.map(|(_, row)| squared_slices(row, &sample[own])).min_by(f64::total_cmp)
    };
    let mut distances: Vec<f64> =
        (0..sample.len()).into_par_iter().filter_map(nearest).map(f64::sqrt).collect();
    Distribution::of(&mut distances).map(|distances| distances.median)
}

/// A warning when the weights of raw rows would vanish.
pub(super) fn problem(origin: &str, distance: f64) -> Option<Problem> {
    let weight = (-distance / 2.0).exp();
    if weight >= LEAST_WEIGHT {
        return None;
    }
    let message = format!(
        "raw rows lie about {distance:.0} from their nearest neighbors, so graph weights exp(-d/2) would be {weight:.0e}"
    );
    let hint = "nothing to do where rows are l2-normalized, the default; for raw rows use heat weights";
    Some(Problem::warning(origin, message).with_hint(hint))
}
