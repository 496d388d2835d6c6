//! Label propagation over a weighted hypergraph, whose edges join any number of vertices.
//!
//! With the incidence $H$ (vertices x edges, 0 or 1), weights $w$ of edges, degrees `$\delta_e = \sum_v H_{ve}$` of edges and
//! `$d_v = \sum_e w_e H_{ve}$` of vertices
//! `$$ \Theta = D_v^{-1/2} H W D_e^{-1} H^\top D_v^{-1/2}, \qquad F = (1 - \alpha) (I - \alpha \Theta)^{-1} Y. $$`
//! $\Theta$ is positive semi-definite with eigenvalues up to 1, so that the system is positive definite with a condition
//! number of at most $1 / (1 - \alpha)$: conjugate gradients solve it in some tens of products with $H$, one system per label.
//! $\Theta$ is never formed.
//!
//! ```
//! use bidilel_math::{Silent, hypergraph::Hypergraph};
//!
//! // Vertex 0 has a label and shares an edge with vertex 1 only.
//! let graph = Hypergraph::new(4, &[(vec![0, 1], 1.0), (vec![2, 3], 1.0)])?;
//! let labels = faer::mat![[1.0, 0.0, 0.0, 0.0]];
//! let found = graph.propagate(labels.as_ref(), 0.9, &Silent)?;
//! assert!(found[(0, 1)] > 0.1 && found[(0, 2)].abs() < 1e-12);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! D. Zhou, J. Huang and B. Schölkopf, *Learning with hypergraphs*, 2006.

use faer::{Mat, MatRef};

use crate::conjugate::{self, gather};
use crate::csr::Csr;
use crate::{Error, Observer, Result};

/// A weighted hypergraph.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypergraph {
    /// Per edge, its vertices, each with `$d_v^{-1/2} w_e / \delta_e$`.
    members: Csr,
    /// Per vertex, its edges, each with `$d_v^{-1/2}$`.
    edges: Csr,
}

impl Hypergraph {
    /// The hypergraph of edges, each with its vertices and its weight.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a weight that is negative or not finite; [`Error::Shape`] for a vertex that does not exist.
    pub fn new(vertices: usize, edges: &[(Vec<usize>, f64)]) -> Result<Self> {
        let mut incident = vec![Vec::new(); vertices];
        let mut degree = vec![0.0; vertices];
        for (edge, (members, weight)) in edges.iter().enumerate() {
            if !(*weight >= 0.0 && weight.is_finite()) {
                let (parameter, expected) = ("the weight of a hyperedge", "finite and not negative");
                return Err(Error::Parameter { parameter, expected, found: *weight });
            }
            for &vertex in members {
                let what = "the vertex of a hyperedge";
                let missing = Error::Shape { what, expected: vertices, found: vertex };
                incident.get_mut(vertex).ok_or(missing)?.push((edge, 0.0));
                degree[vertex] += weight;
            }
        }
        // A vertex whose edges all have weight zero has no edge.
        let root = |vertex: usize| if degree[vertex] > 0.0 { degree[vertex].sqrt().recip() } else { 0.0 };
        for (vertex, list) in incident.iter_mut().enumerate() {
            list.iter_mut().for_each(|(_, value)| *value = root(vertex));
        }
        let lengths: Vec<usize> = edges.iter().map(|(members, _)| members.len()).collect();
        let members = |edge: usize| {
            let (members, weight) = &edges[edge];
            let share = weight / members.len() as f64;
            members.iter().map(move |&vertex| (vertex, share * root(vertex))).collect::<Vec<_>>()
        };
        Ok(Self { members: Csr::new(&lengths, members), edges: Csr::from_lists(&incident) })
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.edges.nrows()
    }

    /// $F$ for the labels $Y$, both labels x vertices.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless $\alpha$ is from 0 to below 1; [`Error::Shape`] for another number of vertices;
    /// [`Error::NoConvergence`]; [`Error::Cancelled`].
    pub fn propagate(&self, labels: MatRef<'_, f64>, alpha: f64, watch: &dyn Observer) -> Result<Mat<f64>> {
        if !(0.0..1.0).contains(&alpha) {
            let (parameter, expected) = ("alpha of a label propagation", "from 0 to below 1");
            return Err(Error::Parameter { parameter, expected, found: alpha });
        }
        if labels.ncols() != self.vertices() {
            let (what, found) = ("the number of labeled vertices", labels.ncols());
            return Err(Error::Shape { what, expected: self.vertices(), found });
        }
        let start = Mat::from_fn(labels.nrows(), labels.ncols(), |i, j| (1.0 - alpha) * labels[(i, j)]);
        conjugate::solve(start, |values| self.system(values, alpha), "label propagation", watch)
    }

    /// $(I - \alpha \Theta) F$, labels x vertices.
    fn system(&self, values: &Mat<f64>, alpha: f64) -> Mat<f64> {
        let on_edges = gather(&self.members, values);
        let mut image = gather(&self.edges, &on_edges);
        for j in 0..image.ncols() {
            let own = values.col_as_slice(j);
            image
                .col_as_slice_mut(j)
                .iter_mut()
                .zip(own)
                .for_each(|(image, own)| *image = own - alpha * *image);
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    fn example() -> Hypergraph {
        let edge = |e: usize| ((0..3).map(|i| (e * 5 + i * (e + 2)) % 11).collect(), 0.2 + e as f64 / 7.0);
        let mut edges: Vec<(Vec<usize>, f64)> = (0..12).map(edge).collect();
        edges.iter_mut().for_each(|(members, _)| {
            members.sort_unstable();
            members.dedup();
        });
        Hypergraph::new(11, &edges).expect("a hypergraph")
    }

    #[test]
    fn the_solution_satisfies_its_equation() {
        let (graph, alpha) = (example(), 0.95);
        let labels = Mat::from_fn(2, 11, |i, j| f64::from(u8::from(j == 4 * i + 1)));
        let found = graph.propagate(labels.as_ref(), alpha, &Silent).expect("a solution");
        let image = graph.system(&found, alpha);
        let error = Mat::from_fn(2, 11, |i, j| image[(i, j)] - (1.0 - alpha) * labels[(i, j)]).norm_max();
        assert!(error < 1e-12, "{error}");
    }

    #[test]
    fn a_square_root_of_the_degrees_is_an_eigenvector_of_eigenvalue_one() {
        let graph = example();
        // Of a vertex, any of its entries is the inverse root of the degree.
        let values =
            Mat::from_fn(1, 11, |_, v| graph.edges.row(v).values().first().map_or(0.0, |root| 1.0 / root));
        let image = graph.system(&values, 1.0);
        assert!(image.norm_max() < 1e-12, "{}", image.norm_max());
    }

    #[test]
    fn vertices_that_no_edge_joins_to_a_label_get_none_of_it() {
        let graph = Hypergraph::new(5, &[(vec![0, 1], 1.0), (vec![1, 2], 0.5), (vec![3, 4], 0.0)])
            .expect("a hypergraph");
        let labels = Mat::from_fn(1, 5, |_, j| f64::from(u8::from(j == 0)));
        let found = graph.propagate(labels.as_ref(), 0.8, &Silent).expect("a solution");
        assert!(found[(0, 0)] > found[(0, 1)] && found[(0, 1)] > found[(0, 2)] && found[(0, 2)] > 0.0);
        assert!(found[(0, 3)].abs() < 1e-15 && found[(0, 4)].abs() < 1e-15);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(Hypergraph::new(2, &[(vec![0, 2], 1.0)]).is_err());
        assert!(Hypergraph::new(2, &[(vec![0, 1], -1.0)]).is_err());
        let labels = Mat::<f64>::zeros(1, 11);
        assert!(example().propagate(labels.as_ref(), 1.0, &Silent).is_err());
        assert!(example().propagate(labels.as_ref().subcols(0, 3), 0.5, &Silent).is_err());
    }
}
