//! A latent space over kernels with support instances: what is left of a kernel form when the data are dropped.
//!
//! $y = A^\top \tilde k(x)$ with `$\tilde k_i(x) = \sum_m w_m k_m(x^{(m)}, s^{(m)}_i)$` for support instances $s_i$ and
//! coefficients $A$ (support x latent dimensions); Wang & Chen 2017, eqs. A.12 and A.13.

use faer::{Mat, MatRef};

use bidilel_math::Scalar;
use bidilel_math::kernel::Kernel;

use crate::error::Result;

/// One view of a kernel map.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelView {
    /// Its name.
    pub name: String,
    /// The row at which its features begin.
    pub first: usize,
    /// Its weight.
    pub weight: f64,
    /// Its kernel.
    pub kernel: Kernel,
    /// Support instances, dimensions x support.
    pub support: Mat<f32>,
}

/// A map from kernels with support instances.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelMap {
    /// The views with a positive weight.
    pub views: Vec<KernelView>,
    /// $A$, support x latent dimensions.
    pub coefficients: Mat<f64>,
    /// Features of all views together.
    pub visual_dim: usize,
    /// How many latent spaces have these dimensions together.
    pub spaces: usize,
}

impl KernelMap {
    /// $\tilde k$ of some instances: support x instances.
    pub(crate) fn kernels<T: Scalar>(&self, features: MatRef<'_, T>) -> Mat<f64> {
        let mut sum = Mat::zeros(self.coefficients.nrows(), features.ncols());
        for KernelView { first, weight, kernel, support, .. } in &self.views {
            let part = features.subrows(*first, support.nrows());
            kernel.add_to(*weight, support.as_ref(), part, sum.as_mut());
        }
        sum
    }

    /// Fails where an instance cannot be compared: a histogram with a negative entry.
    pub(crate) fn check<T: Scalar>(&self, features: MatRef<'_, T>) -> Result<()> {
        let histograms = self.views.iter().filter(|view| matches!(view.kernel, Kernel::ChiSquared { .. }));
        for KernelView { name, first, support, .. } in histograms {
            super::kernel::check_histogram(name, features.subrows(*first, support.nrows()))?;
        }
        Ok(())
    }
}
