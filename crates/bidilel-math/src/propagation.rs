//! Label propagation over the graph of the nearest neighbors, with weights that are scaled to the local distance.
//!
//! Points $i$ and $j$ are joined where one is among the $k$ nearest neighbors of the other, with
//! `$$ W_{ij} = \exp\left(-\frac{\|x_i - x_j\|^2}{\sigma_i \sigma_j}\right), \qquad S = D^{-1/2} W D^{-1/2}, \qquad
//! F = (1 - \alpha) (I - \alpha S)^{-1} Y, $$`
//! where `$\sigma_i$` is the distance from $i$ to its $k$-th neighbor and $D$ holds the row sums of $W$: where points lie
//! far apart, the same distance means less. Eigenvalues of $S$ are between -1 and 1, so that the system is positive
//! definite with a condition number of at most $(1 + \alpha) / (1 - \alpha)$, which conjugate gradients solve.
//!
//! # Ties
//! Where further points are as far as the $k$-th neighbor, none at that distance is a neighbor: a choice among them could
//! only be made by the order of the points, and the graph would depend on that.
//!
//! ```
//! use bidilel_math::{Silent, neighbors, propagation::LocalGraph};
//!
//! // Two pairs on a line; the first point of one has a label.
//! let points = faer::mat![[0.0, 1.0, 9.0, 11.0]];
//! let graph = LocalGraph::new(&neighbors::exact(points.as_ref(), 2, &Silent), 1);
//! let found = graph.propagate(faer::mat![[1.0, 0.0, 0.0, 0.0]].as_ref(), 0.5, &Silent)?;
//! assert!(found[(0, 1)] > 0.1 && found[(0, 2)].abs() < 1e-12);
//! # Ok::<(), bidilel_math::Error>(())
//! ```
//!
//! # References
//! D. Zhou, O. Bousquet, T. Lal, J. Weston and B. Schölkopf, *Learning with local and global consistency*, 2004; L.
//! Zelnik-Manor and P. Perona, *Self-tuning spectral clustering*, 2004 (the scale of a distance).

use faer::{Mat, MatRef};

use crate::check::{norm, worse};
use crate::conjugate::{self, TOLERANCE, gather};
use crate::csr::Csr;
use crate::neighbors::Neighbors;
use crate::{Check, Error, Observer, Result};

/// The graph of the nearest neighbors, symmetrically normalized.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalGraph {
    /// $S$, without an entry for points that nothing joins.
    normalized: Csr,
    /// The row sums of $W$.
    degree: Vec<f64>,
}

impl LocalGraph {
    /// The graph of the `k` nearest of `neighbors`, whose lists have one more where there is one: ties are seen by that.
    pub fn new(neighbors: &Neighbors, k: usize) -> Self {
        let count = neighbors.count();
        let kth = |i: usize| neighbors.of(i).values().iter().take(k).next_back().copied().unwrap_or(0.0);
        let scale: Vec<f64> = (0..count).map(kth).collect();
        let weight = |i: usize, j: usize, distance: f64| {
            // Duplicates, whose scale may be 0, are as near as can be; nothing else is near on a scale of 0.
            if distance > 0.0 { (-(distance / scale[i]) * (distance / scale[j])).exp() } else { 1.0 }
        };
        let mut rows = vec![Vec::new(); count];
        for i in 0..count {
            let list = neighbors.of(i);
            let beyond = list.values().get(k).copied().unwrap_or(f64::INFINITY);
            for (j, distance) in list.iter().take(k).filter(|&(_, distance)| distance < beyond) {
                let weight = weight(i, j, distance);
                if weight > 0.0 {
                    rows[i].push((j, weight));
                    rows[j].push((i, weight));
                }
            }
        }
        for row in &mut rows {
            // Points that are in each other's lists have two edges of the same weight.
            row.sort_unstable_by_key(|&(j, _)| j);
            row.dedup_by_key(|&mut (j, _)| j);
        }
        let degree: Vec<f64> = rows.iter().map(|row| row.iter().map(|(_, weight)| weight).sum()).collect();
        for (row, own) in rows.iter_mut().zip(&degree) {
            row.iter_mut().for_each(|(j, weight)| *weight /= (own * degree[*j]).sqrt());
        }
        Self { normalized: Csr::from_lists(&rows), degree }
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.degree.len()
    }

    /// $F$ for the labels $Y$, both labels x points.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless $\alpha$ is from 0 to below 1; [`Error::Shape`] for another number of points;
    /// [`Error::NoConvergence`]; [`Error::Check`]; [`Error::Cancelled`].
    pub fn propagate(&self, labels: MatRef<'_, f64>, alpha: f64, watch: &dyn Observer) -> Result<Mat<f64>> {
        if !(0.0..1.0).contains(&alpha) {
            let (parameter, expected) = ("alpha of a label propagation", "from 0 to below 1");
            return Err(Error::Parameter { parameter, expected, found: alpha });
        }
        if labels.ncols() != self.count() {
            let (what, found) = ("the number of labeled points", labels.ncols());
            return Err(Error::Shape { what, expected: self.count(), found });
        }
        let start = Mat::from_fn(labels.nrows(), labels.ncols(), |i, j| (1.0 - alpha) * labels[(i, j)]);
        let found = conjugate::solve(start, |values| self.system(values, alpha), "label propagation", watch)?;
        self.check(labels, &found).enforce(watch)?;
        Ok(found)
    }

    /// $(I - \alpha S) F$, labels x points.
    fn system(&self, values: &Mat<f64>, alpha: f64) -> Mat<f64> {
        let mut image = gather(&self.normalized, values);
        for j in 0..image.ncols() {
            let both = image.col_as_slice_mut(j).iter_mut().zip(values.col_as_slice(j));
            both.for_each(|(image, own)| *image = own - alpha * *image);
        }
        image
    }

    /// The roots of the degrees are an eigenvector of $S$ of eigenvalue 1, so that the sum of a label over the points,
    /// each by the root of its degree, is the same before and after, whatever $\alpha$ is.
    ///
    /// A residual of `TOLERANCE` changes such a sum by at most as much of the product of the norms; the other term is the
    /// rounding of the sums themselves.
    fn check(&self, labels: MatRef<'_, f64>, found: &Mat<f64>) -> Check {
        let roots: Vec<f64> = self.degree.iter().map(|degree| degree.sqrt()).collect();
        let size = norm(&roots);
        let mut deviation: f64 = 0.0;
        for label in 0..labels.nrows() {
            let before: Vec<f64> = (0..roots.len()).map(|i| labels[(label, i)]).collect();
            let change: f64 =
                roots.iter().zip(&before).enumerate().map(|(i, (r, y))| r * (found[(label, i)] - y)).sum();
            let scale = size * norm(&before);
            deviation = worse(deviation, if scale > 0.0 { change.abs() / scale } else { 0.0 });
        }
        let bound = 10.0 * (TOLERANCE + roots.len() as f64 * f64::EPSILON);
        Check { stage: "propagation", what: "the weighted sum of a label", deviation, bound }
    }
}

#[cfg(test)]
mod tests {
    use faer::prelude::Solve;

    use super::*;
    use crate::{Silent, neighbors};

    fn points(count: usize) -> Mat<f64> {
        Mat::from_fn(3, count, |i, j| {
            ((j * 37 + i * 11) as f64 * 0.731).sin() + f64::from(u8::from(j % 3 == i))
        })
    }

    fn graph(points: &Mat<f64>, k: usize) -> LocalGraph {
        LocalGraph::new(&neighbors::exact(points.as_ref(), k + 1, &Silent), k)
    }

    fn labels(rows: usize, count: usize) -> Mat<f64> {
        Mat::from_fn(rows, count, |i, j| ((i * 7 + j * 3) as f64 * 0.37).cos().powi(2))
    }

    /// $F$ by dense matrices and the formulas.
    fn brute(points: &Mat<f64>, labels: &Mat<f64>, k: usize, alpha: f64) -> Mat<f64> {
        let n = points.ncols();
        let distance = |i: usize, j: usize| (points.col(i) - points.col(j)).norm_l2();
        let list = |i: usize| {
            let mut all: Vec<(f64, usize)> =
                (0..n).filter(|&j| j != i).map(|j| (distance(i, j), j)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.truncate(k);
            all
        };
        let lists: Vec<Vec<(f64, usize)>> = (0..n).map(list).collect();
        let scale = |i: usize| lists[i].last().expect("a neighbor").0;
        let joined = |i: usize, j: usize| lists[i].iter().any(|&(_, other)| other == j);
        let weight = |i: usize, j: usize| (-distance(i, j).powi(2) / (scale(i) * scale(j))).exp();
        let w = Mat::from_fn(n, n, |i, j| if joined(i, j) || joined(j, i) { weight(i, j) } else { 0.0 });
        let d: Vec<f64> = (0..n).map(|i| (0..n).map(|j| w[(i, j)]).sum()).collect();
        let system =
            Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - alpha * w[(i, j)] / (d[i] * d[j]).sqrt());
        let solved = system.partial_piv_lu().solve(labels.transpose());
        Mat::from_fn(labels.nrows(), n, |i, j| (1.0 - alpha) * solved[(j, i)])
    }

    #[test]
    fn labels_spread_as_a_dense_solution_says() {
        let (points, labels) = (points(40), labels(3, 40));
        for (k, alpha) in [(1, 0.5), (4, 0.3), (10, 0.95), (39, 0.8), (4, 0.0)] {
            let found = graph(&points, k).propagate(labels.as_ref(), alpha, &Silent).expect("a solution");
            assert!((&found - brute(&points, &labels, k, alpha)).norm_max() < 1e-10, "{k} {alpha}");
        }
    }

    #[test]
    fn the_order_of_the_points_makes_no_difference_even_where_they_coincide() {
        // Three copies of every point: ties at every place.
        let one = Mat::from_fn(3, 30, |i, j| points(10)[(i, j % 10)]);
        let other = Mat::from_fn(3, 30, |i, j| one[(i, (j * 7 + 4) % 30)]);
        for k in [1, 2, 3, 5, 8, 29] {
            let [one, other] = [&one, &other].map(|points| graph(points, k));
            let y = labels(2, 30);
            let turned = Mat::from_fn(2, 30, |i, j| y[(i, (j * 7 + 4) % 30)]);
            let one = one.propagate(y.as_ref(), 0.9, &Silent).expect("a solution");
            let other = other.propagate(turned.as_ref(), 0.9, &Silent).expect("a solution");
            let back = Mat::from_fn(2, 30, |i, j| one[(i, (j * 7 + 4) % 30)]);
            assert!((back - other).norm_max() < 1e-10, "{k}");
        }
    }

    #[test]
    fn points_without_neighbors_keep_their_labels_up_to_a_factor() {
        let same = Mat::from_fn(2, 6, |_, _| 0.5);
        for points in [same, Mat::zeros(2, 1), Mat::zeros(2, 0)] {
            let y = labels(2, points.ncols());
            let found = graph(&points, 3).propagate(y.as_ref(), 0.75, &Silent).expect("a solution");
            assert!((found - faer::Scale(0.25) * y).norm_max() < 1e-12);
        }
    }

    #[test]
    fn distances_have_no_unit() {
        let y = labels(2, 25);
        let [one, large] = [1.0, 1e6].map(|unit| {
            graph(&(points(25) * faer::Scale(unit)), 5)
                .propagate(y.as_ref(), 0.8, &Silent)
                .expect("a solution")
        });
        assert!((one - large).norm_max() < 1e-10);
    }

    #[test]
    fn wrong_parameters_are_refused_and_a_wrong_result_is_noticed() {
        let (graph, y) = (graph(&points(12), 3), labels(2, 12));
        assert!(graph.propagate(y.as_ref(), 1.0, &Silent).is_err());
        assert!(graph.propagate(y.as_ref(), f64::NAN, &Silent).is_err());
        assert!(graph.propagate(y.as_ref().subcols(0, 3), 0.5, &Silent).is_err());
        let mut found = graph.propagate(y.as_ref(), 0.5, &Silent).expect("a solution");
        assert!(graph.check(y.as_ref(), &found).holds());
        found[(1, 4)] *= 1.0001;
        assert!(!graph.check(y.as_ref(), &found).holds());
    }
}
