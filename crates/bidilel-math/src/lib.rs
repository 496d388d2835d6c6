//! Numerical kernels of BiDiLEL: neighbors, graphs, eigenproblems and optimizers. Matrices in, matrices out.
//!
//! This crate knows no class, no label's meaning and no file. Every matrix is column-major with **one instance per column**,
//! so that a C-order `(instances, dimensions)` NumPy buffer is used without a transpose. Feature matrices may be `f32` or
//! `f64` ([`Scalar`]); everything computed from them is `f64`, because scatter matrices in single precision rotate the leading
//! eigenvectors (worst sine of the subspace angle 0.048 at `alpha = 1`, 0.99 at 0.001).
//!
//! All results are bit-identical for any number of threads: work is cut into blocks of fixed size, one thread computes a
//! block, and sums over blocks are taken in block order. Results differ in the last bits between SIMD levels ([`simd`]).
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | [`backend`] | the four stages that dominate a fit, on one page |
//! | [`neighbors`] | exact and approximate k-nearest neighbors |
//! | [`graph`] | the affinity graph of neighbor lists; several graphs with shared edges |
//! | [`hypergraph`] | label propagation over a hypergraph |
//! | [`scatter`] | scatter matrices of instances, total and weighted by a graph |
//! | [`eigen`] | leading eigenpairs of symmetric matrices and of matrix pencils; Cholesky, whitening |
//! | [`projection`] | linear projection of many instances |
//! | [`norms`] | norms of projected instances in many leading subspaces |
//! | [`distance`] | Euclidean norms, normalization, distances |
//! | [`kernel`] | linear, RBF and chi-squared kernels between instances |
//! | [`kmeans`] | k-means and k-means++ |
//! | [`mixture`] | Gaussian mixtures by expectation maximization |
//! | [`pca`] | principal component analysis, exact and randomized |
//! | [`assignment`] | minimum-cost one-to-one assignment |
//! | [`simplex`] | projection onto the simplex, least squares over it |
//! | [`dictionary`] | dictionary learning |
//! | [`lbfgs`] | L-BFGS and gradient descent |
//! | [`linear`] | positive definite systems, the Sylvester equation |
//! | [`lasso`] | lasso of many columns |
//! | [`mds`] | classical scaling, the Sammon mapping |
//! | [`multiview`] | canonical correlation analysis of several views |
//! | [`logistic`] | logistic regression of many targets |
//! | [`ranking`] | bilinear compatibilities by stochastic gradient descent on ranking losses |
//! | [`svr`] | support vector regression |
//! | [`svm`] | linear support vector machines of many classes |
//! | [`hierarchy`] | agglomerative clustering |
//! | [`statistics`] | means with standard errors, skewness |
//! | [`symmetric`] | symmetric matrices in packed storage |
//! | [`check`] | self-checks of results against independent computations |
//! | [`parallel`] | matrix products, job scheduling |
//! | [`vector`], [`simd`] | kernels on slices, and their run-time dispatch |

pub mod assignment;
pub mod backend;
#[doc(hidden)]
pub mod bench;
pub mod check;
pub mod dictionary;
pub mod distance;
pub mod eigen;
pub mod graph;
pub mod hierarchy;
pub mod hypergraph;
pub mod kernel;
pub mod kmeans;
pub mod lasso;
pub mod lbfgs;
pub mod linear;
pub mod logistic;
pub mod mds;
pub mod mixture;
pub mod multiview;
pub mod neighbors;
pub mod norms;
pub mod parallel;
pub mod pca;
pub mod projection;
pub mod propagation;
pub mod ranking;
pub mod scatter;
pub mod simd;
pub mod simplex;
pub mod statistics;
pub mod svm;
pub mod svr;
pub mod symmetric;
pub mod vector;

mod columns;
mod conjugate;
mod csr;
mod error;
mod graphs;
mod krylov;
mod lanes;
mod observer;
mod panels;
mod pencil;
mod round_robin;
mod scalar;
mod tiles;

pub use check::Check;
pub use columns::Columns;
pub use csr::CsrRow;
pub use error::{Error, Result};
pub use observer::{Observer, Silent};
pub use scalar::Scalar;
