//! The representations that settings ask for: names, weights, kernels.

use serde::{Deserialize, Deserializer};

use super::Settings;
use super::check::{check_weights, parse_kernel, row};
use crate::dataset::Dataset;
use crate::error::{Expected, Result};
use crate::visual::{Kernel, KernelForm, ViewChoice};

impl Settings {
    /// The views with their weights and kernels, by the names that the dataset has.
    pub(super) fn views(&self, dataset: &Dataset) -> Result<Vec<ViewChoice>> {
        let names = match self.visual.as_deref() {
            None | Some([]) => vec![dataset.visual(None)?.name.clone()],
            Some(names) => names.to_vec(),
        };
        check_weights("view_weights", self.view_weights.as_deref(), Some(&names))?;
        let weights = self.view_weights.clone().unwrap_or_else(|| equal(names.len()));
        let kernels = self.kernels(&names)?;
        let view = |((name, weight), kernel)| ViewChoice { name, weight, kernel };
        Ok(names.into_iter().zip(weights).zip(kernels).map(view).collect())
    }

    /// The semantic representations with their weights, by the names that the dataset has.
    pub(super) fn descriptions(&self, dataset: &Dataset) -> Result<Vec<(String, f64)>> {
        let names = match self.semantic.as_deref() {
            None | Some([]) => vec![dataset.semantic(None)?.name.clone()],
            Some(names) => names.to_vec(),
        };
        check_weights("semantic_weights", self.semantic_weights.as_deref(), Some(&names))?;
        let weights = match (&self.semantic_weights, self.gamma, names.len()) {
            (Some(weights), ..) => weights.clone(),
            (None, Some(gamma), 2) => {
                row("gamma").check(gamma)?;
                vec![1.0 - gamma, gamma]
            }
            (None, Some(_), count) => {
                return Err(row("gamma").wrong(Expected::TwoSemantic, format!("{count} of them")));
            }
            (None, None, count) => equal(count),
        };
        Ok(names.into_iter().zip(weights).collect())
    }

    /// A kernel for each of these views.
    fn kernels(&self, names: &[String]) -> Result<Vec<Kernel>> {
        let given = self.kernel.as_deref().unwrap_or(&[]);
        let (named, plain): (Vec<&String>, Vec<&String>) = given.iter().partition(|text| text.contains('='));
        let mut kernels = match &plain[..] {
            [] => vec![Kernel::Linear; names.len()],
            [one] => vec![parse_kernel(one)?; names.len()],
            several if several.len() == names.len() && named.is_empty() => {
                several.iter().map(|text| parse_kernel(text)).collect::<Result<Vec<_>>>()?
            }
            several => {
                return Err(
                    row("kernel").wrong(Expected::Kernels { views: names.len() }, several.len().to_string())
                );
            }
        };
        for text in named {
            let (name, kernel) = text.rsplit_once('=').unwrap_or(("", text));
            let Some(index) = names.iter().position(|other| other == name) else {
                let expected = Expected::ViewInUse { views: names.to_vec() };
                return Err(row("kernel").wrong(expected, format!("`{name}`")));
            };
            kernels[index] = parse_kernel(kernel)?;
        }
        Ok(kernels)
    }

    /// Whether the kernel form of the problem is meant: several views, or a kernel.
    pub(crate) fn is_fused(&self) -> bool {
        let several = self.visual.as_ref().is_some_and(|names| names.len() > 1);
        let not_linear = |text: &String| !text.ends_with("linear");
        let kernels = self.kernel.iter().flatten().any(not_linear);
        several || kernels || matches!(self.kernel_method, Some(KernelForm::NSpace | KernelForm::Nystrom))
    }
}

/// Representations count the same unless weights are given.
fn equal(count: usize) -> Vec<f64> {
    vec![1.0 / count as f64; count]
}

/// A list, or one value instead of a list of one.
pub(super) fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Option::<Given>::deserialize(from)? {
        None => None,
        Some(Given::One(one)) => Some(vec![one]),
        Some(Given::Several(several)) => Some(several),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(visual: &[&str], kernel: &[&str]) -> Settings {
        let list = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        Settings { visual: list(visual), kernel: list(kernel), ..Settings::default() }
    }

    #[test]
    fn kernels_are_for_all_for_each_or_by_name() {
        let names = ["a".to_owned(), "b".to_owned()];
        let of = |kernel: &[&str]| settings(&["a", "b"], kernel).kernels(&names);
        let (linear, rbf) = (Kernel::Linear, Kernel::Rbf { gamma: None });
        assert_eq!(of(&[]).unwrap(), [linear, linear]);
        assert_eq!(of(&["rbf"]).unwrap(), [rbf, rbf]);
        assert_eq!(of(&["linear", "rbf"]).unwrap(), [linear, rbf]);
        assert_eq!(of(&["b=rbf"]).unwrap(), [linear, rbf]);
        assert_eq!(of(&["rbf", "a=linear"]).unwrap(), [linear, rbf]);
        for bad in [&["c=rbf"][..], &["rbf", "rbf", "rbf"], &["b=cubic"], &["rbf", "rbf", "a=linear"]] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_a_list_of_one() {
        let read = |text: &str| serde_json::from_str::<Settings>(text).unwrap().visual;
        assert_eq!(read("{\"visual\": \"a\"}"), read("{\"visual\": [\"a\"]}"));
        assert_eq!(read("{}"), None);
    }

    #[test]
    fn several_views_or_a_kernel_have_the_regularizer_of_the_kernel_form() {
        assert!(!settings(&["a"], &[]).is_fused() && !settings(&["a"], &["a=linear"]).is_fused());
        assert!(settings(&["a", "b"], &[]).is_fused() && settings(&["a"], &["rbf"]).is_fused());
    }
}
