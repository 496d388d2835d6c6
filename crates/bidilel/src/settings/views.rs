//! The visual representations that settings ask for: names, weights, kernels.

use serde::{Deserialize, Deserializer};

use super::Settings;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::visual::{Kernel, Method, ViewChoice};

impl Settings {
    /// The views with their weights and kernels, by the names that the dataset has.
    pub(super) fn views(&self, dataset: &Dataset) -> Result<Vec<ViewChoice>> {
        let names = match self.visual.as_deref() {
            None | Some([]) => vec![dataset.visual(None)?.name.clone()],
            Some(names) => names.to_vec(),
        };
        let weights = match &self.view_weights {
            Some(weights) if weights.len() == names.len() => weights.clone(),
            Some(weights) => {
                let expected = format!("{} weights, one a visual representation", names.len());
                return Err(wrong("view-weights", expected, weights.len().to_string()));
            }
            // Without a word on it, all count the same.
            None => vec![1.0 / names.len() as f64; names.len()],
        };
        let kernels = self.kernels(&names)?;
        let view = |((name, weight), kernel)| ViewChoice { name, weight, kernel };
        Ok(names.into_iter().zip(weights).zip(kernels).map(view).collect())
    }

    /// A kernel for each of these views.
    fn kernels(&self, names: &[String]) -> Result<Vec<Kernel>> {
        let given = self.kernel.as_deref().unwrap_or(&[]);
        let parse = |text: &str| {
            let known = "linear, rbf, rbf:GAMMA, chi2 or chi2:GAMMA".to_owned();
            text.parse::<Kernel>().map_err(|_| wrong("kernel", known, format!("`{text}`")))
        };
        let (named, plain): (Vec<&String>, Vec<&String>) = given.iter().partition(|text| text.contains('='));
        let mut kernels = match &plain[..] {
            [] => vec![Kernel::Linear; names.len()],
            [one] => vec![parse(one)?; names.len()],
            several if several.len() == names.len() && named.is_empty() => {
                several.iter().map(|text| parse(text)).collect::<Result<Vec<_>>>()?
            }
            several => {
                let expected = format!("one for all, one for each of {} views, or NAME=KERNEL", names.len());
                return Err(wrong("kernel", expected, several.len().to_string()));
            }
        };
        for text in named {
            let (name, kernel) = text.rsplit_once('=').unwrap_or(("", text));
            let Some(place) = names.iter().position(|other| other == name) else {
                let expected = format!("given for a view in use ({})", names.join(", "));
                return Err(wrong("kernel", expected, format!("`{name}`")));
            };
            kernels[place] = parse(kernel)?;
        }
        Ok(kernels)
    }

    /// Whether the kernel form of the problem is meant: several views, or a kernel.
    pub(super) fn is_fused(&self) -> bool {
        let several = self.visual.as_ref().is_some_and(|names| names.len() > 1);
        let bent = |text: &String| !text.ends_with("linear");
        let kernels = self.kernel.iter().flatten().any(bent);
        several || kernels || matches!(self.kernel_method, Some(Method::NSpace | Method::Nystrom))
    }
}

fn wrong(setting: &'static str, expected: String, found: String) -> Error {
    Error::Setting { setting, expected, found }
}

/// A list, or one value in the place of a list of one.
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
    fn several_views_or_a_kernel_have_the_regulariser_of_the_kernel_form() {
        assert!(!settings(&["a"], &[]).is_fused() && !settings(&["a"], &["a=linear"]).is_fused());
        assert!(settings(&["a", "b"], &[]).is_fused() && settings(&["a"], &["rbf"]).is_fused());
    }
}
