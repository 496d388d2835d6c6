//! Correlation with the descriptions and separation of the classes in one problem.
//!
//! The leading eigenvectors of `$A p = \lambda B p$` with
//! `$$ A = \frac{N}{\mathrm{tr} N} + \frac{S_b}{\mathrm{tr} S_b}, \qquad B = S_t - \tfrac12 S_b + r\, \bar\lambda I, $$`
//! where $N = C_{xs} (C_{ss} + r_s \bar\lambda_s I)^{-1} C_{sx}$ is what canonical correlation analysis maximizes, $S_b$ and
//! $S_t$ are the between-class and the total scatter, and $\bar\lambda$ is the mean of the diagonal. What the descriptions
//! share with the features carries over to unseen classes; what separates the known classes beyond that helps to tell
//! unseen ones apart. Half of $S_b$ in $B$ lies between dividing by the total scatter and by that within classes.
//!
//! Both parts of $A$ have the range of the class means: with $S_b = H H^\top$ and $C_{xs} = H F^\top$ it is `$H W H^\top$`
//! for a classes x classes matrix $W$.
//!
//! # References
//! Not of the paper; its parts are those of `cca` and `lda`.

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::eigen::{self, Whitener};
use bidilel_math::parallel::product;
use bidilel_math::{Observer, Scalar};

use super::moments::{Moments, add_relative, check_classes, leading_left};
use super::semantic_factor::semantic_factor;
use super::{DEFAULT_DIM, LatentSpaceLearner, Learner, Sizes, resolve_dim};
use crate::error::{Error, Result};
use crate::latent_space::LatentSpace;
use crate::settings::{self, Settings};
use crate::task::Training;

/// How much of the between-class scatter is taken from the total one.
const WITHIN: f64 = 0.5;
/// Ridge of the covariance of descriptions, relative to its mean eigenvalue: $r_s$.
const SEMANTIC_RIDGE: f64 = 0.1;

/// Settings of the joint problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CcaLda {
    /// Latent dimensions; classes less one, up to 100, if not given.
    pub dim: Option<usize>,
    /// Ridge, relative to the mean of the diagonal: $r$.
    pub ridge: f64,
}

impl Default for CcaLda {
    fn default() -> Self {
        Self { dim: None, ridge: 1.0 }
    }
}

impl CcaLda {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { dim: settings.dim, ridge: settings.ridge.unwrap_or(Self::default().ridge) }
    }
}

impl Learner for CcaLda {
    fn dim(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.dim)
    }

    fn most_dim(&self, sizes: &Sizes) -> usize {
        sizes.classes.saturating_sub(1)
    }

    fn reads_semantics(&self) -> bool {
        true
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for CcaLda {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        settings::check("ridge", self.ridge)?;
        check_classes(training.classes)?;
        let descriptions = semantic_factor(training, "bottom-up `cca+lda`")?;
        let mut moments = Moments::of(training, watch)?;
        let most = moments.rows.len().min(training.classes.saturating_sub(1)).max(1);
        let fallback = DEFAULT_DIM.min(most);
        let dim =
            resolve_dim(self.dim.or(Some(fallback)), most, "known classes less one, and varying features")?;
        watch.stage("eigen");
        let weights = class_weights(&moments.classes, &descriptions)?;
        let between = product(moments.classes.as_ref(), moments.classes.transpose());
        // The ridge is relative to the total scatter, whatever is taken from it.
        add_relative(&mut moments.total, self.ridge);
        moments.total -= faer::Scale(WITHIN) * between;
        let whitener = Whitener::new(moments.total.as_ref(), watch).map_err(Error::in_stage("eigen"))?;
        let factor = product(whitener.forward(moments.classes.as_ref()).as_ref(), weights.as_ref());
        let map = whitener.back(leading_left(factor.as_ref(), dim)?.as_ref());
        Ok(moments.space(map, training))
    }
}

/// A square root of $W = K / \mathrm{tr}(H K H^\top) + I / \mathrm{tr}(H H^\top)$ with $K = F^\top (F F^\top + r_s \bar\lambda_s I)^{-1} F$,
/// classes x classes.
fn class_weights(classes: &Mat<f64>, descriptions: &Mat<f64>) -> Result<Mat<f64>> {
    // K has the eigenvectors of F^T F: with its eigenvalue l that of K is l / (l + ridge).
    let gram = product(descriptions.transpose(), descriptions.as_ref());
    let count = gram.nrows();
    let trace: f64 = (0..count).map(|i| gram[(i, i)]).sum();
    let ridge = SEMANTIC_RIDGE * trace / descriptions.nrows() as f64;
    let eigen::Eigen { values, vectors } =
        eigen::full(gram.as_ref(), count).map_err(Error::in_stage("eigen"))?;
    let shrunk: Vec<f64> = values.iter().map(|value| value.max(0.0) / (value.max(0.0) + ridge)).collect();
    // The trace of H K H^T is the sum over eigenvectors of K of shrunk |H v|^2.
    let turned = product(classes.as_ref(), vectors.as_ref());
    let numerator: f64 =
        turned.col_iter().zip(&shrunk).map(|(column, value)| value * column.squared_norm_l2()).sum();
    let between = classes.squared_norm_l2();
    let scale = |k: usize| {
        let own = if numerator > 0.0 { shrunk[k] / numerator } else { 0.0 };
        (own + if between > 0.0 { 1.0 / between } else { 0.0 }).sqrt()
    };
    Ok(Mat::from_fn(count, count, |i, k| vectors[(i, k)] * scale(k)))
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;

    use super::*;
    use crate::latent_space::Map;
    use crate::visual::Views;

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 37 + j * 11 + i * j * 5) as f64 * 0.731).sin()
    }

    /// The eigenvectors of the equations in the module's first lines, matrix by matrix.
    #[test]
    fn found_directions_solve_the_problem_as_it_is_written() {
        let (features, classes, semantic) = (6, 4, 3);
        let labels: Vec<usize> = (0..40).map(|i| (i + i / 9) % classes).collect();
        let data = Mat::from_fn(features, 40, |i, j| wave(i, j) + 2.0 * wave(i + 9, labels[j]));
        let described = Mat::from_fn(semantic, classes, |i, j| wave(i + 3, j + 5));
        let views = Views::single("all", features);
        let training = Training {
            features: data.as_ref(),
            labels: &labels,
            classes,
            semantics: Some(described.as_ref()),
            views: &views,
            total: None,
        };
        let learner = CcaLda { dim: Some(3), ridge: 0.3 };
        let space = learner.fit(&training, &Silent).expect("a space");
        let Map::Linear(map) = &space.map else { panic!("a linear map") };

        let mean =
            |of: &dyn Fn(usize, usize) -> f64, row: usize| (0..40).map(|j| of(row, j)).sum::<f64>() / 40.0;
        let x = Mat::from_fn(features, 40, |i, j| data[(i, j)] - mean(&|i, j| data[(i, j)], i));
        let s_at = |i: usize, j: usize| described[(i, labels[j])];
        let s = Mat::from_fn(semantic, 40, |i, j| s_at(i, j) - mean(&s_at, i));
        let total = &x * x.transpose();
        let mut between = Mat::<f64>::zeros(features, features);
        for class in 0..classes {
            let own: Vec<usize> = (0..40).filter(|&j| labels[j] == class).collect();
            let center = |i: usize| own.iter().map(|&j| x[(i, j)]).sum::<f64>() / own.len() as f64;
            between += Mat::from_fn(features, features, |i, j| own.len() as f64 * center(i) * center(j));
        }
        let trace = |m: &Mat<f64>| (0..m.nrows()).map(|i| m[(i, i)]).sum::<f64>();
        let mut covariance = &s * s.transpose();
        let ridge = SEMANTIC_RIDGE * trace(&covariance) / semantic as f64;
        (0..semantic).for_each(|i| covariance[(i, i)] += ridge);
        let cross = &x * s.transpose();
        let inverse = Whitener::new(covariance.as_ref(), &Silent).expect("a factor");
        let half = inverse.forward(cross.transpose());
        let numerator = half.transpose() * &half;
        let left =
            &numerator * faer::Scale(1.0 / trace(&numerator)) + &between * faer::Scale(1.0 / trace(&between));
        let mut right = &total - &between * faer::Scale(0.5);
        (0..features).for_each(|i| right[(i, i)] += 0.3 * trace(&total) / features as f64);
        for direction in 0..3 {
            let p = map.subcols(direction, 1);
            let (ap, bp) = (&left * p, &right * p);
            let norm = (p.transpose() * &bp)[(0, 0)];
            assert!((norm - 1.0).abs() < 1e-9, "direction {direction} has norm {norm}");
            let value = (p.transpose() * &ap)[(0, 0)];
            assert!((&ap - &bp * faer::Scale(value)).norm_max() < 1e-9 * ap.norm_max());
        }
    }
}
