//! UDA: a dictionary from descriptions to features that adapts to the test instances. Transductive.
//!
//! On the known side a dictionary takes the descriptions $T$ of the instances to their features $X$,
//! `$$ D_s = X T^\top (T T^\top + \rho I)^{-1}. $$`
//! For test instances `$x_i$` and the prototypes `$s_j$` of the candidates
//! `$$ \min_{D, Z} \sum_i \Big( \|x_i - D z_i\|^2 + \lambda_1 \|z_i\|_1 + \lambda_3 \sum_j w_{ij} \|z_i - s_j\|^2 \Big)
//! + \lambda_2 \|D - D_s\|^2, $$`
//! and an instance belongs to the prototype that is nearest to its code `$z_i$`. The two halves alternate, each solved to the
//! end, so that the objective never rises. With weights that sum to 1 per instance, the last term is
//! `$\|z_i - m_i\|^2$` with `$m_i = \sum_j w_{ij} s_j$`, up to a constant:
//! - codes: a lasso with the Gram matrix `$D^\top D + \lambda_3 I$` and the linear terms `$D^\top x_i + \lambda_3 m_i$`
//!   ([`bidilel_math::lasso`]), from the codes of the round before;
//! - dictionary: `$D = (X Z^\top + \lambda_2 D_s) (Z Z^\top + \lambda_2 I)^{-1}$`.
//!
//! Left open by the paper and chosen here: features and descriptions are centered on their means over the known instances;
//! the weights come from ridge regression (with ridge 1) from features to descriptions, as the softmax of the cosines to
//! the candidates over a temperature of 0.1, and stay as they are; the number of rounds is fixed. The weights compare the
//! candidates with each other, so that the scores of a class depend on which others compete.
//!
//! # References
//! E. Kodirov, T. Xiang, Z. Fu and S. Gong, *Unsupervised domain adaptation for zero-shot learning*, 2015.

use std::sync::Arc;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::logistic::softmax;
use bidilel_math::parallel::product;
use bidilel_math::{Observer, Silent, distance, lasso, linear};

use super::linear::{Sums, require_linear, vectors};
use super::transductive::{centered, never_stored, require_dim};
use super::{FittedMethod, ZeroShotMethod};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition};
use crate::settings::{self, Settings};
use crate::task::{Prepared, Task};

/// Ridge of the regression that the weights come from; features have unit norm.
const WEIGHTS_RIDGE: f64 = 1.0;
/// Cosines are divided by this before the softmax.
const TEMPERATURE: f64 = 0.1;

/// Settings of unsupervised domain adaptation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uda {
    /// Ridge of the known dictionary: $\rho$.
    pub uda_ridge: f64,
    /// Weight of the sparsity of codes: `$\lambda_1$`.
    pub uda_sparsity: f64,
    /// Weight of the known dictionary: `$\lambda_2$`.
    pub uda_dictionary: f64,
    /// Weight of the prototypes: `$\lambda_3$`.
    pub uda_prototypes: f64,
    /// How often codes and dictionary alternate.
    pub uda_rounds: usize,
}

impl Default for Uda {
    fn default() -> Self {
        Self {
            uda_ridge: 10.0,
            uda_sparsity: 0.001,
            uda_dictionary: 10.0,
            uda_prototypes: 0.1,
            uda_rounds: 5,
        }
    }
}

/// The known side of unsupervised domain adaptation.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownDictionary {
    settings: Uda,
    /// `$D_s$`, visual x semantic dimensions.
    dictionary: Mat<f64>,
    /// The regression that the weights come from.
    regression: LatentSpace,
    /// The mean of the features, and the root of its view's weight for every feature where there are several views.
    mean: Vec<f64>,
    scales: Option<Vec<f64>>,
    /// Descriptions of known, then unseen classes around the mean description.
    classes: Mat<f64>,
    known: usize,
}

never_stored!(KnownDictionary, Uda);

impl Uda {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            uda_ridge: settings.uda_ridge.unwrap_or(default.uda_ridge),
            uda_sparsity: settings.uda_sparsity.unwrap_or(default.uda_sparsity),
            uda_dictionary: settings.uda_dictionary.unwrap_or(default.uda_dictionary),
            uda_prototypes: settings.uda_prototypes.unwrap_or(default.uda_prototypes),
            uda_rounds: settings.uda_rounds.unwrap_or(default.uda_rounds),
        }
    }

    fn check(&self, task: &Task) -> Result<()> {
        settings::check("uda_ridge", self.uda_ridge)?;
        settings::check("uda_sparsity", self.uda_sparsity)?;
        settings::check("uda_dictionary", self.uda_dictionary)?;
        settings::check("uda_prototypes", self.uda_prototypes)?;
        settings::check("uda_rounds", self.uda_rounds as f64)?;
        require_linear(task, "uda")
    }
}

impl ZeroShotMethod for Uda {
    type Fitted = KnownDictionary;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<KnownDictionary> {
        self.check(task)?;
        let all = vectors(&task.semantics, "method `uda`")?;
        let known = task.known.len();
        watch.stage("scatter");
        let sums = Sums::of(task);
        let regression = sums.regression(task, all.subcols(0, known), watch)?;
        let classes = regression.centered(all);
        watch.stage("solve");
        let (cross, mut gram) = sums.with_semantics(classes.subcols(0, known));
        (0..gram.nrows()).for_each(|i| gram[(i, i)] += self.uda_ridge);
        let dictionary =
            linear::solve(gram, cross.transpose().to_owned()).map_err(Error::in_stage("solve"))?;
        let mean = regression.mean.clone();
        let (map, at_mean) = regression.solve(WEIGHTS_RIDGE)?;
        Ok(KnownDictionary {
            settings: self.clone(),
            dictionary: dictionary.transpose().to_owned(),
            regression: LatentSpace { map: Map::Linear(sums.unscaled(map)), mean: at_mean },
            mean,
            scales: task.views.scales(),
            classes,
            known,
        })
    }
}

impl FittedMethod for KnownDictionary {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let features = instances.features();
        require_dim(features, self.mean.len())?;
        let range = candidates.range(self.known, self.classes.ncols() - self.known);
        let prototypes = self.classes.subcols(range.start, range.len());
        let points = self.regression.project(features)?;
        let problem = Adaptation {
            settings: &self.settings,
            known: &self.dictionary,
            instances: centered(features, self.scales.as_deref(), &self.mean),
            targets: product(prototypes, weights(prototypes, &points).as_ref()),
        };
        let codes = problem.solve(|_, _| ())?;
        Ok(Recognition::nearest(Arc::new(codes), prototypes.to_owned()))
    }
}

/// `$w_{ij}$`, prototypes x points: the softmax of cosines.
fn weights(prototypes: MatRef<'_, f64>, points: &Mat<f64>) -> Mat<f64> {
    let mut unit = prototypes.to_owned();
    distance::normalize_columns(unit.as_mut());
    let mut weights = product(unit.transpose(), points.as_ref());
    for i in 0..weights.ncols() {
        let column = weights.col_as_slice_mut(i);
        column.iter_mut().for_each(|cosine| *cosine /= TEMPERATURE);
        softmax(column);
    }
    weights
}

/// The problem of a batch of test instances.
struct Adaptation<'a> {
    settings: &'a Uda,
    /// `$D_s$`.
    known: &'a Mat<f64>,
    /// $X$, visual dimensions x instances.
    instances: Mat<f64>,
    /// `$m_i$`, semantic dimensions x instances.
    targets: Mat<f64>,
}

impl Adaptation<'_> {
    /// Alternates; `half` gets dictionary and codes after each half of a round.
    fn solve(&self, mut half: impl FnMut(&Mat<f64>, &Mat<f64>)) -> Result<Mat<f64>> {
        let (mut dictionary, mut codes) = (self.known.clone(), self.targets.clone());
        for round in 0..self.settings.uda_rounds {
            if round > 0 {
                dictionary = self.dictionary(&codes)?;
                half(&dictionary, &codes);
            }
            codes = self.codes(&dictionary, codes)?;
            half(&dictionary, &codes);
        }
        Ok(codes)
    }

    /// The Gram matrix and the linear terms of the lasso.
    fn lasso(&self, dictionary: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
        let weight = self.settings.uda_prototypes;
        let mut gram = product(dictionary.transpose(), dictionary.as_ref());
        (0..gram.nrows()).for_each(|i| gram[(i, i)] += weight);
        let mut linear = product(dictionary.transpose(), self.instances.as_ref());
        for i in 0..linear.ncols() {
            let own = linear.col_as_slice_mut(i);
            bidilel_math::vector::add_scaled(own, weight, self.targets.col_as_slice(i));
        }
        (gram, linear)
    }

    fn codes(&self, dictionary: &Mat<f64>, init: Mat<f64>) -> Result<Mat<f64>> {
        let (gram, linear) = self.lasso(dictionary);
        let penalty = self.settings.uda_sparsity / 2.0;
        lasso::solve(gram.as_ref(), linear.as_ref(), penalty, Some(init), &Silent)
            .map_err(Error::in_stage("codes"))
    }

    fn dictionary(&self, codes: &Mat<f64>) -> Result<Mat<f64>> {
        let weight = self.settings.uda_dictionary;
        let mut gram = product(codes.as_ref(), codes.transpose());
        (0..gram.nrows()).for_each(|i| gram[(i, i)] += weight);
        let mut rhs = product(codes.as_ref(), self.instances.transpose());
        for i in 0..rhs.nrows() {
            let known = self.known.col_as_slice(i);
            known.iter().enumerate().for_each(|(j, value)| rhs[(i, j)] += weight * value);
        }
        let found = linear::solve(gram, rhs).map_err(Error::in_stage("dictionary"))?;
        Ok(found.transpose().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: usize, columns: usize, seed: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| ((i * 31 + j * 17 + seed) as f64).powi(2).sin())
    }

    fn objective(problem: &Adaptation<'_>, dictionary: &Mat<f64>, codes: &Mat<f64>) -> f64 {
        let Uda { uda_sparsity, uda_dictionary, uda_prototypes, .. } = *problem.settings;
        let absolute: f64 = (0..codes.ncols()).flat_map(|j| codes.col_as_slice(j)).map(|z| z.abs()).sum();
        (&problem.instances - dictionary * codes).squared_norm_l2()
            + uda_sparsity * absolute
            + uda_dictionary * (dictionary - problem.known).squared_norm_l2()
            + uda_prototypes * (codes - &problem.targets).squared_norm_l2()
    }

    #[test]
    fn each_half_is_optimal_and_the_objective_never_rises() {
        let settings = Uda {
            uda_sparsity: 0.2,
            uda_dictionary: 0.5,
            uda_prototypes: 0.3,
            uda_rounds: 6,
            ..Uda::default()
        };
        let known = wave(9, 5, 1);
        let problem = Adaptation {
            settings: &settings,
            known: &known,
            instances: wave(9, 30, 2),
            targets: wave(5, 30, 3),
        };
        let mut objectives = vec![objective(&problem, &known, &problem.targets)];
        let codes =
            problem.solve(|dictionary, codes| objectives.push(objective(&problem, dictionary, codes)));
        let codes = codes.expect("codes");
        assert!(
            objectives.len() == 12 && objectives.windows(2).all(|two| two[1] <= two[0] + 1e-9),
            "{objectives:?}"
        );
        assert!(objectives[11] < objectives[1]);
        // The gradient in the dictionary vanishes.
        let dictionary = problem.dictionary(&codes).expect("a dictionary");
        let gradient = (&dictionary * &codes - &problem.instances) * codes.transpose()
            + (&dictionary - &known) * faer::Scale(settings.uda_dictionary);
        assert!(gradient.norm_max() < 1e-10, "{}", gradient.norm_max());
        // No subgradient in the codes is away from zero.
        let (gram, linear) = problem.lasso(&dictionary);
        let codes = problem.codes(&dictionary, codes).expect("codes");
        let violation = lasso::violation(gram.as_ref(), linear.as_ref(), 0.1, codes.as_ref());
        assert!(violation < 1e-5, "{violation}");
    }

    #[test]
    fn weights_sum_to_one_and_favor_the_nearest_prototype() {
        let prototypes = faer::mat![[2.0, 0.0], [0.0, 0.5]];
        let found = weights(prototypes.as_ref(), &faer::mat![[0.6], [0.8]]);
        assert!((found[(0, 0)] + found[(1, 0)] - 1.0).abs() < 1e-12 && found[(1, 0)] > found[(0, 0)]);
    }
}
