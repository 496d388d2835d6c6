//! Instances: how many of each class, and their factors.

use bidilel_math::Observer;
use faer::Mat;
use rayon::prelude::*;

use super::Synthetic;
use super::classes::Classes;
use super::random::{Part, normal, normal_matrix, stream};
use crate::error::{Error, Result};

/// Instances that one task of the thread pool draws; fixed, so that threads do not decide the result.
pub(super) const BLOCK_INSTANCES: usize = 512;

/// Factors such as light and viewpoint, which tell nothing of the class.
const POSE_FACTORS: usize = 8;

/// Fewest instances of a class: one to learn from and one that can be its neighbor.
const MIN_CLASS_INSTANCES: usize = 2;

/// Instances of a task before any view has seen them.
#[derive(Debug)]
pub(super) struct Instances {
    /// A class for every instance, ascending.
    pub(super) labels: Vec<usize>,
    /// (Factors + pose factors) x instances.
    pub(super) hidden: Mat<f32>,
}

impl Instances {
    /// Draws the instances of all classes.
    pub(super) fn draw(
        settings: &Synthetic,
        classes: &Classes,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let labels: Vec<usize> = counts(settings, classes, seed)
            .into_iter()
            .enumerate()
            .flat_map(|(class, count)| std::iter::repeat_n(class, count))
            .collect();
        let variation = Variation::draw(settings, classes, seed);
        let rows = settings.factors + POSE_FACTORS;
        let mut hidden = Mat::<f32>::zeros(rows, labels.len());
        hidden
            .par_col_chunks_mut(BLOCK_INSTANCES)
            .zip(labels.par_chunks(BLOCK_INSTANCES))
            .enumerate()
            .for_each(|(block, (mut columns, labels))| {
                if watch.poll().is_break() {
                    return;
                }
                let mut rng = stream(seed, Part::InstanceBlock(block));
                for (i, &class) in labels.iter().enumerate() {
                    let instance = variation.instance(classes, class, &mut rng);
                    for (row, value) in instance.into_iter().enumerate() {
                        columns[(row, i)] = value;
                    }
                }
            });
        Error::unless_cancelled(watch)?;
        Ok(Self { labels, hidden })
    }
}

/// Class sizes whose logarithms are normal, with the asked-for sum (up to [`MIN_CLASS_INSTANCES`] for every class).
fn counts(settings: &Synthetic, classes: &Classes, seed: u64) -> Vec<usize> {
    let mut rng = stream(seed, Part::Counts);
    let weights: Vec<f64> = classes.ids().map(|_| (settings.imbalance * normal(&mut rng)).exp()).collect();
    let per_weight =
        settings.scale * settings.instances_per_class * weights.len() as f64 / weights.iter().sum::<f64>();
    // Rounding the running sum, not each size, keeps the total right.
    let mut exact = 0.0;
    let mut given = 0;
    weights
        .iter()
        .map(|weight| {
            exact += per_weight * weight;
            let count = round(exact).saturating_sub(given);
            given += count;
            count.max(MIN_CLASS_INSTANCES)
        })
        .collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are positive and small")]
fn round(size: f64) -> usize {
    size.round() as usize
}

/// How instances vary around their class.
struct Variation {
    /// `r_c`: some classes vary more than others.
    class_spread: Vec<f64>,
    /// `L`, factors x directions that all classes share.
    shared: Mat<f64>,
    /// Standard deviation of `v_i` along every factor.
    own: Vec<f64>,
}

impl Variation {
    fn draw(settings: &Synthetic, classes: &Classes, seed: u64) -> Self {
        let mut rng = stream(seed, Part::Variation);
        let factors = settings.factors;
        let class_spread = classes.ids().map(|_| settings.spread * (0.15 * normal(&mut rng)).exp()).collect();
        let directions = factors.div_ceil(4);
        // Half of the variance is in the shared directions, half along all factors alike.
        let half = 0.5_f64.sqrt();
        let raw = normal_matrix(&mut rng, factors, directions);
        let per_direction = half / (directions as f64).sqrt();
        let shared =
            Mat::from_fn(factors, directions, |f, d| per_direction * classes.factor_scale[f] * raw[(f, d)]);
        let own = classes.factor_scale.iter().map(|scale| half * scale).collect();
        Self { class_spread, shared, own }
    }

    /// `h_i` of the module's third equation.
    #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
    fn instance(&self, classes: &Classes, class: usize, rng: &mut rand_chacha::ChaCha8Rng) -> Vec<f32> {
        let mut hidden = classes.appearance.col_as_slice(class).to_vec();
        let spread = self.class_spread[class];
        for direction in 0..self.shared.ncols() {
            let along = spread * normal(rng);
            for (value, shared) in hidden.iter_mut().zip(self.shared.col_as_slice(direction)) {
                *value += along * shared;
            }
        }
        for (value, own) in hidden.iter_mut().zip(&self.own) {
            *value += spread * own * normal(rng);
        }
        let pose = spread / (POSE_FACTORS as f64).sqrt();
        hidden.extend((0..POSE_FACTORS).map(|_| pose * normal(rng)));
        hidden.into_iter().map(|value| value as f32).collect()
    }
}
