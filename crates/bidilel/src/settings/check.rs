//! Values that are wrong whatever the data are.

use super::range::SUM_TOLERANCE;
use super::{Range, Setting, Settings, setting};
use crate::error::{Error, Expected, Result};
use crate::post::Prior;
use crate::visual::Kernel;

impl Settings {
    /// Fails at the first setting that is out of its range. What a dataset is too small for, its stages find.
    ///
    /// # Errors
    /// [`crate::Error::Setting`].
    pub fn check(&self) -> Result<()> {
        self.check_numbers()?;
        check_weights("view_weights", self.view_weights.as_deref(), self.visual.as_deref())?;
        check_weights("semantic_weights", self.semantic_weights.as_deref(), self.semantic.as_deref())?;
        for text in self.kernel.iter().flatten() {
            parse_kernel(text.rsplit_once('=').map_or(text.as_str(), |(_, kernel)| kernel))?;
        }
        self.balanced_prior.iter().try_for_each(|texts| Prior::parse(texts).map(drop))
    }
}

/// The kernel that a text names.
pub(super) fn parse_kernel(text: &str) -> Result<Kernel> {
    text.parse().map_err(|_| row("kernel").wrong(Range::Kernels, format!("`{text}`")))
}

/// Fails unless weights are shares of one, and as many as there are names where these are known.
pub(super) fn check_weights(name: &str, weights: Option<&[f64]>, names: Option<&[String]>) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if let Some(names) = names.filter(|names| names.len() != weights.len()) {
        return Err(row(name).wrong(Expected::Weights { count: names.len() }, weights.len().to_string()));
    }
    let sum: f64 = weights.iter().sum();
    let shares = weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite());
    if shares && (sum - 1.0).abs() <= SUM_TOLERANCE {
        return Ok(());
    }
    let names = names.unwrap_or_default().to_vec();
    Err(Error::Weights { setting: row(name).name, names, weights: weights.to_vec() })
}

/// The row of a setting that is checked by name.
pub(super) fn row(name: &str) -> &'static Setting {
    setting(name).expect("a test asks for every name that is used here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_stages_would_take_passes_and_what_none_would_does_not() {
        let alpha = |alpha| Settings { alpha: Some(alpha), ..Settings::default() }.check();
        assert!(alpha(1e-9).is_ok() && Settings::default().check().is_ok());
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().all(|value| alpha(value).is_err()));
        let weights = |weights: &[f64]| {
            Settings { view_weights: Some(weights.to_vec()), ..Settings::default() }.check().is_ok()
        };
        assert!(weights(&[1.0 / 3.0; 3]) && weights(&[1.0, 0.0]));
        assert!(!weights(&[0.5, 0.6]) && !weights(&[1.5, -0.5]) && !weights(&[f64::NAN]));
        let semantic_weights = Some(vec![2.0]);
        assert!(Settings { semantic_weights, ..Settings::default() }.check().is_err());
        let kernel = |text: &str| Settings { kernel: Some(vec![text.to_owned()]), ..Settings::default() };
        assert!(kernel("a=rbf:0.5").check().is_ok() && kernel("a=cubic").check().is_err());
    }
}
