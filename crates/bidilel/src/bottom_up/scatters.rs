//! The eigenproblem of locality preserving projections, for any alpha and dim (Wang & Chen 2017, eq. 5).

use std::borrow::Cow;

use faer::{Mat, MatRef, Scale};

use bidilel_math::Observer;
use bidilel_math::backend::{Pencil, leading};
use bidilel_math::eigen::{self, Eigen, Whitener};
use bidilel_math::parallel::{product, product_watched};

use super::{scale_both, scale_rows, spread};
use crate::error::{Error, Result};
use crate::visual::Views;

/// $X D X^\top$ and $X L X^\top$ of a graph, with the matrix that $\alpha$ multiplies.
#[derive(Debug, Clone)]
pub(crate) struct Scatters {
    /// $X D X^\top$ on the left, $X L X^\top$ on the right.
    pencil: Pencil,
    /// $X X^\top$, for the regularizer of the kernel form.
    gram: Option<Mat<f64>>,
    /// Scales of the features that the matrices are of, where views have weights.
    scales: Option<Vec<f64>>,
    /// The dimensions that vary: the matrices are over these.
    rows: Vec<usize>,
    visual_dim: usize,
    /// The most latent dimensions that there are.
    pub(crate) most_dim: usize,
}

impl Scatters {
    /// From the matrices over these dimensions, of this many instances, whose views may have weights.
    pub(crate) fn new(
        mut pencil: Pencil,
        mut gram: Option<Mat<f64>>,
        rows: Vec<usize>,
        views: &Views,
        instances: usize,
    ) -> Self {
        let scales: Option<Vec<f64>> =
            views.scales().map(|scales| rows.iter().map(|&row| scales[row]).collect());
        if let Some(scales) = &scales {
            pencil.scale(scales);
        }
        if let Some(gram) = &mut gram {
            scale_both(gram, scales.as_deref());
        }
        let most_dim = rows.len().min(instances);
        Self { pencil, gram, scales, rows, visual_dim: views.dim(), most_dim }
    }

    /// The leading eigenvectors, visual x latent dimensions.
    ///
    /// Can be called for several alphas in parallel; each call copies both matrices.
    pub(crate) fn solve(&self, alpha: f64, dim: usize, watch: &dyn Observer) -> Result<Mat<f64>> {
        if self.gram.is_some() {
            return self.clone().solve_once(alpha, dim, watch);
        }
        watch.stage("eigen");
        let found =
            leading(Cow::Borrowed(&self.pencil), alpha, dim, watch).map_err(Error::in_stage("eigen"))?;
        Ok(finish(found.vectors, self.scales.as_deref(), &self.rows, self.visual_dim))
    }

    /// The same for one alpha alone, without a copy.
    pub(super) fn solve_once(self, alpha: f64, dim: usize, watch: &dyn Observer) -> Result<Mat<f64>> {
        watch.stage("eigen");
        let Self { pencil, gram, scales, rows, visual_dim, .. } = self;
        let vectors = match gram {
            None => leading(Cow::Owned(pencil), alpha, dim, watch).map_err(Error::in_stage("eigen"))?.vectors,
            Some(gram) => {
                let whitener = Whitener::new(gram.as_ref(), watch).map_err(Error::in_stage("eigen"))?;
                drop(gram);
                let (degree, laplacian) = (pencil.left(), pencil.right());
                drop(pencil);
                solve_in_range(alpha, degree.as_ref(), laplacian, whitener, dim, watch)?
            }
        };
        Ok(finish(vectors, scales.as_deref(), &rows, visual_dim))
    }
}

/// The map of eigenvectors over the dimensions that vary.
fn finish(mut vectors: Mat<f64>, scales: Option<&[f64]>, rows: &[usize], visual_dim: usize) -> Mat<f64> {
    scale_rows(&mut vectors, scales);
    spread(vectors, rows, visual_dim)
}

/// The problem with $\alpha (X X^\top)^+$; where $X X^\top$ is singular, in the coordinates of its range,
/// outside which instances have nothing to project.
fn solve_in_range(
    alpha: f64,
    degree: MatRef<'_, f64>,
    laplacian: Mat<f64>,
    whitener: Whitener,
    dim: usize,
    watch: &dyn Observer,
) -> Result<Mat<f64>> {
    match whitener {
        Whitener::Factor(factor) => {
            let mut right =
                eigen::cholesky_inverse(factor.as_ref(), watch).map_err(Error::in_stage("eigen"))?;
            // Large matrices are dropped as soon as they have been used.
            drop(factor);
            right *= Scale(alpha);
            right += &laplacian;
            drop(laplacian);
            Ok(eigen::generalized(degree, right, dim, watch).map_err(Error::in_stage("eigen"))?.vectors)
        }
        Whitener::Range(Eigen { values, vectors: basis }) => {
            if dim > values.len() {
                watch.note(&format!(
                    "the features have the rank {}, and as many latent dimensions are learned",
                    values.len()
                ));
            }
            let dim = dim.min(values.len());
            let within = |matrix: MatRef<'_, f64>| {
                let half = product_watched(basis.transpose(), matrix, watch)?;
                product_watched(half.as_ref(), basis.as_ref(), watch)
            };
            let mut right = within(laplacian.as_ref()).map_err(Error::in_stage("eigen"))?;
            values.iter().enumerate().for_each(|(i, value)| right[(i, i)] += alpha / value);
            let left = within(degree).map_err(Error::in_stage("eigen"))?;
            let found =
                eigen::generalized(left.as_ref(), right, dim, watch).map_err(Error::in_stage("eigen"))?;
            let mut map = product(basis.as_ref(), found.vectors.as_ref());
            eigen::fix_signs(map.as_mut());
            Ok(map)
        }
    }
}
