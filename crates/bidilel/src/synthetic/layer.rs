//! A rectified random layer: what a view makes of the factors it sees.

use bidilel_math::Observer;
use faer::linalg::matmul::matmul;
use faer::reborrow::ReborrowMut;
use faer::{Accum, Mat, Par};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::Synthetic;
use super::instances::{BLOCK_INSTANCES, Instances};
use super::random::{Part, normal, stream};
use crate::error::{Error, Result};

/// Instances on which thresholds are set.
const PROBE_INSTANCES: usize = 1_024;

/// Features x instances, for every view.
pub(super) fn features(
    settings: &Synthetic,
    instances: &Instances,
    seed: u64,
    watch: &dyn Observer,
) -> Result<Vec<Mat<f32>>> {
    (0..settings.views.len())
        .map(|view| Layer::draw(settings, instances, view, seed).apply(instances, seed, watch))
        .collect()
}

struct Layer {
    view: usize,
    /// Features x hidden factors; zero in the columns of factors that the view does not see.
    weights: Mat<f32>,
    /// What a feature's input must exceed to be above zero.
    thresholds: Vec<f32>,
    /// Scale per feature: some are stronger than others.
    gains: Vec<f32>,
    noise: f32,
}

impl Layer {
    #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
    fn draw(settings: &Synthetic, instances: &Instances, view: usize, seed: u64) -> Self {
        let dim = settings.views[view].dim;
        let mut rng = stream(seed, Part::Layer(view));
        let visible = visible(settings, view);
        let mut weights = Mat::<f32>::zeros(dim, instances.hidden.nrows());
        for factor in 0..weights.ncols() {
            for weight in weights.col_as_slice_mut(factor) {
                let drawn: f32 = rng.sample(StandardNormal);
                // Pose factors come after the factors of the class, and every view sees them.
                *weight = if visible.get(factor).copied().unwrap_or(true) { drawn } else { 0.0 };
            }
        }
        let gains = (0..dim).map(|_| (0.4 * normal(&mut rng)).exp() as f32).collect();
        let thresholds = set_thresholds(&mut weights, instances, settings, &mut rng);
        Self { view, weights, thresholds, gains, noise: settings.noise as f32 }
    }

    /// What the view makes of every instance.
    fn apply(&self, instances: &Instances, seed: u64, watch: &dyn Observer) -> Result<Mat<f32>> {
        let mut features = Mat::<f32>::zeros(self.weights.nrows(), instances.hidden.ncols());
        features
            .par_col_chunks_mut(BLOCK_INSTANCES)
            .zip(instances.hidden.par_col_chunks(BLOCK_INSTANCES))
            .enumerate()
            .for_each(|(block, (mut features, hidden))| {
                if watch.poll().is_break() {
                    return;
                }
                let mut rng = stream(seed, Part::NoiseBlock(self.view, block));
                matmul(features.rb_mut(), Accum::Replace, &self.weights, hidden, 1.0, Par::Seq);
                for i in 0..features.ncols() {
                    // Contrast differs between pictures; l2-normalization takes it out again.
                    let contrast = (0.2 * rng.sample::<f32, _>(StandardNormal)).exp();
                    for (j, (threshold, gain)) in self.thresholds.iter().zip(&self.gains).enumerate() {
                        let noise = self.noise * rng.sample::<f32, _>(StandardNormal);
                        let active = (features[(j, i)] + noise - threshold).max(0.0);
                        // The power of 5/4 gives the heavy tail of a deep layer's activations.
                        features[(j, i)] = contrast * gain * active * active.sqrt().sqrt();
                    }
                }
            });
        Error::unless_cancelled(watch)?;
        Ok(features)
    }
}

/// Which factors of the class a view sees: those that all views see, and its share of the others.
fn visible(settings: &Synthetic, view: usize) -> Vec<bool> {
    let views = settings.views.len();
    let mut common = 0.0;
    let mut turn = 0;
    (0..settings.factors)
        .map(|_| {
            common += settings.view_overlap;
            if common >= 1.0 {
                common -= 1.0;
                return true;
            }
            // Back and forth, for factors get weaker: no view always has the first pick.
            let (lap, position) = (turn / views, turn % views);
            turn += 1;
            view == if lap % 2 == 0 { position } else { views - 1 - position }
        })
        .collect()
}

/// Scales every feature's input to unit variance and finds the threshold for its share of zeros, both on
/// instances at equal distances.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "features are single precision, and a share of a count is a count"
)]
fn set_thresholds(
    weights: &mut Mat<f32>,
    instances: &Instances,
    settings: &Synthetic,
    rng: &mut ChaCha8Rng,
) -> Vec<f32> {
    let total = instances.hidden.ncols();
    let probes = total.min(PROBE_INSTANCES);
    let hidden =
        Mat::from_fn(instances.hidden.nrows(), probes, |f, p| instances.hidden[(f, p * total / probes)]);
    // Sequential, as a sum cut up by the number of threads would round differently.
    let mut inputs = Mat::<f32>::zeros(weights.nrows(), probes);
    matmul(&mut inputs, Accum::Replace, &*weights, &hidden, 1.0, Par::Seq);
    // Features fire at different rates; the mean stays, and no rate leaves its range.
    let leeway = 0.3 * settings.sparsity.min(1.0 - settings.sparsity);
    (0..weights.nrows())
        .map(|feature| {
            let input: Vec<f64> = inputs.row(feature).iter().map(|&v| f64::from(v)).collect();
            let mean = input.iter().sum::<f64>() / probes as f64;
            let variance = input.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / probes as f64;
            // A feature whose factors do not vary stays silent instead of dividing by zero.
            let unit = 1.0 / variance.sqrt().max(1e-12);
            for factor in 0..weights.ncols() {
                weights[(feature, factor)] *= unit as f32;
            }
            let mut noisy: Vec<f64> = input.iter().map(|v| unit * v + settings.noise * normal(rng)).collect();
            noisy.sort_by(f64::total_cmp);
            let share = settings.sparsity + leeway * normal(rng).clamp(-3.0, 3.0);
            noisy[((share * probes as f64) as usize).min(probes - 1)] as f32
        })
        .collect()
}
