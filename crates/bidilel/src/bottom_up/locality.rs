//! Locality preserving projection, supervised (SLPP) and not (LPP).
//!
//! Over a graph $W$ of near neighbors ([`bidilel_math::graph`]) with degrees $D$ and Laplacian $L$, the
//! leading eigenvectors of
//! $$X D X^\top p = \lambda (X L X^\top + \alpha I) p$$
//! (visual x visual dimensions) keep neighbors together (Wang & Chen 2017, eqs. 1-5). In SLPP only
//! neighbors of one class are joined. The eigenvectors are scaled so that
//! $p^\top (X L X^\top + \alpha I) p = 1$: after the l2-normalization of projected instances the scale of
//! each dimension matters, and this one is best (CUB: 51.4 %, against 49.9 % for unit vectors).
//!
//! # Differences from the paper
//! The nomenclature calls $P$ an $n_l \times d_y$ matrix, which holds for its kernel form only. With a linear
//! kernel that form is the problem above with $\alpha (X X^\top)^+$ instead of $\alpha I$
//! ([`Regularizer::Kernel`]); both are solved in the visual dimensions, and nothing of size
//! instances x instances is ever built.
//!
//! # References
//! X. He and P. Niyogi, *Locality preserving projections*, 2004. J. Cheng et al., *Supervised kernel
//! locality preserving projections for face recognition*, 2005.

use serde::{Deserialize, Serialize};

use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Observer, Scalar, backend};

use super::scatters::Scatters;
use super::{LatentSpaceLearner, Learner, Sizes, resolve_dim, total_scatter, varying_dimensions};
use crate::error::{Error, Result};
use crate::latent_space::{LatentSpace, Map};
use crate::settings::{self, Settings, named};
use crate::task::Training;
use crate::visual::{Neighborhood, Search};

/// Training instances beyond which an exact search reports its cost.
const MANY_INSTANCES: usize = 200_000;

/// What makes the right-hand matrix positive definite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regularizer {
    /// $\alpha I$.
    #[default]
    Identity,
    /// $\alpha (X X^\top)^+$, that of the kernel form.
    Kernel,
}

named! {
    Neighborhood: "global" | "within-class";
    Search: "exact" | "approximate";
    Regularizer: "identity" | "kernel";
}

/// Settings that SLPP and LPP share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Locality {
    /// Weight of the regularizer: $\alpha$.
    pub alpha: f64,
    /// Latent dimensions: $d_y$; up to 100 if not given.
    pub dim: Option<usize>,
    /// Neighbors of an instance: $k_G$.
    pub neighbors: usize,
    /// How neighbors are searched for. Left out of files where it is exact, as files were before there was a choice.
    #[serde(skip_serializing_if = "Search::is_exact")]
    pub search: Search,
    /// Weights of edges.
    pub weights: Weights,
    /// The regularizer.
    pub regularizer: Regularizer,
    /// Whether features are centered first.
    pub center: bool,
}

impl Default for Locality {
    fn default() -> Self {
        Self {
            alpha: 10.0,
            dim: None,
            neighbors: 10,
            search: Search::default(),
            weights: Weights::default(),
            regularizer: Regularizer::default(),
            center: false,
        }
    }
}

/// Supervised locality preserving projection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slpp {
    /// Settings shared with LPP.
    #[serde(flatten)]
    pub locality: Locality,
    /// Where neighbors are searched for.
    #[serde(default)]
    pub neighborhood: Neighborhood,
}

/// Locality preserving projection, blind to labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lpp {
    /// Settings shared with SLPP.
    #[serde(flatten)]
    pub locality: Locality,
}

impl Slpp {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self {
            locality: Locality::from_settings(settings),
            neighborhood: settings.neighborhood.unwrap_or_default(),
        }
    }

    /// The graph of the training instances, the mean over their views.
    pub(crate) fn graph<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        watch: &dyn Observer,
    ) -> Result<Affinity> {
        self.locality.graph(training, self.neighborhood, Some(training.labels), watch)
    }
}

impl Lpp {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        Self { locality: Locality::from_settings(settings) }
    }

    /// The graph of the training instances, the mean over their views.
    pub(crate) fn graph<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        watch: &dyn Observer,
    ) -> Result<Affinity> {
        self.locality.graph(training, Neighborhood::Global, None, watch)
    }
}

impl Learner for Slpp {
    fn dim(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.locality.dim)
    }

    fn alpha(&mut self) -> Option<&mut f64> {
        Some(&mut self.locality.alpha)
    }

    fn most_dim(&self, sizes: &Sizes) -> usize {
        sizes.instances
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for Slpp {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        let graph = self.graph(training, watch)?;
        self.locality.fit_graph(training, &graph, watch)
    }
}

impl Learner for Lpp {
    fn dim(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.locality.dim)
    }

    fn alpha(&mut self) -> Option<&mut f64> {
        Some(&mut self.locality.alpha)
    }

    fn most_dim(&self, sizes: &Sizes) -> usize {
        sizes.instances
    }
}

impl<T: Scalar> LatentSpaceLearner<T> for Lpp {
    fn fit(&self, training: &Training<'_, T>, watch: &dyn Observer) -> Result<LatentSpace> {
        let graph = self.graph(training, watch)?;
        self.locality.fit_graph(training, &graph, watch)
    }
}

impl Locality {
    fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        // Several views or kernels ask for the problem in the form that kernels have.
        let regularizer = if settings.is_fused() { Regularizer::Kernel } else { default.regularizer };
        Self {
            alpha: settings.alpha.unwrap_or(default.alpha),
            dim: settings.dim,
            neighbors: settings.neighbors.unwrap_or(default.neighbors),
            search: settings.search.unwrap_or(default.search),
            weights: settings.weights.unwrap_or(default.weights),
            regularizer: settings.regularizer.unwrap_or(regularizer),
            center: settings.center.unwrap_or(default.center),
        }
    }

    /// Fails where a setting is out of its range.
    pub(crate) fn check(&self) -> Result<()> {
        settings::check("alpha", self.alpha)?;
        settings::check("neighbors", self.neighbors as f64)
    }

    fn graph<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        neighborhood: Neighborhood,
        labels: Option<&[usize]>,
        watch: &dyn Observer,
    ) -> Result<Affinity> {
        self.check()?;
        watch.stage("neighbors");
        let Training { features, labels: all, views, .. } = training;
        if neighborhood == Neighborhood::Global && self.search == Search::Exact {
            note_cost(features.ncols(), features.nrows(), watch);
        }
        let how = (neighborhood, self.search);
        let lists = views.neighbors(*features, all, how, self.neighbors, watch)?;
        Ok(views.graph(&lists.iter().collect::<Vec<_>>(), self.neighbors, labels, self.weights))
    }

    /// Solves eq. (5) for a given graph over the training instances.
    pub(crate) fn fit_graph<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        graph: &Affinity,
        watch: &dyn Observer,
    ) -> Result<LatentSpace> {
        let scatters = self.scatters(training, graph, watch)?;
        let dim = resolve_dim(self.dim, scatters.most_dim, "varying features, and instances")?;
        let map = scatters.solve_once(self.alpha, dim, watch)?;
        Ok(LatentSpace::centered(Map::Linear(map), training.features))
    }

    /// The matrices of eq. (5), which depend neither on `alpha` nor on `dim`.
    pub(crate) fn scatters<T: Scalar>(
        &self,
        training: &Training<'_, T>,
        graph: &Affinity,
        watch: &dyn Observer,
    ) -> Result<Scatters> {
        Self::check_graph(graph, watch)?;
        let rows = varying_dimensions(training, watch)?;
        watch.stage("scatter");
        let center = self.center.then(|| scatter::mean(training.features));
        let data = Selected { points: training.features, rows: &rows, center: center.as_deref() };
        let pencil = backend::of_graph(data, graph, watch);
        scatter::verify_graph(data, graph, &pencil, watch).map_err(Error::in_stage("scatter"))?;
        let gram = match self.regularizer {
            Regularizer::Identity => None,
            Regularizer::Kernel => Some(total_scatter(data, watch)?),
        };
        Ok(Scatters::new(pencil, gram, rows, training.views, training.features.ncols()))
    }

    /// Fails without edges; notes weights that have all but vanished, which are as good as none.
    pub(crate) fn check_graph(graph: &Affinity, watch: &dyn Observer) -> Result<()> {
        match graph.median_weight() {
            None => Err(Error::NoEdges),
            Some(median) if median < 1e-6 => {
                watch.note(&format!(
                    "the median graph weight is {median:.1e}, so the graph has no effect: \
                     normalize the features (`normalize = l2`) or scale the weights to them (`weights = heat`)"
                ));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether the matrices are sums of terms of single instances, given the graph.
    pub(crate) fn is_additive(&self) -> bool {
        !self.center && self.regularizer == Regularizer::Identity
    }
}

/// Comparing all pairs of very many instances takes long: notes how long, and the alternative.
fn note_cost(instances: usize, dim: usize, watch: &dyn Observer) {
    if instances > MANY_INSTANCES {
        let operations = (instances as f64).powi(2) * dim as f64;
        watch.note(&format!(
            "exact neighbors of {instances} instances take {:.1} x 10^12 operations, some {:.0} s at 100 GFLOP/s; \
             `search = approximate` takes a fraction of that and finds nearly all of them",
            operations / 1e12,
            operations / 1e11
        ));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Observer for Notes {
        fn note(&self, message: &str) {
            self.0.lock().unwrap().push(message.to_owned());
        }
    }

    #[test]
    fn only_searches_of_very_many_instances_tell_their_cost_and_the_other_way() {
        let notes = Notes::default();
        note_cost(MANY_INSTANCES, 4096, &notes);
        assert!(notes.0.lock().unwrap().is_empty());
        note_cost(250_000, 128, &notes);
        let said = notes.0.into_inner().unwrap();
        assert!(
            said[0].contains("8.0 x 10^12 operations, some 80 s")
                && said[0].contains("`search = approximate`")
        );
    }

    #[test]
    fn a_search_is_written_only_where_it_is_not_exact_and_read_where_it_is_missing() {
        let written = |search| serde_json::to_value(Locality { search, ..Locality::default() }).unwrap();
        assert!(written(Search::Exact).get("search").is_none());
        assert_eq!(written(Search::Approximate)["search"], "approximate");
        for search in [Search::Exact, Search::Approximate] {
            assert_eq!(serde_json::from_value::<Locality>(written(search)).unwrap().search, search);
        }
    }
}
