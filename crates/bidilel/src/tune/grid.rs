//! Settings to try: named axes, each with its values in the order in which ties are broken.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::settings::Settings;

/// One setting with the values to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The setting's name, as in [`Settings`].
    pub name: String,
    /// Its values, in order.
    pub values: Vec<Value>,
}

impl Axis {
    /// An axis over some values.
    pub fn new<V: Into<Value> + Clone>(name: &str, values: &[V]) -> Self {
        Self { name: name.to_owned(), values: values.iter().cloned().map(Into::into).collect() }
    }

    /// `base` with each of the values.
    ///
    /// # Errors
    /// [`Error::Axis`] for a name or value that [`Settings`] does not take.
    pub fn over(&self, base: &Settings) -> Result<Vec<Settings>> {
        if self.values.is_empty() {
            return Err(Error::NothingToTry { setting: self.name.clone() });
        }
        self.values.iter().map(|value| set(base, &self.name, value)).collect()
    }
}

/// One setting changed. A chain of refiners may be written `self-training+structured`.
pub(crate) fn set(base: &Settings, name: &str, value: &Value) -> Result<Settings> {
    let value = match (name, value) {
        ("post", Value::String(chain)) => chain.split('+').collect::<Vec<_>>().into(),
        _ => value.clone(),
    };
    base.with(&Map::from_iter([(name.to_owned(), value)]))
        .map_err(|cause| Error::Axis { setting: name.to_owned(), cause: Box::new(cause) })
}

/// All combinations of all values, the last axis changing fastest; those that come to the same are there once.
///
/// # Errors
/// [`Error::NothingToTry`] for an axis without values, [`Error::Axis`] for one that [`Settings`] does not take.
pub fn product(base: &Settings, axes: &[Axis]) -> Result<Vec<Settings>> {
    let mut all = vec![base.clone()];
    for axis in axes {
        let longer = all.iter().map(|settings| axis.over(settings)).collect::<Result<Vec<_>>>()?;
        all = longer.concat();
    }
    Ok(distinct(all))
}

/// Only the first of settings that describe one and the same method.
pub(crate) fn distinct(all: Vec<Settings>) -> Vec<Settings> {
    let mut keys = HashSet::new();
    all.into_iter().filter(|settings| keys.insert(key(settings))).collect()
}

/// What tells one method from another: its effective settings as text.
pub(crate) fn key(settings: &Settings) -> String {
    Value::Object(settings.effective().entries()).to_string()
}

/// The coarse grid of the paper.
pub fn coarse() -> Vec<Axis> {
    vec![
        Axis::new("alpha", &[0.1, 10.0]),
        Axis::new("dim", &[10, 100, 500]),
        Axis::new("neighbors", &[1, 10, 50]),
    ]
}

/// The paper's values for tuning one setting at a time, in its order.
pub fn fine() -> Vec<Axis> {
    vec![
        Axis::new("alpha", &[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]),
        Axis::new("dim", &[50, 100, 150, 200, 250, 300]),
        Axis::new("neighbors", &[5, 10, 15, 20, 25, 30]),
        self_training(),
        gamma(),
    ]
}

pub(crate) fn self_training() -> Axis {
    Axis::new("self_training_neighbors", &[20, 40, 60, 80, 100, 120, 140, 160, 180, 200])
}

pub(crate) fn gamma() -> Axis {
    Axis::new("gamma", &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_changes_fastest_and_what_has_no_say_makes_no_difference() {
        let all = product(&Settings::default(), &coarse()).unwrap();
        assert_eq!(all.len(), 18);
        let expected = [(10, 1), (10, 10), (10, 50), (100, 1)].map(|(d, k)| (Some(0.1), Some(d), Some(k)));
        assert!(all[..4].iter().map(|s| (s.alpha, s.dim, s.neighbors)).eq(expected));
        let lda = set(&Settings::default(), "bottom_up", &"lda".into()).unwrap();
        assert_eq!(
            product(&lda, &coarse()).unwrap().len(),
            3,
            "lda has a dim, but no alpha and no neighbors"
        );
    }

    #[test]
    fn names_and_values_that_do_not_exist_are_errors() {
        let base = Settings::default();
        let failure = |axis: Axis| product(&base, &[axis]).unwrap_err().to_string();
        assert!(failure(Axis::new("alfa", &[1.0])).contains("alfa"));
        assert!(failure(Axis::new("dim", &["many"])).contains("dim"));
        assert!(failure(Axis::new("alpha", &[] as &[f64])).contains("no value"));
        assert!(failure(Axis::new("dim", &[-3])).contains("dim"));
        let chain = set(&base, "post", &"self-training+structured".into()).unwrap();
        assert_eq!(chain.post().len(), 2);
    }
}
