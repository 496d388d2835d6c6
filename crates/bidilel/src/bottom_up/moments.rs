//! The moments of training instances from which the learners over classes start: `lda`, `cca` and `cca+lda`.
//!
//! $S_t = \sum_i (x_i - \mu)(x_i - \mu)^\top$ over the features that vary, scaled by the weights of their views, and $H$
//! with a column $\sqrt{n_c} (\mu_c - \mu)$ for every class, so that $S_b = H H^\top$.

use std::sync::OnceLock;

use faer::{Mat, MatRef};

use bidilel_math::eigen;
use bidilel_math::parallel::product;
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Scalar};

use super::{scale_both, scale_rows, scales_of, spread, total_scatter, varying_dimensions};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::task::Training;

/// $S_t$ and $H$.
pub(super) struct Moments {
    /// The features that vary: matrices are over these.
    pub(super) rows: Vec<usize>,
    /// Their scales, where views have weights.
    scales: Option<Vec<f64>>,
    /// $S_t$.
    pub(super) total: Mat<f64>,
    /// $H$, features x classes.
    pub(super) classes: Mat<f64>,
}

impl Moments {
    pub(super) fn of<T: Scalar>(training: &Training<'_, T>, watch: &dyn Observer) -> Result<Self> {
        check_classes(training.classes)?;
        let rows = varying_dimensions(training, watch)?;
        watch.stage("scatter");
        let mean = scatter::mean(training.features);
        let data = Selected { points: training.features, rows: &rows, center: Some(&mean) };
        let mut total = match training.total.and_then(OnceLock::get) {
            Some(known) => known.clone(),
            None => total_scatter(data, watch)?,
        };
        if let Some(shared) = training.total {
            shared.get_or_init(|| total.clone());
        }
        let scales = scales_of(training, &rows);
        scale_both(&mut total, scales.as_deref());
        let classes = class_factor(training, &rows, &mean);
        Ok(Self { rows, scales, total, classes })
    }

    /// The latent space of a map of the scaled features that vary.
    pub(super) fn space<T: Scalar>(self, mut map: Mat<f64>, training: &Training<'_, T>) -> LatentSpace {
        scale_rows(&mut map, self.scales.as_deref());
        eigen::fix_signs(map.as_mut());
        let map = spread(map, &self.rows, training.features.nrows());
        LatentSpace::centered(Map::Linear(map), training.features)
    }
}

/// One class cannot be separated from anything.
pub(super) fn check_classes(known: usize) -> Result<()> {
    if known >= 2 {
        return Ok(());
    }
    let expected = "at least 2 for lda, cca and cca+lda".into();
    Err(Error::Setting { setting: "the number of known classes", expected, found: known.to_string() })
}

/// $H$, of scaled features.
fn class_factor<T: Scalar>(training: &Training<'_, T>, rows: &[usize], mean: &[f64]) -> Mat<f64> {
    let mut sums = Mat::<f64>::zeros(rows.len(), training.classes);
    let mut counts = vec![0_usize; training.classes];
    for (column, &label) in training.features.col_iter().zip(training.labels) {
        counts[label] += 1;
        for (index, &row) in rows.iter().enumerate() {
            sums[(index, label)] += column[row].to_f64() - mean[row];
        }
    }
    let mut factor =
        Mat::from_fn(rows.len(), training.classes, |i, c| sums[(i, c)] / (counts[c].max(1) as f64).sqrt());
    scale_rows(&mut factor, scales_of(training, rows).as_deref());
    factor
}

/// Adds a multiple of the mean of the diagonal to the diagonal.
pub(super) fn add_relative(matrix: &mut Mat<f64>, ridge: f64) {
    let size = matrix.nrows();
    let trace: f64 = (0..size).map(|i| matrix[(i, i)]).sum();
    (0..size).for_each(|i| matrix[(i, i)] += ridge * trace / size as f64);
}

/// The leading left singular vectors of a tall matrix, by the eigenvectors of its small Gram matrix.
///
/// There are always `count` columns. Those of a vanishing singular value are zero: nothing determines them.
pub(super) fn leading_left(tall: MatRef<'_, f64>, count: usize) -> Result<Mat<f64>> {
    let gram = product(tall.transpose(), tall);
    let found = eigen::full(gram.as_ref(), count).map_err(Error::in_stage("eigen"))?;
    let cut = found.values.first().copied().unwrap_or(0.0) * f64::EPSILON * gram.nrows() as f64;
    let left = product(tall, found.vectors.as_ref());
    let scale = |i: usize| match found.values.get(i) {
        Some(&value) if value > cut => 1.0 / value.sqrt(),
        _ => 0.0,
    };
    Ok(Mat::from_fn(
        tall.nrows(),
        count,
        |row, i| if i < left.ncols() { scale(i) * left[(row, i)] } else { 0.0 },
    ))
}
