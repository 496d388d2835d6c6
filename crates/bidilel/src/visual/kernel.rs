//! Which kernel a view has: `linear`, `rbf`, `chi2`, the last two with a gamma after a colon where it is given.
//!
//! An open gamma is found from the training instances: $1 / (2 m^2)$ with the median distance $m$ for `rbf`, $1 / m$
//! with the median chi-squared distance for `chi2`.

use std::fmt;
use std::str::FromStr;

use faer::MatRef;
use serde::{Deserialize, Serialize};

use bidilel_math::Scalar;
use bidilel_math::distance::squared_slices;
use bidilel_math::kernel::{Kernel as Resolved, chi_squared, median_over_pairs};

use crate::error::{Error, Result};

/// The kernel of a view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Kernel {
    /// Inner product.
    #[default]
    Linear,
    /// Radial basis function.
    Rbf {
        /// Inverse squared width; found from the data if not given.
        gamma: Option<f64>,
    },
    /// Exponential chi-squared, for histograms.
    Chi2 {
        /// Inverse scale; found from the data if not given.
        gamma: Option<f64>,
    },
}

impl Kernel {
    /// The kernel with its parameter, for the training instances of view `name`.
    ///
    /// # Errors
    /// [`Error::Negative`] where a histogram has a negative entry.
    pub(crate) fn resolve<T: Scalar>(self, name: &str, features: MatRef<'_, T>) -> Result<Resolved> {
        // Instances that are all alike have a kernel of ones, whatever the gamma.
        let inverse = |scale: f64| if scale > 0.0 { 1.0 / scale } else { 1.0 };
        Ok(match self {
            Self::Linear => Resolved::Linear,
            Self::Rbf { gamma } => Resolved::Rbf {
                gamma: gamma.unwrap_or_else(|| inverse(2.0 * median_over_pairs(features, squared_slices))),
            },
            Self::Chi2 { gamma } => {
                check_histogram(name, features)?;
                let gamma = gamma.unwrap_or_else(|| inverse(median_over_pairs(features, chi_squared)));
                Resolved::ChiSquared { gamma }
            }
        })
    }

    /// The kernel by its name, with the parameter that was found.
    pub(crate) fn of(resolved: Resolved) -> Self {
        match resolved {
            Resolved::Linear => Self::Linear,
            Resolved::Rbf { gamma } => Self::Rbf { gamma: Some(gamma) },
            Resolved::ChiSquared { gamma } => Self::Chi2 { gamma: Some(gamma) },
        }
    }

    /// The kernel with its parameter, where that is known.
    pub(crate) fn resolved(self) -> Option<Resolved> {
        Some(match self {
            Self::Linear => Resolved::Linear,
            Self::Rbf { gamma } => Resolved::Rbf { gamma: gamma? },
            Self::Chi2 { gamma } => Resolved::ChiSquared { gamma: gamma? },
        })
    }
}

/// Fails at the first negative entry, which no histogram has.
pub(crate) fn check_histogram<T: Scalar>(name: &str, features: MatRef<'_, T>) -> Result<()> {
    for (instance, column) in features.col_iter().enumerate() {
        if let Some(row) = column.iter().position(|value| value.to_f64() < 0.0) {
            let value = column[row].to_f64();
            return Err(Error::Negative { view: name.to_owned(), instance, column: row, value });
        }
    }
    Ok(())
}

impl FromStr for Kernel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, gamma) = match text.split_once(':') {
            Some((name, gamma)) => (name, Some(gamma)),
            None => (text, None),
        };
        let gamma = match gamma.map(str::parse::<f64>) {
            None => None,
            Some(Ok(gamma)) if gamma > 0.0 && gamma.is_finite() => Some(gamma),
            Some(_) => return Err(format!("the gamma of `{text}` is not a positive number")),
        };
        match (name, gamma) {
            ("linear", None) => Ok(Self::Linear),
            ("rbf", gamma) => Ok(Self::Rbf { gamma }),
            ("chi2", gamma) => Ok(Self::Chi2 { gamma }),
            _ => Err(format!("expected linear, rbf, rbf:GAMMA, chi2 or chi2:GAMMA, found `{text}`")),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, gamma) = match self {
            Self::Linear => ("linear", &None),
            Self::Rbf { gamma } => ("rbf", gamma),
            Self::Chi2 { gamma } => ("chi2", gamma),
        };
        match gamma {
            Some(gamma) => write!(f, "{name}:{gamma}"),
            None => f.write_str(name),
        }
    }
}

impl TryFrom<String> for Kernel {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Kernel> for String {
    fn from(kernel: Kernel) -> Self {
        kernel.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_and_others_are_refused() {
        for name in ["linear", "rbf", "rbf:0.25", "chi2", "chi2:3"] {
            assert_eq!(name.parse::<Kernel>().unwrap().to_string(), name);
        }
        for bad in ["", "linear:1", "rbf:0", "rbf:-1", "rbf:x", "chi2:inf", "poly"] {
            assert!(bad.parse::<Kernel>().is_err(), "{bad}");
        }
    }

    #[test]
    fn open_gammas_follow_the_scale_of_the_features() {
        let points = faer::mat![[0.0_f64, 2.0, 6.0]]; // distances 2, 4 and 6
        let kernel = Kernel::Rbf { gamma: None }.resolve("a", points.as_ref()).unwrap();
        assert_eq!(kernel, Resolved::Rbf { gamma: 1.0 / 32.0 });
        let failure =
            Kernel::Chi2 { gamma: None }.resolve("a", faer::mat![[1.0, -0.5]].as_ref()).unwrap_err();
        assert!(matches!(failure, Error::Negative { instance: 1, column: 0, .. }), "{failure}");
    }
}
