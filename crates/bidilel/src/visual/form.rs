//! Features whose inner products are the fused kernel, for learners that know nothing of kernels.
//!
//! With support instances $s_1 \dots s_r$ and $\tilde K_{ss} = R R^\top$ (Cholesky), the features
//! $z(x) = R^{-1} \tilde k(x)$ have $z(x)^\top z(x') = \tilde k(x)^\top \tilde K_{ss}^{-1} \tilde k(x')$. With all
//! training instances as support that is $\tilde k(x, x')$ itself; with a sample of them it is the Nyström
//! approximation of rank $r$. What is lost of the kernel matrix $\tilde K$ of the training instances is positive
//! semi-definite, so that its trace norm is known without ever forming it:
//! `$$ \frac{\|\tilde K - Z^\top Z\|_*}{\|\tilde K\|_*} = 1 - \frac{\sum_i \|z_i\|^2}{\sum_i \tilde k(x_i, x_i)}. $$`
//!
//! SLPP and LPP with the regularizer of the kernel form need no factor: $z(x) = \tilde k(x)$ with $\alpha I$ is the
//! problem as Appendix B writes it (the `direct` form here).
//!
//! # References
//! C. Williams and M. Seeger, *Using the Nyström method to speed up kernel machines*, 2001.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use bidilel_math::kernel::Kernel;
use bidilel_math::{Observer, Scalar, eigen};

use super::{KernelMap, KernelView, View, Views};
use crate::error::{Error, Result};

/// Added to the diagonal of the support's kernel matrix, relative to the diagonal's mean: equal instances would make the
/// matrix singular.
const JITTER: f64 = 1e-10;
/// Support instances that are widened to `f64` at a time.
const BLOCK_INSTANCES: usize = 512;

/// Training instances as features of the fused kernel.
pub(crate) struct Mapped<'a, T> {
    views: Views,
    kernels: Vec<Kernel>,
    visual_dim: usize,
    support: Support<'a, T>,
    /// $R$; none in the direct form.
    factor: Option<Mat<f64>>,
    /// $Z$, or $\tilde K$ in the direct form: support x instances.
    pub(crate) train: Mat<f64>,
    /// What the sample loses of the kernel's trace; none where nothing is lost.
    pub(crate) error: Option<f64>,
}

/// A map of the views' own features.
pub(crate) enum Unfolded {
    /// $P$, visual x latent dimensions.
    Linear(Mat<f64>),
    /// Kernels with support instances.
    Kernel(KernelMap),
}

enum Support<'a, T> {
    All(MatRef<'a, T>),
    Some(Mat<T>),
}

impl<T: Scalar> Support<'_, T> {
    fn features(&self) -> MatRef<'_, T> {
        match self {
            Self::All(features) => *features,
            Self::Some(features) => features.as_ref(),
        }
    }
}

impl<'a, T: Scalar> Mapped<'a, T> {
    /// Over all training instances, as the paper writes the problem.
    pub(crate) fn direct(views: &Views, features: MatRef<'a, T>, watch: &dyn Observer) -> Result<Self> {
        watch.stage("kernel");
        let mut mapped = Self::empty(views, features, Support::All(features))?;
        mapped.train = mapped.kernel(features);
        Ok(mapped)
    }

    /// Over all training instances, or over a sample of `rank` of them.
    pub(crate) fn whitened(
        views: &Views,
        features: MatRef<'a, T>,
        sample: Option<(usize, u64)>,
        watch: &dyn Observer,
    ) -> Result<Self> {
        watch.stage("kernel");
        let count = features.ncols();
        let support = match sample {
            Some((rank, seed)) if rank < count => {
                let chosen = sample_of(count, rank, seed);
                Support::Some(Mat::from_fn(features.nrows(), rank, |row, i| features[(row, chosen[i])]))
            }
            _ => Support::All(features),
        };
        let mut mapped = Self::empty(views, features, support)?;
        let mut own = mapped.kernel(mapped.support.features());
        let size = own.nrows();
        let mean = (0..size).map(|i| own[(i, i)]).sum::<f64>() / size as f64;
        (0..size).for_each(|i| own[(i, i)] += JITTER * mean);
        mapped.factor = Some(eigen::cholesky(own).map_err(Error::in_stage("kernel"))?);
        mapped.train = mapped.map(features);
        if matches!(mapped.support, Support::Some(_)) {
            let kept: f64 = mapped.train.col_iter().map(|column| column.squared_norm_l2()).sum();
            mapped.error = Some((1.0 - kept / mapped.trace(features)).max(0.0));
        }
        Ok(mapped)
    }

    fn empty(views: &Views, features: MatRef<'_, T>, support: Support<'a, T>) -> Result<Self> {
        let resolve =
            |((_, view), part): ((usize, &View), MatRef<'_, T>)| view.kernel.resolve(&view.name, part);
        let kernels = views.used().zip(views.split(features)).map(resolve).collect::<Result<Vec<_>>>()?;
        let visual_dim = features.nrows();
        let views = views.clone();
        Ok(Self { views, kernels, visual_dim, support, factor: None, train: Mat::new(), error: None })
    }

    /// The kernels with the parameters that were found, in the order of the views with a positive weight.
    pub(crate) fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// $\tilde k$ between the support and some instances.
    fn kernel(&self, features: MatRef<'_, T>) -> Mat<f64> {
        let support = self.support.features();
        let mut sum = Mat::zeros(support.ncols(), features.ncols());
        let parts = self.views.split(support).into_iter().zip(self.views.split(features));
        for (((_, view), kernel), (support, part)) in self.views.used().zip(&self.kernels).zip(parts) {
            kernel.add_to(view.weight, support, part, sum.as_mut());
        }
        sum
    }

    /// Instances as features.
    pub(crate) fn map(&self, features: MatRef<'_, T>) -> Mat<f64> {
        let mut mapped = self.kernel(features);
        if let Some(factor) = &self.factor {
            eigen::solve_lower(factor.as_ref(), mapped.as_mut());
        }
        mapped
    }

    /// The trace of the kernel matrix of some instances.
    fn trace(&self, features: MatRef<'_, T>) -> f64 {
        let parts = self.views.used().zip(&self.kernels).zip(self.views.split(features));
        let one = |(((_, view), kernel), part): (((usize, &View), &Kernel), MatRef<'_, T>)| {
            let own = part.col_iter().map(|column| kernel.diagonal(column.iter().copied())).sum::<f64>();
            view.weight * own
        };
        parts.map(one).sum()
    }

    /// A linear map of these features (as many rows as there are, or none for the features themselves) as a map of the
    /// views' own features.
    pub(crate) fn unfold(&self, map: Option<Mat<f64>>) -> Unfolded {
        let size = self.train.nrows();
        let mut coefficients = map.unwrap_or_else(|| Mat::identity(size, size));
        if let Some(factor) = &self.factor {
            eigen::solve_lower_transposed(factor.as_ref(), coefficients.as_mut());
        }
        if self.views.is_linear() {
            Unfolded::Linear(self.weighted_sum(&coefficients))
        } else {
            Unfolded::Kernel(self.kept(coefficients))
        }
    }

    /// Linear kernels need no support: $A^\top \tilde k(x) = \sum_m w_m (S^{(m)} A)^\top x^{(m)}$.
    fn weighted_sum(&self, coefficients: &Mat<f64>) -> Mat<f64> {
        let support = self.support.features();
        let mut map = Mat::zeros(self.visual_dim, coefficients.ncols());
        for first in (0..support.ncols()).step_by(BLOCK_INSTANCES) {
            let count = BLOCK_INSTANCES.min(support.ncols() - first);
            for (at, view) in self.views.used() {
                let block = support.submatrix(at, first, view.dim, count);
                let wide = Mat::from_fn(view.dim, count, |i, j| view.weight * block[(i, j)].to_f64());
                let part = coefficients.subrows(first, count);
                matmul(map.as_mut().subrows_mut(at, view.dim), Accum::Add, &wide, part, 1.0, Par::Seq);
            }
        }
        map
    }

    fn kept(&self, coefficients: Mat<f64>) -> KernelMap {
        let support = self.support.features();
        let parts = self.views.used().zip(&self.kernels).zip(self.views.split(support));
        let views = parts.map(|(((first, view), &kernel), part)| KernelView {
            name: view.name.clone(),
            first,
            weight: view.weight,
            kernel,
            support: Mat::from_fn(part.nrows(), part.ncols(), |i, j| f32::from_f64(part[(i, j)].to_f64())),
        });
        KernelMap { views: views.collect(), coefficients, visual_dim: self.visual_dim, spaces: 1 }
    }
}

/// `rank` of `count` instances, ascending; always the same for a seed.
fn sample_of(count: usize, rank: usize, seed: u64) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..count).collect();
    chosen.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    chosen.truncate(rank);
    chosen.sort_unstable();
    chosen
}
