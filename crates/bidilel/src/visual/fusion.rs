//! The form in which the fused problem is solved, and the choice among the forms by their cost.
//!
//! | form | unknowns | for |
//! | --- | --- | --- |
//! | [`KernelForm::Primal`] | summed dimensions | linear kernels: views stacked, each times $\sqrt{w_m}$ |
//! | [`KernelForm::NSpace`] | training instances | any kernels: the problem as Appendix B writes it |
//! | [`KernelForm::Nystrom`] | a sample of them | any kernels, where instances x instances does not fit |
//!
//! The first two are exact and agree. With linear kernels the first is taken where the summed dimension is below the
//! number of training instances, else the second; with others the second where it fits into [`Fusion::memory`], else
//! the third.

use serde::{Deserialize, Serialize};

use bidilel_math::{Observer, Scalar};

use super::{Kernel, Mapped, Views};
use crate::error::{Error, Result};
use crate::settings::{self, Settings, named};

/// Instances in the Nyström sample by default.
const DEFAULT_RANK: usize = 2000;
/// The memory that exact kernel forms may take by default, in GiB.
const DEFAULT_MEMORY_GIB: f64 = 4.0;

/// The form in which the fused problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelForm {
    /// In the visual dimensions.
    Primal,
    /// Over the training instances.
    NSpace,
    /// Over a sample of them.
    Nystrom,
}

named! { KernelForm: "primal" | "n-space" | "nystrom"; }

/// Settings of the fusion of views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fusion {
    /// The form; by cost if not given.
    pub method: Option<KernelForm>,
    /// Instances in the sample.
    pub nystrom_rank: usize,
    /// What an exact kernel form may take, in GiB.
    pub memory: f64,
    /// Seed of the sample.
    pub seed: u64,
}

impl Default for Fusion {
    fn default() -> Self {
        Self { method: None, nystrom_rank: DEFAULT_RANK, memory: DEFAULT_MEMORY_GIB, seed: 0 }
    }
}

/// How the views of a fit were joined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The form that was chosen.
    pub method: KernelForm,
    /// Why.
    pub reason: String,
    /// The views, with the gammas that were found.
    pub views: Vec<ViewReport>,
    /// Instances in the sample, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The share of the kernel matrix's trace norm that the sample loses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximation_error: Option<f64>,
}

/// One view of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewReport {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// Its kernel.
    pub kernel: Kernel,
}

impl Report {
    /// Whether there was one view, with a linear kernel.
    pub fn is_plain(&self) -> bool {
        matches!(&self.views[..], [one] if one.kernel == Kernel::Linear) && self.method == KernelForm::Primal
    }

    /// A form that was chosen, with the views as they were asked for.
    pub(crate) fn new(method: KernelForm, reason: String, views: &Views) -> Self {
        let view = |view: &super::View| ViewReport {
            name: view.name.clone(),
            weight: view.weight,
            kernel: view.kernel,
        };
        let views = views.parts.iter().map(view).collect();
        Self { method, reason, views, rank: None, approximation_error: None }
    }
}

impl Fusion {
    pub(crate) fn from_settings(settings: &Settings, seed: u64) -> Self {
        let default = Self::default();
        Self {
            method: settings.kernel_method,
            nystrom_rank: settings.nystrom_rank.unwrap_or(default.nystrom_rank),
            memory: settings.kernel_memory.unwrap_or(default.memory),
            seed,
        }
    }

    /// The form for these views of this many training instances, and why.
    ///
    /// # Errors
    /// [`Error::Setting`] for a form that does not apply, [`Error::KernelMemory`] for one that does not fit.
    pub(crate) fn choose(
        &self,
        views: &Views,
        instances: usize,
        direct: bool,
    ) -> Result<(KernelForm, String)> {
        settings::check("nystrom_rank", self.nystrom_rank as f64)?;
        settings::check("kernel_memory", self.memory)?;
        let need = gibibytes(instances, direct);
        let fits = need <= self.memory;
        let dim = views.dim();
        let size = || format!("{instances} x {instances} kernels take {need:.1} GiB of {:.1}", self.memory);
        match self.method {
            Some(KernelForm::Primal) if !views.is_linear() => Err(Error::Setting {
                setting: "kernel_method",
                expected: "n-space or nystrom with kernels that are not linear".into(),
                found: "primal".to_owned(),
            }),
            Some(KernelForm::NSpace) if !fits => {
                Err(Error::KernelMemory { needed: need, memory: self.memory, instances })
            }
            Some(method) => Ok((method, "as asked for".to_owned())),
            None if views.is_plain() => Ok((KernelForm::Primal, "one view".to_owned())),
            None if views.is_linear() && dim < instances => Ok((
                KernelForm::Primal,
                format!("{dim} dimensions are fewer than {instances} training instances"),
            )),
            None if views.is_linear() && fits => Ok((
                KernelForm::NSpace,
                format!("{instances} training instances are no more than {dim} dimensions"),
            )),
            None if fits => Ok((KernelForm::NSpace, size())),
            None => Ok((KernelForm::Nystrom, size())),
        }
    }

    /// Training instances as features of the fused kernel, for a form that is not the primal one.
    pub(crate) fn mapped<'a, T: Scalar>(
        &self,
        method: KernelForm,
        direct: bool,
        views: &Views,
        features: faer::MatRef<'a, T>,
        watch: &dyn Observer,
    ) -> Result<Mapped<'a, T>> {
        match method {
            KernelForm::NSpace if direct => Mapped::direct(views, features, watch),
            KernelForm::Nystrom => {
                Mapped::whitened(views, features, Some((self.nystrom_rank, self.seed)), watch)
            }
            KernelForm::NSpace | KernelForm::Primal => Mapped::whitened(views, features, None, watch),
        }
    }
}

/// Peak memory of an exact form, in GiB: the kernel matrix, two scatter matrices and the factor of one; without the
/// direct form two more.
fn gibibytes(instances: usize, direct: bool) -> f64 {
    let matrices = if direct { 4.0 } else { 6.0 };
    matrices * 8.0 * (instances as f64).powi(2) / f64::powi(2.0, 30)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visual::View;

    fn views(dims: &[usize], kernel: Kernel) -> Views {
        let weight = 1.0 / dims.len() as f64;
        let view =
            |(i, &dim): (usize, &usize)| View { name: i.to_string(), dim, weight, kernel, columns: None };
        Views { parts: dims.iter().enumerate().map(view).collect() }
    }

    #[test]
    fn the_cheapest_exact_form_is_chosen_and_a_sample_where_none_fits() {
        let fusion = Fusion::default();
        let taken = |views: &Views, instances| fusion.choose(views, instances, true).unwrap().0;
        let linear = views(&[300, 200], Kernel::Linear);
        assert_eq!(taken(&linear, 501), KernelForm::Primal);
        assert_eq!(taken(&linear, 500), KernelForm::NSpace);
        let round = views(&[300], Kernel::Rbf { gamma: None });
        assert_eq!(taken(&round, 8_855), KernelForm::NSpace);
        assert_eq!(taken(&round, 24_295), KernelForm::Nystrom);
        assert_eq!(taken(&Views::single("a", 4096), 100), KernelForm::Primal);
    }

    #[test]
    fn forms_that_do_not_apply_are_refused() {
        let round = views(&[300], Kernel::Chi2 { gamma: None });
        let forced = |method| Fusion { method: Some(method), ..Fusion::default() };
        let text = |fusion: &Fusion| fusion.choose(&round, 24_295, true).unwrap_err().to_string();
        assert!(text(&forced(KernelForm::Primal)).contains("kernel-method"));
        assert!(text(&forced(KernelForm::NSpace)).contains("at least 17.6 GiB"));
        assert!(text(&Fusion { nystrom_rank: 0, ..Fusion::default() }).contains("nystrom-rank"));
        assert!(text(&Fusion { memory: f64::NAN, ..Fusion::default() }).contains("kernel-memory"));
    }
}
