//! How the settings of a cell are chosen on known classes: the paper's order, or a grid, possibly after another search.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::settings::Settings;
use crate::tune::{Axis, Outcome, Plan, Rule, Strategy};

/// The order in which settings are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The paper's: a coarse grid, then alpha, dim, neighbors and those of self-training one by one.
    #[default]
    Paper,
    /// All combinations.
    Grid,
}

/// A search for settings, by the highest mean accuracy on held-out known classes: the paper's rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    /// The search whose choice this one starts from.
    pub after: Option<Box<Self>>,
    /// Settings that are fixed.
    pub settings: Map<String, Value>,
    /// The order.
    pub order: Order,
    /// Settings to vary with their values; they replace the paper's values for them.
    pub axes: Vec<Axis>,
    /// Further values for the curves: scored beside the choice, one setting at a time, and never chosen.
    pub drawn: Vec<Axis>,
}

impl Search {
    /// All combinations of some values.
    pub fn grid(axes: &[(&str, Vec<Value>)]) -> Self {
        let axis =
            |(name, values): &(&str, Vec<Value>)| Axis { name: (*name).to_owned(), values: values.clone() };
        Self { order: Order::Grid, axes: axes.iter().map(axis).collect(), ..Self::default() }
    }

    /// What to try over settings that are fixed.
    ///
    /// # Errors
    /// [`crate::Error::Unreadable`] for a setting that does not exist.
    pub(super) fn plan(&self, base: &Settings, seed: u64) -> Result<Plan> {
        let strategy = match self.order {
            Order::Paper => Strategy::Paper,
            Order::Grid => Strategy::Grid,
        };
        let mut base = base.with(&self.settings)?;
        // What a search varies is not what an earlier one has fixed.
        let varied: Map<String, Value> =
            self.axes.iter().map(|axis| (axis.name.clone(), Value::Null)).collect();
        base = base.with(&varied)?;
        Ok(Plan { base, axes: self.axes.clone(), strategy, rule: Rule::Highest, auto: false, seed })
    }

    /// Values of a drawn setting, everything else as it was chosen.
    pub(super) fn plan_of_drawn(axis: &Axis, chosen: &Settings, seed: u64) -> Result<Plan> {
        let free = Map::from_iter([(axis.name.clone(), Value::Null)]);
        let mut axis = axis.clone();
        // A curve has at least two values; the chosen one is scored already.
        axis.values.extend(chosen.entries().get(&axis.name).cloned());
        let (base, axes) = (chosen.with(&free)?, vec![axis]);
        Ok(Plan { base, axes, strategy: Strategy::Grid, rule: Rule::Highest, auto: false, seed })
    }

    /// Whether there is nothing to try.
    pub fn is_single(&self) -> bool {
        self.order == Order::Grid && self.axes.iter().all(|axis| axis.values.len() < 2)
    }

    /// Everything that decides the choice, as text.
    pub(super) fn key(&self) -> String {
        let listed = |axes: &[Axis]| -> Vec<Value> {
            axes.iter().map(|axis| json!([axis.name, axis.values])).collect()
        };
        let (axes, drawn) = (listed(&self.axes), listed(&self.drawn));
        let after = self.after.as_ref().map(|after| after.key());
        let order = format!("{:?}", self.order);
        json!({"after": after, "settings": self.settings, "order": order, "axes": axes, "drawn": drawn})
            .to_string()
    }
}

/// What a search has chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The settings.
    pub settings: Settings,
    /// Mean per-class accuracy on held-out known classes; none where there was nothing to try.
    pub mean: Option<f64>,
    /// Its standard error over folds.
    pub standard_error: Option<f64>,
    /// How many folds.
    pub folds: usize,
    /// Accuracy against every setting that was varied by itself.
    pub curves: Vec<ChoiceCurve>,
}

/// Accuracy on held-out classes against one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceCurve {
    /// The setting's name.
    pub setting: String,
    /// One point per value, in order.
    pub points: Vec<CurvePoint>,
}

/// One value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The value.
    pub value: Value,
    /// Mean per-class accuracy over folds.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Choice {
    pub(super) fn of(outcome: &Outcome, folds: usize) -> Self {
        let curve = |curve: &crate::tune::Curve| {
            let point = |point: &crate::tune::Scored| {
                let value = point.settings.entries().get(&curve.setting).cloned()?;
                Some(CurvePoint { value, mean: point.mean, standard_error: point.standard_error })
            };
            ChoiceCurve {
                setting: curve.setting.clone(),
                points: curve.points.iter().filter_map(point).collect(),
            }
        };
        Self {
            settings: outcome.best.settings.clone(),
            mean: Some(outcome.best.mean),
            standard_error: Some(outcome.best.standard_error),
            folds,
            curves: outcome.curves.iter().map(curve).collect(),
        }
    }

    /// Adds points to the curve of a setting, in the order of its values.
    pub(super) fn draw(&mut self, setting: &str, outcome: &Outcome, folds: usize) {
        let drawn = Self::of(outcome, folds).curves.into_iter().filter(|curve| curve.setting == setting);
        let Some(curve) = self.curves.iter_mut().find(|curve| curve.setting == setting) else { return };
        for point in drawn.flat_map(|curve| curve.points) {
            if !curve.points.iter().any(|known| known.value == point.value) {
                curve.points.push(point);
            }
        }
        let number = |point: &CurvePoint| point.value.as_f64().unwrap_or(f64::NAN);
        curve.points.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }

    /// Of settings that were not searched for.
    pub(super) fn given(settings: Settings) -> Self {
        Self { settings, mean: None, standard_error: None, folds: 0, curves: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_search_keeps_what_was_chosen_and_varies_its_own() {
        let chosen = Settings { alpha: Some(3.0), gamma: Some(0.4), ..Settings::default() };
        let mut search = Search::grid(&[("gamma", vec![json!(0.2), json!(0.8)])]);
        search.settings.insert("post".to_owned(), json!(["structured"]));
        let plan = search.plan(&chosen, 7).unwrap();
        assert_eq!((plan.base.alpha, plan.base.gamma), (Some(3.0), None));
        assert_eq!((plan.base.post().len(), plan.rule, plan.strategy), (1, Rule::Highest, Strategy::Grid));
        search.settings.insert("alfa".to_owned(), json!(1));
        assert!(search.plan(&chosen, 7).unwrap_err().to_string().contains("alfa"));
    }

    #[test]
    fn keys_differ_with_everything_that_decides() {
        let first = Search::grid(&[("dim", vec![json!(5)])]);
        let later = Search { after: Some(Box::new(first.clone())), ..Search::default() };
        let fixed = Search { settings: Map::from_iter([("alpha".to_owned(), json!(1))]), ..first.clone() };
        let keys = [first.key(), later.key(), fixed.key(), Search::default().key()];
        assert!((0..4).all(|one| (0..one).all(|other| keys[one] != keys[other])), "{keys:?}");
        assert!(first.is_single() && !Search::default().is_single());
    }
}
