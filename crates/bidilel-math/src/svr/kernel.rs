//! Kernels between points, and the kernel matrices that machines are fitted to.
//!
//! $$ k(x, z) = x^\top z \quad\text{(linear)}, \qquad k(x, z) = e^{-\gamma \lVert x - z \rVert^2}
//!    \quad\text{(radial basis function)} $$
//!
//! Unless it is given, $\gamma$ is the inverse of the mean squared distance between two **different**
//! points; the zero distance of a point to itself is not part of the mean,
//!
//! $$ \frac{1}{\gamma} = \frac{1}{n (n - 1)} \sum_{i \ne j} \lVert x_i - x_j \rVert^2. $$
//!
//! ```
//! use bidilel_math::svr::Kernel;
//!
//! let points = faer::mat![[0.0, 3.0], [0.0, 4.0]]; // two points, 5 apart
//! let kernel = Kernel::Rbf { gamma: None }.resolve(points.as_ref())?;
//! let matrix = kernel.matrix(points.as_ref(), points.as_ref());
//! assert!((matrix[(0, 1)] - (-1.0_f64).exp()).abs() < 1e-15);
//! # Ok::<(), bidilel_math::Error>(())
//! ```

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::distance::squared;
use crate::{Error, Result};

/// The kernel; a width that is not given is derived from the points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Kernel {
    /// Inner product.
    Linear,
    /// Radial basis function.
    Rbf {
        /// Inverse squared width; `None` takes the inverse mean squared distance of the fitted points.
        gamma: Option<f64>,
    },
}

/// A kernel with every parameter known.
///
/// A separate type, so that training and test points cannot be compared at different widths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResolvedKernel {
    /// Inner product.
    Linear,
    /// Radial basis function.
    Rbf {
        /// Inverse squared width.
        gamma: f64,
    },
}

impl Default for Kernel {
    fn default() -> Self {
        Self::Rbf { gamma: None }
    }
}

impl Kernel {
    /// Derives a width that is not given from the training points, one per column.
    ///
    /// # Errors
    /// [`Error::NotFinite`] where a point is not finite; [`Error::Parameter`] where a given width is not positive.
    pub fn resolve(&self, points: MatRef<'_, f64>) -> Result<ResolvedKernel> {
        if points.col_iter().any(|point| point.iter().any(|x| !x.is_finite())) {
            return Err(Error::NotFinite { what: "a point of the kernel" });
        }
        match *self {
            Self::Linear => Ok(ResolvedKernel::Linear),
            Self::Rbf { gamma: None } => Ok(ResolvedKernel::Rbf { gamma: inverse_mean_distance(points) }),
            Self::Rbf { gamma: Some(gamma) } if gamma > 0.0 && gamma.is_finite() => {
                Ok(ResolvedKernel::Rbf { gamma })
            }
            Self::Rbf { gamma: Some(found) } => {
                Err(Error::Parameter { parameter: "gamma", expected: "positive and finite", found })
            }
        }
    }
}

impl ResolvedKernel {
    /// Kernel values between the columns of `left` (rows of the result) and of `right` (its columns).
    ///
    /// # Panics
    ///
    /// If the points of the two sides differ in dimension.
    pub fn matrix(&self, left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(left.nrows(), right.nrows(), "points must have one dimension");
        Mat::from_fn(left.ncols(), right.ncols(), |i, j| match *self {
            Self::Linear => left.col(i).iter().zip(right.col(j).iter()).map(|(x, z)| x * z).sum(),
            Self::Rbf { gamma } => (-gamma * squared(left.col(i), right.col(j))).exp(),
        })
    }
}

fn inverse_mean_distance(points: MatRef<'_, f64>) -> f64 {
    let n = points.ncols();
    let sum: f64 = (0..n).flat_map(|j| (0..j).map(move |i| squared(points.col(i), points.col(j)))).sum();
    // With one point, or all points equal, every width gives the same matrix of ones.
    let gamma = (n * n.saturating_sub(1)) as f64 / (2.0 * sum);
    if gamma.is_finite() && gamma > 0.0 { gamma } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use faer::mat;

    use super::*;

    #[test]
    fn the_default_width_is_the_mean_over_different_points() {
        // Squared distances 1, 9 and 4 between three points on a line.
        let points = mat![[0.0, 1.0, 3.0]];
        let kernel = Kernel::default().resolve(points.as_ref()).expect("the points are finite");
        let ResolvedKernel::Rbf { gamma } = kernel else { panic!("the default is a radial basis") };
        assert_relative_eq!(gamma, 3.0 / 14.0, max_relative = 1e-14);
    }

    #[test]
    fn equal_points_have_a_matrix_of_ones() {
        let points = Mat::full(3, 4, 0.7);
        let kernel = Kernel::default().resolve(points.as_ref()).expect("the points are finite");
        assert_eq!(kernel.matrix(points.as_ref(), points.as_ref()), Mat::full(4, 4, 1.0));
    }

    #[test]
    fn linear_kernel_is_the_gram_matrix() {
        let (left, right) = (mat![[1.0, 2.0], [3.0, 4.0]], mat![[5.0], [6.0]]);
        let kernel = Kernel::Linear.resolve(left.as_ref()).expect("the points are finite");
        assert_eq!(kernel.matrix(left.as_ref(), right.as_ref()), mat![[23.0], [34.0]]);
    }

    #[test]
    fn bad_width_is_refused() {
        for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Kernel::Rbf { gamma: Some(gamma) }.resolve(mat![[1.0]].as_ref()).is_err());
        }
    }
}
