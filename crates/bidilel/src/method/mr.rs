//! MR: regression from features to descriptions that is smooth over known and test instances, then prototypes that are
//! trained by themselves, compared without hubs. Transductive.
//!
//! With a graph of nearest neighbors over the `$n_l$` known and all test instances $X$ and its Laplacian $L$, the kernel form is
//! `$f(x) = A^\top k(x)$` with
//! `$$ A = (J K + \lambda_A I + \lambda_I L K)^{-1} \tilde T, $$`
//! where $J$ selects the known instances and the targets of the others in `$\tilde T$` are zero. With the linear kernel
//! $K = X^\top X$ it is $f(x) = W^\top x$ with $W = X A$; both sides times $X$ give
//! `$$ (X_l X_l^\top + \lambda_A I + \lambda_I X L X^\top) W = X_l T^\top, $$`
//! which has the order of the visual dimensions and is positive definite. Features and descriptions are centered on their
//! means over the known instances, which changes nothing in $X L X^\top$.
//!
//! Self-training moves each prototype halfway to the direction of the mean of its nearest test instances. NRM divides the
//! cosine of a class by its norm over the whole batch,
//! `$$ \cos(f(x), p_c) \Big/ \sqrt{\textstyle\sum_i \cos^2(f(x_i), p_c)}, $$`
//! so that a class that is near to everything, a hub, loses its advantage. Both treat every class by itself: the scores of a
//! class do not depend on the other candidates.
//!
//! Left open by the paper and chosen here: the graph has the weights $\exp(-d^2 / 2 t^2)$ with the mean distance $t$ of
//! neighbors, and `$\lambda_I$` is relative: it is multiplied by `$n_l / \sum_i D_{ii}$`, so that neither the number of neighbors
//! nor their weights change its meaning; cosines are those around the mean description of the known instances; prototypes
//! keep half of their description.
//!
//! # References
//! X. Xu, T. Hospedales and S. Gong, *Semantic embedding space for zero-shot action recognition*, 2015. G. Dinu, A.
//! Lazaridou and M. Baroni, *Improving zero-shot learning by mitigating the hubness problem*, 2015 (NRM).

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::graph::Weights;
use bidilel_math::parallel::product;
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Silent, backend, distance, linear};

use super::linear::{Regression, Sums, at_mean, require_linear, vectors};
use super::transductive::{never_stored, require_dim, self_trained};
use super::{FittedMethod, ZeroShotMethod};
use crate::bottom_up::{scale_both, scale_rows};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::post::normalize_classes;
use crate::recognize::{Candidates, Recognition, Scores};
use crate::settings::{self, Settings};
use crate::task::{Prepared, Task};
use crate::visual::{Neighborhood, Search, Views};

/// Settings of manifold regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mr {
    /// The ridge: `$\lambda_A$`.
    pub mr_ridge: f64,
    /// Weight of the smoothness over the graph: `$\lambda_I$`. Without it there is no graph.
    pub mr_manifold: f64,
    /// Neighbors of an instance in the graph.
    pub mr_neighbors: usize,
    /// Test instances that a prototype is trained with; 0 leaves it where its description is.
    pub mr_self_training: usize,
}

impl Default for Mr {
    fn default() -> Self {
        Self { mr_ridge: 1.0, mr_manifold: 0.1, mr_neighbors: 10, mr_self_training: 20 }
    }
}

/// The known side of manifold regression.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifoldRegression {
    settings: Mr,
    views: Views,
    /// The training instances again: the graph needs them beside the test instances.
    features: Mat<f32>,
    sums: Regression,
    /// Descriptions of known, then unseen classes around the mean description, with unit norm.
    classes: Mat<f64>,
    known: usize,
}

never_stored!(ManifoldRegression, Mr);

impl Mr {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            mr_ridge: settings.mr_ridge.unwrap_or(default.mr_ridge),
            mr_manifold: settings.mr_manifold.unwrap_or(default.mr_manifold),
            mr_neighbors: settings.mr_neighbors.unwrap_or(default.mr_neighbors),
            mr_self_training: settings.mr_self_training.unwrap_or(default.mr_self_training),
        }
    }
}

impl ZeroShotMethod for Mr {
    type Fitted = ManifoldRegression;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<ManifoldRegression> {
        settings::check("mr_ridge", self.mr_ridge)?;
        settings::check("mr_manifold", self.mr_manifold)?;
        settings::check("mr_neighbors", self.mr_neighbors as f64)?;
        require_linear(task, "mr")?;
        let all = vectors(&task.semantics, "method `mr`")?;
        watch.stage("scatter");
        let sums = Sums::of(task).regression(task, all.subcols(0, task.known.len()), watch)?;
        let mut classes = sums.centered(all);
        distance::normalize_columns(classes.as_mut());
        Ok(ManifoldRegression {
            settings: self.clone(),
            views: task.views.clone(),
            features: task.train.features.clone(),
            sums,
            classes,
            known: task.known.len(),
        })
    }
}

impl ManifoldRegression {
    /// `$\lambda_I X L X^\top$` over known and test instances, of the scaled features.
    fn smoothness(&self, instances: MatRef<'_, f32>) -> Result<Mat<f64>> {
        let (known, dim) = (self.features.ncols(), self.features.nrows());
        let mut all = bidilel_math::parallel::zeros::<f32>(dim, known + instances.ncols());
        all.as_mut().subcols_mut(0, known).copy_from(&self.features);
        all.as_mut().subcols_mut(known, instances.ncols()).copy_from(instances);
        let how = (Neighborhood::Global, Search::Exact);
        let lists = self.views.neighbors(all.as_ref(), &[], how, self.settings.mr_neighbors, &Silent)?;
        let lists: Vec<_> = lists.iter().collect();
        let graph = self.views.graph(&lists, self.settings.mr_neighbors, None, Weights::Heat);
        let degrees: f64 = (0..graph.count()).map(|i| graph.degree(i)).sum();
        if degrees <= 0.0 {
            return Err(Error::NoEdges);
        }
        let rows: Vec<usize> = (0..dim).collect();
        let data = Selected { points: all.as_ref(), rows: &rows, center: None };
        let pencil = backend::of_graph(data, &graph, &Silent);
        scatter::verify_graph(data, &graph, &pencil, &Silent).map_err(Error::in_stage("scatter"))?;
        let mut smoothness = pencil.right();
        scale_both(&mut smoothness, self.views.scales().as_deref());
        let weight = self.settings.mr_manifold * known as f64 / degrees;
        for j in 0..dim {
            smoothness.col_as_slice_mut(j).iter_mut().for_each(|value| *value *= weight);
        }
        Ok(smoothness)
    }

    /// $W$ for a batch, as a map of the features themselves.
    fn regress(&self, instances: MatRef<'_, f32>) -> Result<LatentSpace> {
        let mut matrix = self.sums.gram.clone();
        if self.settings.mr_manifold > 0.0 {
            matrix += self.smoothness(instances)?;
        }
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += self.settings.mr_ridge);
        let mut map = linear::solve(matrix, self.sums.cross.clone()).map_err(Error::in_stage("solve"))?;
        let mean = at_mean(&map, &self.sums.mean);
        scale_rows(&mut map, self.views.scales().as_deref());
        Ok(LatentSpace { map: Map::Linear(map), mean })
    }
}

impl FittedMethod for ManifoldRegression {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let features = instances.features();
        require_dim(features, self.features.nrows())?;
        let points = self.regress(features)?.project(features)?;
        let range = candidates.range(self.known, self.classes.ncols() - self.known);
        let prototypes = self.classes.subcols(range.start, range.len()).to_owned();
        let cosines = product(prototypes.transpose(), points.as_ref());
        let prototypes = self_trained(&prototypes, &points, &cosines, self.settings.mr_self_training);
        let mut cosines = product(prototypes.transpose(), points.as_ref());
        normalize_classes(&mut cosines);
        Ok(Scores { values: cosines }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;
    use crate::task::Choice;

    #[test]
    fn the_map_satisfies_its_normal_equations() {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(1).expect("data");
        let trial = &dataset.trials(None).expect("a split")[0];
        let task = Task::new(&dataset, trial, &Choice::default(), &Silent).expect("a task");
        let method = Mr { mr_manifold: 2.0, mr_ridge: 0.5, ..Mr::default() };
        let fitted = method.fit(&task, &Silent).expect("a fit");
        let test = task.test.prepared().features();
        let Map::Linear(map) = fitted.regress(test).expect("a map").map else { panic!("it is linear") };
        let mut gradient = &fitted.sums.gram * &map + fitted.smoothness(test).expect("a graph") * &map;
        gradient -= &fitted.sums.cross;
        gradient += &map * faer::Scale(0.5);
        assert!(gradient.norm_max() < 1e-9, "{}", gradient.norm_max());
    }
}
