//! TMV-HLP: several views of the test instances in one space, and labels that spread from prototypes over hypergraphs.
//! Transductive.
//!
//! The views of the test instances are their visual features and, per semantic representation, their descriptions as ridge
//! regression predicts them. Multi-view canonical correlation analysis ([`bidilel_math::multiview`]) gives maps `$P_v$`
//! and correlations $c$; the embedding of an instance in view $v$ is
//! `$$ \psi_v(x) \propto \mathrm{diag}(c)^a P_v^\top x_v $$`
//! with unit norm: the power $a$ lets directions on which the views agree count most. Prototypes are embedded by the maps
//! of their own view; in the visual view, where they have no point, they are the mean of the others. Each then moves
//! halfway to the mean of the instances that are nearest to it over all views.
//!
//! Instances and prototypes are the vertices of a hypergraph. For every ordered pair of views $(u, v)$ each vertex has a
//! hyperedge: itself and the vertices whose embeddings in $v$ are nearest to its own embedding in $u$, weighted by the mean
//! of their cosines. Labels spread from the prototypes ([`bidilel_math::hypergraph`]), and what a class receives is
//! divided by its sum over the batch, so that no class takes more than others.
//!
//! Left open by the paper and chosen here: regression is linear, with ridge 1; the visual view is reduced to its 100 leading
//! principal components, the common space has 50 dimensions, and the correlation analysis has a ridge relative to each
//! view's mean eigenvalue: predictions that are linear in the features correlate fully with them otherwise; the hypergraphs
//! of all pairs of views are one, whose edges have weights relative to each other; prototypes keep half of their place.
//! The hypergraph joins the prototypes, so that the scores of a class depend on which others compete.
//!
//! # References
//! Y. Fu, T. Hospedales, T. Xiang and S. Gong, *Transductive multi-view zero-shot learning*, 2015.

use std::ops::Range;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use bidilel_math::hypergraph::Hypergraph;
use bidilel_math::parallel::{product, zeros};
use bidilel_math::pca::{Method as PcaMethod, principal_components};
use bidilel_math::{Observer, Silent, distance, multiview};

use super::hyperedges::hyperedges;
use super::linear::{Sums, require_linear, vectors};
use super::transductive::{centered, never_stored, require_dim, self_trained};
use super::{FittedMethod, ZeroShotMethod};
use crate::bottom_up::scale_rows;
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition, Scores};
use crate::settings::{self, Settings};
use crate::task::{Prepared, Task};

/// Ridge of the regression to descriptions; features have unit norm.
const REGRESSION_RIDGE: f64 = 1.0;
/// Principal components of the visual view.
const COMPONENTS: usize = 100;
/// Dimensions of the common space.
const DIM: usize = 50;

/// Settings of transductive multi-view hypergraph label propagation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TmvHlp {
    /// Ridge of the correlation analysis, relative to the mean eigenvalue of each view.
    pub tmv_ridge: f64,
    /// Power of the correlations as weights of dimensions: $a$.
    pub tmv_power: f64,
    /// Vertices of a hyperedge beside its own.
    pub tmv_neighbors: usize,
    /// Share of a label that spreads: $\alpha$.
    pub tmv_spread: f64,
    /// Instances that a prototype moves to; 0 leaves it where it is.
    pub tmv_self_training: usize,
}

impl Default for TmvHlp {
    fn default() -> Self {
        Self { tmv_ridge: 0.1, tmv_power: 4.0, tmv_neighbors: 20, tmv_spread: 0.9, tmv_self_training: 20 }
    }
}

/// The known side of transductive multi-view hypergraph label propagation.
#[derive(Debug, Clone, PartialEq)]
pub struct SemanticViews {
    settings: TmvHlp,
    /// Regression from features to all descriptions around their mean.
    regression: LatentSpace,
    /// The rows of each semantic representation.
    parts: Vec<Range<usize>>,
    scales: Option<Vec<f64>>,
    /// Descriptions of known, then unseen classes around the mean description.
    classes: Mat<f64>,
    known: usize,
}

never_stored!(SemanticViews, TmvHlp);

impl TmvHlp {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            tmv_ridge: settings.tmv_ridge.unwrap_or(default.tmv_ridge),
            tmv_power: settings.tmv_power.unwrap_or(default.tmv_power),
            tmv_neighbors: settings.tmv_neighbors.unwrap_or(default.tmv_neighbors),
            tmv_spread: settings.tmv_spread.unwrap_or(default.tmv_spread),
            tmv_self_training: settings.tmv_self_training.unwrap_or(default.tmv_self_training),
        }
    }

    fn check(&self, task: &Task) -> Result<()> {
        settings::check("tmv_ridge", self.tmv_ridge)?;
        settings::check("tmv_power", self.tmv_power)?;
        settings::check("tmv_neighbors", self.tmv_neighbors as f64)?;
        settings::check("tmv_spread", self.tmv_spread)?;
        require_linear(task, "tmv-hlp")
    }
}

impl ZeroShotMethod for TmvHlp {
    type Fitted = SemanticViews;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<SemanticViews> {
        self.check(task)?;
        let all = vectors(&task.semantics, "method `tmv-hlp`")?;
        watch.stage("scatter");
        let sums = Sums::of(task);
        let regression = sums.regression(task, all.subcols(0, task.known.len()), watch)?;
        let classes = regression.centered(all);
        watch.stage("solve");
        let (map, mean) = regression.solve(REGRESSION_RIDGE)?;
        let mut parts = Vec::new();
        let mut first = 0;
        for one in &task.semantics.representations {
            let rows = first..first + one.values.nrows();
            first = rows.end;
            // Without weight a representation is all zero.
            if one.weight > 0.0 {
                parts.push(rows);
            }
        }
        Ok(SemanticViews {
            settings: self.clone(),
            regression: LatentSpace { map: Map::Linear(sums.unscaled(map)), mean },
            parts,
            scales: task.views.scales(),
            classes,
            known: task.known.len(),
        })
    }
}

impl FittedMethod for SemanticViews {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let features = instances.features();
        require_dim(features, self.regression.visual_dim())?;
        let range = candidates.range(self.known, self.classes.ncols() - self.known);
        let classes = self.classes.subcols(range.start, range.len());
        let views = self.embed(features, classes)?;
        let scores = self.spread(&views)?;
        Ok(Scores { values: scores }.into())
    }
}

/// Instances and prototypes in one view, with unit norm.
struct Embedded {
    points: Mat<f64>,
    prototypes: Mat<f64>,
}

impl SemanticViews {
    /// Instances and prototypes in the common space, view by view: the visual one first.
    fn embed(&self, features: MatRef<'_, f32>, classes: MatRef<'_, f64>) -> Result<Vec<Embedded>> {
        let mut views = vec![self.visual(features)?];
        let predicted = self.regression.project_unnormalized(features)?;
        let rows = |part: &Range<usize>| predicted.subrows(part.start, part.len()).to_owned();
        views.extend(self.parts.iter().map(rows));
        views.iter_mut().for_each(center);
        let all: Vec<MatRef<'_, f64>> = views.iter().map(Mat::as_ref).collect();
        let mut found = multiview::correlate(&all, self.settings.tmv_ridge, DIM, &Silent)
            .map_err(Error::in_stage("correlation"))?;
        // A direction along which views disagree has a correlation near zero, where rounding may make it negative.
        let weights =
            found.correlations.iter().map(|c| c.max(0.0).powf(self.settings.tmv_power)).collect::<Vec<_>>();
        for map in &mut found.maps {
            *map = product(map.as_ref(), diagonal(&weights).as_ref());
        }
        let unit = |map: &Mat<f64>, points: MatRef<'_, f64>| {
            let mut embedded = product(map.transpose(), points);
            distance::normalize_columns(embedded.as_mut());
            embedded
        };
        let mut embedded: Vec<Embedded> = Vec::with_capacity(views.len());
        let mut mean = zeros(weights.len(), classes.ncols());
        for (part, (map, view)) in self.parts.iter().zip(found.maps.iter().zip(&views).skip(1)) {
            let prototypes = unit(map, classes.subrows(part.start, part.len()));
            mean += &prototypes;
            embedded.push(Embedded { points: unit(map, view.as_ref()), prototypes });
        }
        distance::normalize_columns(mean.as_mut());
        embedded.insert(0, Embedded { points: unit(&found.maps[0], views[0].as_ref()), prototypes: mean });
        let mut cosines = zeros(classes.ncols(), features.ncols());
        for view in &embedded {
            cosines += product(view.prototypes.transpose(), view.points.as_ref());
        }
        for Embedded { points, prototypes } in &mut embedded {
            *prototypes = self_trained(prototypes, points, &cosines, self.settings.tmv_self_training);
        }
        Ok(embedded)
    }

    /// The leading principal components of the features, or the features where there are no more.
    fn visual(&self, features: MatRef<'_, f32>) -> Result<Mat<f64>> {
        let wide = centered(features, self.scales.as_deref(), &vec![0.0; features.nrows()]);
        if COMPONENTS >= features.nrows().min(features.ncols()) {
            return Ok(wide);
        }
        let found = principal_components(&wide.as_ref(), COMPONENTS, PcaMethod::Exact, &Silent)
            .map_err(Error::in_stage("pca"))?;
        Ok(found.projection.project(wide.as_ref()))
    }

    /// What the candidates' labels give to every instance, relative to what they give to all: candidates x instances.
    fn spread(&self, views: &[Embedded]) -> Result<Mat<f64>> {
        let (instances, classes) = (views[0].points.ncols(), views[0].prototypes.ncols());
        let vertices: Vec<Mat<f64>> = views.iter().map(Embedded::stacked).collect();
        let mut edges = Vec::with_capacity(vertices.len() * vertices.len() * (instances + classes));
        for from in &vertices {
            for to in &vertices {
                edges.extend(hyperedges(from.as_ref(), to.as_ref(), self.settings.tmv_neighbors));
            }
        }
        let labels =
            Mat::from_fn(classes, instances + classes, |c, v| f64::from(u8::from(v == instances + c)));
        let graph = Hypergraph::new(instances + classes, &edges).map_err(Error::in_stage("hypergraph"))?;
        let found = graph
            .propagate(labels.as_ref(), self.settings.tmv_spread, &Silent)
            .map_err(Error::in_stage("hypergraph"))?;
        let mut scores = found.subcols(0, instances).to_owned();
        let mut sums = vec![0.0; classes];
        for i in 0..instances {
            sums.iter_mut().zip(scores.col_as_slice(i)).for_each(|(sum, score)| *sum += score);
        }
        let shares: Vec<f64> = sums.iter().map(|&sum| if sum > 0.0 { 1.0 / sum } else { 0.0 }).collect();
        scale_rows(&mut scores, Some(&shares));
        Ok(scores)
    }
}

impl Embedded {
    /// Instances, then prototypes.
    fn stacked(&self) -> Mat<f64> {
        let count = self.points.ncols();
        let mut all = zeros(self.points.nrows(), count + self.prototypes.ncols());
        all.as_mut().subcols_mut(0, count).copy_from(&self.points);
        all.as_mut().subcols_mut(count, self.prototypes.ncols()).copy_from(&self.prototypes);
        all
    }
}

fn diagonal(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
}

/// Subtracts the mean over the columns.
fn center(view: &mut Mat<f64>) {
    let mean = bidilel_math::scatter::mean(view.as_ref());
    for i in 0..view.ncols() {
        view.col_as_slice_mut(i).iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
}
