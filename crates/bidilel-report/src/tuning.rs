//! The result of `tune`: the chosen setting, every setting that was tried, accuracy against each setting.

use std::cmp::Reverse;

use bidilel::settings::Settings;
use bidilel::split::DrawnSplits;
use bidilel::tune::{self, Outcome, Scored};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tuned_choice::TunedChoice;
use crate::{Align, Curve, Table, curves, wrap_lines};

/// Rows of the table for a terminal.
const SHOWN_SETTINGS: usize = 10;

/// The object that `tune --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuning {
    /// The chosen setting.
    pub best: BestSetting,
    /// The trial whose known classes were used.
    pub split: String,
    /// How it was drawn; left out where the dataset has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_splits: Option<DrawnSplits>,
    /// How sure the choice is; none where the highest mean was asked for, or the defaults were not among the values to try.
    pub choice: Option<TunedChoice>,
    /// Every setting that was tried, in order.
    pub trials: Vec<ScoredSetting>,
    /// Whether the budget ended the search.
    pub stopped_by_budget: bool,
    /// Command lines that evaluate the chosen setting on the unseen classes.
    pub commands: Vec<String>,
    /// Neighbor lists that were too short in a fold without its held-out classes and were searched again.
    pub neighbor_lists_searched_again: usize,
    /// Seconds that the search took.
    pub seconds: f64,
    /// Accuracy against each setting that was varied by itself.
    pub curves: Vec<Curve>,
}

/// The chosen setting with its scores; its JSON has the settings both at the top and under `settings`.
#[derive(Debug, Clone, PartialEq)]
pub struct BestSetting {
    /// The settings in force.
    pub settings: Settings,
    /// Mean per-class accuracy on held-out known classes.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Number of folds that it was scored on.
    pub folds: usize,
}

/// One setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredSetting {
    /// The settings in force.
    pub settings: Settings,
    /// Mean per-class accuracy on held-out known classes; none where it cannot be fitted.
    pub mean: Option<f64>,
    /// Standard error of the mean; none where it cannot be fitted.
    pub standard_error: Option<f64>,
    /// Accuracy per fold.
    pub scores: Vec<f64>,
    /// The stage of the search that asked for it.
    pub stage: String,
    /// Why it cannot be fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Serialize for BestSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'a> {
            #[serde(flatten)]
            top: &'a Settings,
            settings: &'a Settings,
            mean: f64,
            standard_error: f64,
        }
        let Self { settings, mean, standard_error, .. } = self;
        let object = Object { top: settings, settings, mean: *mean, standard_error: *standard_error };
        object.serialize(serializer)
    }
}

impl Tuning {
    /// The outcome of a search in the trial `split`, with the commands that use it; `searched` counts neighbor lists that were searched again.
    pub fn of(outcome: &Outcome, split: &str, commands: Vec<String>, seconds: f64, searched: usize) -> Self {
        let one = |scored: &Scored| ScoredSetting {
            settings: scored.settings.effective(),
            mean: scored.problem.is_none().then_some(scored.mean),
            standard_error: scored.problem.is_none().then_some(scored.standard_error),
            scores: scored.scores.clone(),
            stage: scored.stage.name().to_owned(),
            problem: scored.problem.clone(),
        };
        let Scored { settings, scores, mean, standard_error, .. } = &outcome.best;
        Self {
            best: BestSetting {
                settings: settings.effective(),
                mean: *mean,
                standard_error: *standard_error,
                folds: scores.len(),
            },
            split: split.to_owned(),
            random_splits: None,
            choice: outcome.verdict.as_ref().map(TunedChoice::of),
            trials: outcome.scored.iter().map(one).collect(),
            stopped_by_budget: outcome.stopped,
            commands,
            neighbor_lists_searched_again: searched,
            seconds,
            curves: outcome.curves.iter().map(|curve| setting_curve(curve, settings)).collect(),
        }
    }

    /// One row per setting that was tried, best first: `most` of them.
    pub fn table(&self, most: usize) -> Table {
        let columns = [
            ("accuracy %", Align::Right),
            ("standard error", Align::Right),
            ("trials", Align::Right),
            ("stage", Align::Left),
            ("settings", Align::Left),
        ];
        let mut table = Table::new(&columns);
        // The chosen setting is the first row, even where another has a higher score on fewer folds.
        let rank = |one: &ScoredSetting| {
            (one.problem.is_some(), one.settings != self.best.settings, Reverse(one.scores.len()))
        };
        let mean = |one: &ScoredSetting| one.mean.unwrap_or(0.0);
        let mut order: Vec<&ScoredSetting> = self.trials.iter().collect();
        order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(mean(b).total_cmp(&mean(a))));
        for one in order.into_iter().take(most) {
            let (mean, error) = match (one.mean, one.standard_error) {
                (Some(mean), Some(error)) => (
                    format!("{:.1}", 100.0 * mean),
                    error_text(error, one.scores.len()).unwrap_or("-".to_owned()),
                ),
                _ => ("not possible".to_owned(), "-".to_owned()),
            };
            let folds = one.scores.len().to_string();
            table.push(vec![mean, error, folds, one.stage.clone(), settings_line(&one.settings)]);
        }
        table
    }

    /// The first rows of the table, the chosen setting, and the commands, for a terminal of `width` cells.
    pub fn text(&self, width: Option<usize>) -> String {
        let folds = self.best.folds;
        let best = format!(
            "best: {}\n  {} on held-out known classes ({folds} trial{}), {} settings tried in {:.1} s{}",
            settings_line(&self.best.settings),
            self.best.percent(),
            if folds == 1 { "" } else { "s" },
            self.trials.len(),
            self.seconds,
            if self.stopped_by_budget { "; the budget ended it early" } else { "" },
        );
        let best = self.choice.iter().fold(best, |best, choice| format!("{best}\n  {}", choice.reason));
        // A command to copy is never wrapped.
        let commands = self.commands.join("\n");
        format!("{}\n{}\n\n{commands}\n", self.table(SHOWN_SETTINGS).text(width), wrap_lines(&best, width))
    }

    /// The curves as an SVG.
    pub fn drawing(&self) -> String {
        curves("Accuracy against each setting", &self.curves)
    }
}

impl BestSetting {
    /// `50.8 ± 0.9 %`
    fn percent(&self) -> String {
        let error = error_text(self.standard_error, self.folds);
        format!("{:.1}{} %", 100.0 * self.mean, error.map_or(String::new(), |error| format!(" ± {error}")))
    }
}

/// `alpha 10.0, dim 100`: the settings that were given and matter to the method.
pub fn settings_line(settings: &Settings) -> String {
    settings_line_without(settings, &[])
}

/// The same without some of them.
pub(crate) fn settings_line_without(settings: &Settings, left_out: &[&str]) -> String {
    let mut entries = settings.effective().entries();
    entries.retain(|name, _| !left_out.contains(&&name[..]));
    let part =
        |(name, value): (&String, &Value)| format!("{} {}", name.replace('_', "-"), setting_text(value));
    let parts: Vec<String> = entries.iter().map(part).collect();
    if parts.is_empty() { "the defaults".to_owned() } else { parts.join(", ") }
}

/// The value of a setting as it is typed; lists are separated by commas.
pub fn setting_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(setting_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A curve with the chosen value marked; settings that cannot be fitted have no accuracy and are left out.
fn setting_curve(curve: &tune::Curve, best: &Settings) -> Curve {
    let value = |settings: &Settings| settings.entries().get(&curve.setting).map(setting_text);
    let points: Vec<&Scored> = curve.points.iter().filter(|point| point.problem.is_none()).collect();
    let best = value(best);
    let chosen = points.iter().position(|point| best.is_some() && value(&point.settings) == best);
    let points = points
        .into_iter()
        .map(|point| (value(&point.settings).unwrap_or_default(), point.mean, point.standard_error));
    Curve { title: curve.setting.replace('_', "-"), points: points.collect(), chosen }
}

/// The standard error in percent; one fold has none.
fn error_text(standard_error: f64, folds: usize) -> Option<String> {
    (folds > 1).then(|| format!("{:.1}", 100.0 * standard_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(alpha: f64, scores: &[f64], problem: Option<&str>) -> ScoredSetting {
        ScoredSetting {
            settings: Settings { alpha: Some(alpha), ..Settings::default() },
            mean: problem.is_none().then(|| scores.iter().sum::<f64>() / scores.len() as f64),
            standard_error: problem.is_none().then_some(0.05),
            scores: scores.to_vec(),
            stage: "grid".to_owned(),
            problem: problem.map(str::to_owned),
        }
    }

    fn tuning() -> Tuning {
        let trials = vec![
            scored(0.1, &[0.9], None),
            scored(1.0, &[0.0, 0.0], Some("no")),
            scored(10.0, &[0.5, 0.6], None),
            scored(100.0, &[0.25, 0.35], None),
        ];
        let best =
            BestSetting { settings: trials[2].settings.clone(), mean: 0.55, standard_error: 0.05, folds: 2 };
        Tuning {
            best,
            split: "standard".to_owned(),
            random_splits: None,
            choice: None,
            trials,
            stopped_by_budget: true,
            commands: vec!["bidilel evaluate sea --alpha 10.0".to_owned()],
            neighbor_lists_searched_again: 0,
            seconds: 1.25,
            curves: vec![Curve {
                title: "alpha".to_owned(),
                points: vec![("10.0".to_owned(), 0.55, 0.05)],
                chosen: Some(0),
            }],
        }
    }

    #[test]
    fn the_chosen_setting_comes_first_and_the_impossible_last() {
        insta::assert_snapshot!(tuning().text(None), @r"
          accuracy %  standard error  trials  stage  settings
                55.0             5.0       2  grid   alpha 10.0
                30.0             5.0       2  grid   alpha 100.0
                90.0               -       1  grid   alpha 0.1
        not possible               -       2  grid   alpha 1.0

        best: alpha 10.0
          55.0 ± 5.0 % on held-out known classes (2 trials), 4 settings tried in 1.2 s; the budget ended it early

        bidilel evaluate sea --alpha 10.0
        ");
        assert_eq!(tuning().table(2).rows.len(), 2);
        assert!(tuning().drawing().contains("a8 8"), "a ring around the chosen value");
    }

    #[test]
    fn the_object_has_the_best_settings_at_the_top_and_by_themselves() {
        let object = serde_json::to_value(tuning()).expect("serializable");
        let best = serde_json::json!({
            "alpha": 10.0, "settings": {"alpha": 10.0}, "mean": 0.55, "standard_error": 0.05,
        });
        assert_eq!(object["best"], best);
        let impossible = &object["trials"][1];
        assert!(impossible["mean"].is_null() && impossible["problem"] == "no");
        assert!(object["trials"][0].get("problem").is_none());
        let curve = serde_json::json!([{"setting": "alpha", "points": [["10.0", 0.55, 0.05]], "chosen": 0}]);
        assert_eq!(object["curves"], curve);
    }
}
