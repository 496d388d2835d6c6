//! Classes: their kinship, what is said of them and what they look like.

use faer::Mat;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::Synthetic;
use super::names::class_name;
use super::random::{Part, normal, normal_matrix, stream};

/// Factors that one attribute depends on: few, so that attributes which share one are correlated.
const FACTORS_PER_ATTRIBUTE: usize = 4;

/// Classes of a task before any instance is drawn.
#[derive(Debug)]
pub(super) struct Classes {
    /// Unique names.
    pub(super) names: Vec<String>,
    /// Whether the `standard` split leaves the class unseen.
    pub(super) unseen: Vec<bool>,
    /// Standard deviation of each factor over classes; the squares sum to one.
    pub(super) factor_scale: Vec<f64>,
    /// Factors x classes in standard units: what semantics can tell.
    meaning: Mat<f64>,
    /// Factors x classes, scaled: the means of the instances of each class.
    pub(super) appearance: Mat<f64>,
}

impl Classes {
    /// Draws everything about the classes but their semantic vectors.
    pub(super) fn draw(settings: &Synthetic, seed: u64) -> Self {
        let (factors, count) = (settings.factors, settings.known + settings.unseen);
        let mut rng = stream(seed, Part::Factors);

        let groups: Vec<usize> = (0..count).map(|class| class % settings.groups).collect();
        let unseen = spread_over_groups(&groups, settings, &mut rng);
        let names = (0..count).map(|class| class_name(groups[class], class / settings.groups)).collect();

        let common = normal_matrix(&mut rng, factors, settings.groups);
        let own = normal_matrix(&mut rng, factors, count);
        let (of_group, of_class) = (settings.kinship.sqrt(), (1.0 - settings.kinship).sqrt());
        let meaning =
            Mat::from_fn(factors, count, |f, c| of_group * common[(f, groups[c])] + of_class * own[(f, c)]);

        let factor_scale = factor_scale(factors);
        let appearance = appearance(settings, &meaning, &unseen, &factor_scale, seed);
        Self { names, unseen, factor_scale, meaning, appearance }
    }

    /// Indices of the classes.
    pub(super) fn ids(&self) -> std::ops::Range<usize> {
        0..self.names.len()
    }

    /// Attributes x classes, percentages: how surely the class has the attribute.
    pub(super) fn attributes(&self, settings: &Synthetic, seed: u64) -> Mat<f64> {
        let (factors, count) = (self.meaning.nrows(), self.names.len());
        let mut rng = stream(seed, Part::Attributes);
        let mut order: Vec<usize> = (0..factors).collect();
        let mut percentages = Mat::zeros(settings.attributes, count);
        let mut strongest = vec![(f64::NEG_INFINITY, 0); count];
        for attribute in 0..settings.attributes {
            // The main factor in turn, so that none is left out, and a few others at random.
            let main = attribute % factors;
            order.shuffle(&mut rng);
            let others = order.iter().copied().filter(|&f| f != main).take(FACTORS_PER_ATTRIBUTE - 1);
            let mut loading = vec![0.0; factors];
            for factor in std::iter::once(main).chain(others) {
                // People name what strikes the eye: stronger factors.
                loading[factor] = self.factor_scale[factor] * normal(&mut rng);
            }
            let norm = loading.iter().map(|l| l * l).sum::<f64>().sqrt();
            let common = 0.5 * normal(&mut rng);
            for class in 0..count {
                let signal: f64 =
                    loading.iter().zip(self.meaning.col_as_slice(class)).map(|(l, z)| l * z).sum();
                let value = signal / norm + common + settings.attribute_noise * normal(&mut rng);
                percentages[(attribute, class)] = 100.0 * (1.0 - (-value.max(0.0)).exp());
                if value > strongest[class].0 {
                    strongest[class] = (value, attribute);
                }
            }
        }
        // A class of which nothing at all is true could not be described: what is nearest to true becomes so.
        for (class, &(value, attribute)) in strongest.iter().enumerate() {
            if value <= 0.0 {
                percentages[(attribute, class)] = 1.0;
            }
        }
        percentages
    }

    /// Dimensions x classes: signed, dense, of different norms, with a common mean.
    pub(super) fn words(&self, settings: &Synthetic, seed: u64) -> Mat<f64> {
        let (dim, factors, count) = (settings.word_dim, self.meaning.nrows(), self.names.len());
        let mut rng = stream(seed, Part::Words);
        let mean = normal_matrix(&mut rng, dim, 1);
        let map = normal_matrix(&mut rng, dim, factors);
        // The error is as low-dimensional as the factors: in many dimensions errors of their own would be
        // orthogonal to everything, and no harder task.
        let error = normal_matrix(&mut rng, factors, count);
        let (signal, noise) = ((1.0 - settings.word_noise).sqrt(), settings.word_noise.sqrt());
        let read = Mat::from_fn(factors, count, |f, c| signal * self.meaning[(f, c)] + noise * error[(f, c)]);
        let rotated = &map * &read;
        let norms: Vec<f64> = (0..count).map(|_| (0.2 * normal(&mut rng)).exp()).collect();
        let unit = 1.0 / (factors as f64).sqrt();
        Mat::from_fn(dim, count, |d, c| norms[c] * (unit * rotated[(d, c)] + 0.5 * mean[(d, 0)]))
    }
}

/// Takes the unseen classes from the groups in turn, from each at random.
fn spread_over_groups(groups: &[usize], settings: &Synthetic, rng: &mut ChaCha8Rng) -> Vec<bool> {
    let mut classes: Vec<usize> = (0..groups.len()).collect();
    classes.shuffle(rng);
    let mut taken = vec![0; settings.groups];
    let mut turns: Vec<(usize, usize)> = classes
        .into_iter()
        .map(|class| {
            taken[groups[class]] += 1;
            (taken[groups[class]], class)
        })
        .collect();
    turns.sort_by_key(|&(turn, _)| turn);
    let mut unseen = vec![false; groups.len()];
    for &(_, class) in turns.iter().take(settings.unseen) {
        unseen[class] = true;
    }
    unseen
}

/// Factor k, counted from 1, has the scale `k^-0.4`: visual data have a few strong directions and a long tail.
fn factor_scale(factors: usize) -> Vec<f64> {
    let raw: Vec<f64> = (1..=factors).map(|k| (k as f64).powf(-0.4)).collect();
    let norm = raw.iter().map(|s| s * s).sum::<f64>().sqrt();
    raw.into_iter().map(|s| s / norm).collect()
}

/// `a_c` of the module's second equation, in units of the factors' scales until the last line.
fn appearance(
    settings: &Synthetic,
    meaning: &Mat<f64>,
    unseen: &[bool],
    factor_scale: &[f64],
    seed: u64,
) -> Mat<f64> {
    let (factors, count) = (meaning.nrows(), meaning.ncols());
    let own = normal_matrix(&mut stream(seed, Part::Appearance), factors, count);
    let mut rng = stream(seed, Part::Shift);
    let displacement = normal_matrix(&mut rng, factors, 1);
    let rotated = normal_matrix(&mut rng, factors, factors) * meaning;
    let unit = 1.0 / (factors as f64).sqrt();
    let shift = settings.domain_shift;
    // Without it a shift would also move the unseen classes apart, which makes them easier to tell.
    let same_norm = 1.0 / (1.0 + shift * shift).sqrt();
    let (said, unsaid) = ((1.0 - settings.semantic_gap).sqrt(), settings.semantic_gap.sqrt());
    Mat::from_fn(factors, count, |f, c| {
        let plain = said * meaning[(f, c)] + unsaid * own[(f, c)];
        let shifted = same_norm * (plain + shift * unit * rotated[(f, c)]) + shift * displacement[(f, 0)];
        factor_scale[f] * if unseen[c] { shifted } else { plain }
    })
}
