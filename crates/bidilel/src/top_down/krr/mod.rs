//! Kernel ridge regression from descriptions to landmarks: all latent dimensions at once, in closed form.
//!
//! With the kernel $K$ of the known classes, $G = K + \rho I$ and landmarks $B$ (latent dimensions x known classes)
//! `$$ b_u = m + A\, k_u, \quad A = (B - m 1^\top) G^{-1}, \quad m = B G^{-1} 1 / (1^\top G^{-1} 1), $$`
//! where $k_u$ has the kernel values of class $u$ with the known ones and $m$ is the intercept, which is not penalized.
//! The kernel is the weighted sum over the semantic representations of `$\exp(-w\, d^2 / \overline{d^2})$`, with the
//! distance $d$ of unit vectors, or as it was precomputed, and its mean square over pairs of known classes: the width $w$
//! means the same for every representation. Negative eigenvalues of $K$ are cut off (`kernel.rs`).
//!
//! Leaving one class out needs no second fit. With $P = G^{-1} - G^{-1} 1 1^\top G^{-1} / (1^\top G^{-1} 1)$ the error at
//! class $i$ of the regression without it is `$A_i / P_{ii}$` (Cawley & Talbot). Ridge and width that are not given are
//! those of least squared error over a grid.
//!
//! # References
//! C. Saunders, A. Gammerman, V. Vovk, *Ridge regression learning algorithm in dual variables*, 1998; G. Cawley and N.
//! Talbot, *Fast exact leave-one-out cross-validation of sparse least-squares support vector machines*, 2004.

mod kernel;
#[cfg(test)]
mod laws;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::check::probes;
use bidilel_math::distance::normalize_columns;
use bidilel_math::parallel::product;
use bidilel_math::{Check, Observer, eigen};

use kernel::{Kernel, Squares};

use super::{ClassEmbedder, Embedding};
use crate::error::{Error, Result};
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};

/// Ridges that are tried where none is given.
const RIDGES: [f64; 8] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];
/// Widths that are tried where none is given.
const WIDTHS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];
/// Largest difference between the two sides of the equation by rounding, relative to the larger side.
const TOLERANCE: f64 = 1e-8;

/// Settings of the regression.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Krr {
    /// Ridge: $\rho$; the one of least leave-one-class-out error if not given.
    pub krr_ridge: Option<f64>,
    /// Width of the kernels: $w$; likewise.
    pub krr_width: Option<f64>,
    /// Whether embeddings get unit norm, as the points have.
    pub unit_embedding: bool,
}

/// A regression for one ridge and width.
struct Regression {
    ridge: f64,
    /// $A$, latent dimensions x known classes.
    weights: Mat<f64>,
    /// $m$.
    intercept: Vec<f64>,
    /// The sum of squared leave-one-class-out errors.
    left_out: f64,
}

impl Krr {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            krr_ridge: settings.krr_ridge,
            krr_width: settings.krr_width,
            unit_embedding: settings.unit_embedding.unwrap_or_default(),
        }
    }

    fn check(&self) -> Result<()> {
        self.krr_ridge.map_or(Ok(()), |ridge| settings::check("krr_ridge", ridge))?;
        self.krr_width.map_or(Ok(()), |width| settings::check("krr_width", width))
    }

    /// The kernel of the width in force, and the regression of the ridge.
    fn fit(&self, landmarks: MatRef<'_, f64>, squares: &[Squares]) -> Result<(Kernel, Regression)> {
        let widths = self.krr_width.map_or(WIDTHS.to_vec(), |width| vec![width]);
        let ridges = self.krr_ridge.map_or(RIDGES.to_vec(), |ridge| vec![ridge]);
        let mut best: Option<(Kernel, Regression)> = None;
        for &width in &widths {
            let kernel = Kernel::new(squares, width)?;
            let each = ridges.iter().map(|&ridge| regression(landmarks, &kernel.spectrum, ridge));
            let own = each.reduce(|best, other| if other.left_out < best.left_out { other } else { best });
            let is_better =
                |own: &Regression| best.as_ref().is_none_or(|(_, best)| own.left_out < best.left_out);
            if let Some(own) = own.filter(is_better) {
                best = Some((kernel, own));
            }
        }
        best.ok_or_else(|| Error::NothingToTry { setting: "krr_width".to_owned() })
    }

    /// Fills in what was left open, as it turns out for these landmarks.
    pub(crate) fn resolve(&mut self, landmarks: &Landmarks, semantics: &ClassSemantics) {
        if let Ok((kernel, found)) = self.fit(landmarks.points.as_ref(), &Squares::of(semantics)) {
            (self.krr_ridge, self.krr_width) = (Some(found.ridge), Some(kernel.width));
        }
    }
}

impl ClassEmbedder for Krr {
    fn embed(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        watch.stage("top_down");
        self.check()?;
        let squares = Squares::of(semantics);
        let (kernel, regression) = self.fit(landmarks.points.as_ref(), &squares)?;
        verify(&regression, landmarks.points.as_ref(), &kernel, watch)?;
        let mut points = product(regression.weights.as_ref(), kernel.unseen(&squares).as_ref());
        for class in 0..points.ncols() {
            for (value, mean) in points.col_as_slice_mut(class).iter_mut().zip(&regression.intercept) {
                *value += mean;
            }
        }
        if self.unit_embedding {
            normalize_columns(points.as_mut());
        }
        Ok(Embedding { points, converged: true, mapped: None })
    }
}

/// The regression by the eigenvectors of the kernel, which all ridges share.
fn regression(landmarks: MatRef<'_, f64>, spectrum: &eigen::Eigen, ridge: f64) -> Regression {
    let (vectors, classes) = (&spectrum.vectors, landmarks.ncols());
    let scaled = Mat::from_fn(classes, classes, |i, k| vectors[(i, k)] / (spectrum.values[k] + ridge));
    let inverse = product(scaled.as_ref(), vectors.transpose());
    // G^-1 1, and its sum.
    let ones: Vec<f64> = (0..classes).map(|i| (0..classes).map(|j| inverse[(i, j)]).sum::<f64>()).collect();
    let total: f64 = ones.iter().sum();
    let dim = landmarks.nrows();
    let intercept: Vec<f64> = (0..dim)
        .map(|row| (0..classes).map(|c| landmarks[(row, c)] * ones[c]).sum::<f64>() / total)
        .collect();
    let centered = Mat::from_fn(dim, classes, |row, c| landmarks[(row, c)] - intercept[row]);
    let weights = product(centered.as_ref(), inverse.as_ref());
    let left_out = (0..classes)
        .map(|c| {
            let diagonal = inverse[(c, c)] - ones[c] * ones[c] / total;
            weights.col_as_slice(c).iter().map(|weight| (weight / diagonal).powi(2)).sum::<f64>()
        })
        .sum();
    Regression { ridge, weights, intercept, left_out }
}

/// Compares both sides of $A (K + \rho I) + m 1^\top = B$ for a few random combinations of classes.
fn verify(
    regression: &Regression,
    landmarks: MatRef<'_, f64>,
    kernel: &Kernel,
    watch: &dyn Observer,
) -> Result<()> {
    let mut system = kernel.known.clone();
    (0..system.nrows()).for_each(|i| system[(i, i)] += regression.ridge);
    let probes = probes(system.nrows(), 2);
    let mut found = product(regression.weights.as_ref(), product(system.as_ref(), probes.as_ref()).as_ref());
    for probe in 0..found.ncols() {
        let sum: f64 = probes.col_as_slice(probe).iter().sum();
        for (value, mean) in found.col_as_slice_mut(probe).iter_mut().zip(&regression.intercept) {
            *value += mean * sum;
        }
    }
    let expected = product(landmarks, probes.as_ref());
    let deviation = (&found - &expected).norm_max() / expected.norm_max().max(f64::MIN_POSITIVE);
    Check { stage: "top_down", what: "the regression in its equation", deviation, bound: TOLERANCE }
        .enforce(watch)
        .map_err(Error::in_stage("top_down"))
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;

    use super::*;
    use crate::dataset::Metric;
    use crate::semantic::Representation;

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 31 + j * 17) as f64 * 0.613).sin()
    }

    fn semantics(classes: &[usize], known: usize) -> ClassSemantics {
        let one = |name: &str, dim: usize, shift: usize, weight: f64| {
            let raw = Mat::from_fn(dim, classes.len(), |i, j| wave(i + shift, classes[j]));
            Representation::new(name, weight, Metric::Euclidean, raw)
        };
        let both = vec![one("attributes", 5, 0, 0.6), one("words", 3, 9, 0.4)];
        ClassSemantics::from_representations(both, known)
    }

    fn landmarks(classes: &[usize]) -> Landmarks {
        Landmarks { points: Mat::from_fn(4, classes.len(), |i, j| wave(i + 50, classes[j])) }
    }

    #[test]
    fn the_error_of_a_class_that_is_left_out_is_that_of_a_fit_without_it() {
        let all: Vec<usize> = (0..7).collect();
        let (ridge, width) = (0.2, 0.5);
        let squares = Squares::of(&semantics(&all, 7));
        let settings = Krr { krr_ridge: Some(ridge), krr_width: Some(width), unit_embedding: false };
        let (kernel, whole) = settings.fit(landmarks(&all).points.as_ref(), &squares).expect("a fit");
        // The same kernel, without a row and a column: widths would change with the classes.
        let full = &kernel.known;
        let mut sum = 0.0;
        for out in 0..7 {
            let rest: Vec<usize> = all.iter().copied().filter(|&class| class != out).collect();
            let part = Mat::from_fn(6, 6, |i, j| full[(rest[i], rest[j])]);
            let spectrum = eigen::full(part.as_ref(), 6).expect("eigenpairs");
            let fitted = regression(landmarks(&rest).points.as_ref(), &spectrum, ridge);
            for row in 0..4 {
                let predicted = fitted.intercept[row]
                    + (0..6).map(|i| fitted.weights[(row, i)] * full[(rest[i], out)]).sum::<f64>();
                sum += (landmarks(&all).points[(row, out)] - predicted).powi(2);
            }
        }
        assert!((whole.left_out - sum).abs() < 1e-10 * sum, "{} and {sum}", whole.left_out);
    }

    #[test]
    fn what_is_left_open_has_the_least_error_and_what_is_given_stays() {
        let all: Vec<usize> = (0..9).collect();
        let (semantics, known) = (semantics(&all, 7), landmarks(&all[..7]));
        let mut open = Krr::default();
        open.resolve(&known, &semantics);
        let (ridge, width) = (open.krr_ridge.expect("chosen"), open.krr_width.expect("chosen"));
        assert!(RIDGES.contains(&ridge) && WIDTHS.contains(&width));
        let squares = Squares::of(&semantics);
        let (_, best) = open.fit(known.points.as_ref(), &squares).expect("a fit");
        for (ridge, width) in RIDGES.into_iter().flat_map(|ridge| WIDTHS.map(|width| (ridge, width))) {
            let other = Krr { krr_ridge: Some(ridge), krr_width: Some(width), ..open.clone() };
            assert!(other.fit(known.points.as_ref(), &squares).expect("a fit").1.left_out >= best.left_out);
        }
        let embedded =
            Krr { unit_embedding: true, ..open }.embed(&known, &semantics, &Silent).expect("points");
        assert_eq!(embedded.points.shape(), (4, 2));
        assert!(embedded.points.col_iter().all(|point| (point.norm_l2() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn a_tiny_ridge_finds_the_landmarks_again() {
        let twice: Vec<usize> = (0..6).chain(0..6).collect();
        let krr = Krr { krr_ridge: Some(1e-9), krr_width: Some(1.0), unit_embedding: false };
        let known = landmarks(&twice[..6]);
        let found = krr.embed(&known, &semantics(&twice, 6), &Silent).expect("points").points;
        assert!((found - known.points).norm_max() < 1e-5);
    }

    /// Distances that no points have: an unseen class that is described as a known one gets the point that the regression
    /// has there, although its kernel is not positive.
    #[test]
    fn distances_of_no_points_are_regressed_by_what_is_positive_of_their_kernel() {
        let twice: Vec<usize> = (0..8).chain(0..8).collect();
        let apart = |i: usize, j: usize| if i == j { 0.0 } else { 1.0 + wave(i.min(j), i.max(j)).round() };
        let raw = Mat::from_fn(16, 16, |i, j| apart(twice[i], twice[j]));
        let given = vec![Representation::new("hierarchy", 1.0, Metric::Precomputed, raw)];
        let semantics = ClassSemantics::from_representations(given, 8);
        let settings = Krr { krr_ridge: Some(0.2), krr_width: Some(0.5), unit_embedding: false };
        let known = landmarks(&twice[..8]);
        let squares = Squares::of(&semantics);
        let (kernel, found) = settings.fit(known.points.as_ref(), &squares).expect("a fit");
        assert!(kernel.spectrum.values.iter().all(|value| *value >= 0.0));
        assert!(kernel.spectrum.values.contains(&0.0), "something was cut off");
        assert!((&kernel.known - kernel.unseen(&squares)).norm_max() < 1e-12, "the same classes again");
        let embedded = settings.embed(&known, &semantics, &Silent).expect("points").points;
        // K + ridge I is solved for the landmarks, so that the regression is off by the ridge times the weights.
        let expected = &known.points - &found.weights * faer::Scale(0.2);
        assert!((embedded - expected).norm_max() < 1e-12);
    }
}
