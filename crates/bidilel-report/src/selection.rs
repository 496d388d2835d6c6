//! The result of `select`: an order of views per trial, and what each view adds.

use bidilel::metrics::Accuracy;
use bidilel::settings::Settings;
use bidilel::split::DrawnSplits;
use bidilel::tune::ChosenViews;
use bidilel_math::statistics::Summary;
use serde::{Deserialize, Serialize};

use crate::plot::{Axis, Chart, Drawing, Layer, Plot, Theme, panels};
use crate::{Align, Table};

/// The object that `select --format json` prints: the first trial's order at the top, all trials below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// Views of the first trial, in the order in which they were taken.
    pub order: Vec<String>,
    /// Complementarity of each to all before it; none for the first.
    pub complementarity: Vec<Option<f64>>,
    /// Complementarity of any two views, in the order of `visual`.
    pub matrix: Vec<Vec<f64>>,
    /// All views, in the order in which they were given.
    pub visual: Vec<String>,
    /// Neighbors per instance in the pairs that views are compared by.
    pub neighbors: usize,
    /// How the trials were drawn; left out where the dataset has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_splits: Option<DrawnSplits>,
    /// The settings by which views were measured, alone and together.
    #[serde(default)]
    pub settings: Settings,
    /// Every trial.
    pub trials: Vec<TrialSelection>,
    /// Accuracy on the unseen classes after each addition; empty where that was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluation: Vec<SelectionStep>,
}

/// The order of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSelection {
    /// Name of the trial.
    pub split: String,
    /// Views in the order in which they were taken.
    pub order: Vec<String>,
    /// Complementarity of each to all before it; none for the first.
    pub complementarity: Vec<Option<f64>>,
    /// Complementarity of any two views, in the order of `validation`.
    pub matrix: Vec<Vec<f64>>,
    /// Same-class neighbor pairs per view.
    pub pairs: Vec<usize>,
    /// Accuracy of every view alone.
    pub validation: Vec<ViewScore>,
    /// Accuracy on the unseen classes after each addition; empty where that was not asked for.
    pub accuracy: Vec<Accuracy>,
}

/// Per-class accuracy of one view alone on held-out known classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewScore {
    /// Name of the view.
    pub view: String,
    /// Mean over folds.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Accuracy per fold.
    pub scores: Vec<f64>,
}

/// Per-class accuracy on the unseen classes with the first views of the order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionStep {
    /// The views.
    pub visual: Vec<String>,
    /// Mean over the trials that took at least as many views.
    pub per_class: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
}

impl TrialSelection {
    /// The order that was chosen among `views` in the trial `split`.
    pub fn new(split: &str, views: &[String], chosen: ChosenViews, accuracy: Vec<Accuracy>) -> Self {
        let score = |(view, scores): (&String, Vec<f64>)| {
            let Summary { mean, standard_error, .. } = Summary::of(&scores);
            ViewScore { view: view.clone(), mean, standard_error, scores }
        };
        let ChosenViews { validation, pairs, selection } = chosen;
        Self {
            split: split.to_owned(),
            order: selection.order.iter().map(|&view| views[view].clone()).collect(),
            complementarity: selection.complementarity,
            matrix: selection.matrix,
            pairs,
            validation: views.iter().zip(validation).map(score).collect(),
            accuracy,
        }
    }
}

impl Selection {
    /// Gathers the trials; the first decides the order of the tables.
    pub fn new(visual: Vec<String>, neighbors: usize, trials: Vec<TrialSelection>) -> Self {
        let first = trials.first();
        let order = first.map_or(Vec::new(), |trial| trial.order.clone());
        let evaluation = (1..=order.len()).filter_map(|count| {
            let values = trials.iter().filter_map(|trial| trial.accuracy.get(count - 1));
            let values: Vec<f64> = values.map(|accuracy| accuracy.per_class).collect();
            let Summary { mean, standard_error, .. } = (!values.is_empty()).then(|| Summary::of(&values))?;
            Some(SelectionStep { visual: order[..count].to_vec(), per_class: mean, standard_error })
        });
        Self {
            evaluation: evaluation.collect(),
            complementarity: first.map_or(Vec::new(), |trial| trial.complementarity.clone()),
            matrix: first.map_or(Vec::new(), |trial| trial.matrix.clone()),
            order,
            visual,
            neighbors,
            random_splits: None,
            settings: Settings::default(),
            trials,
        }
    }

    /// One row per view that was taken, in order.
    pub fn order_table(&self) -> Table {
        let mut columns = vec![
            ("", Align::Right),
            ("view", Align::Left),
            ("complementarity", Align::Right),
            ("alone, known classes %", Align::Right),
        ];
        if !self.evaluation.is_empty() {
            columns.push(("with those before, unseen classes %", Align::Right));
        }
        let mut table = Table::new(&columns);
        for (rank, (view, value)) in self.order.iter().zip(&self.complementarity).enumerate() {
            let alone = self.trials.first().map_or(&[][..], |trial| &trial.validation);
            let alone = alone.iter().find(|score| score.view == *view);
            let mut cells = vec![
                (rank + 1).to_string(),
                view.clone(),
                value.map_or("-".to_owned(), |value| format!("{value:.4}")),
                alone.map_or("-".to_owned(), |score| percent(score.mean, score.standard_error)),
            ];
            if !self.evaluation.is_empty() {
                let step = self.evaluation.get(rank);
                cells.push(step.map_or("-".to_owned(), |step| percent(step.per_class, step.standard_error)));
            }
            table.push(cells);
        }
        table
    }

    /// Complementarity of any two views.
    pub fn matrix_table(&self) -> Table {
        let columns: Vec<(&str, Align)> = std::iter::once(("complementarity", Align::Left))
            .chain(self.visual.iter().map(|name| (name.as_str(), Align::Right)))
            .collect();
        let mut table = Table::new(&columns);
        for (name, row) in self.visual.iter().zip(&self.matrix) {
            let values = row.iter().map(|value| format!("{value:.4}"));
            table.push(std::iter::once(name.clone()).chain(values).collect());
        }
        table
    }

    /// Both tables, and the orders of trials that differ from the first; `width` is that of the terminal.
    pub fn text(&self, width: Option<usize>) -> String {
        let tables = [self.order_table(), self.matrix_table()].map(|table| table.text(width));
        let drawn = self.random_splits.map_or(String::new(), |drawn| format!("\nrandom splits: {drawn}\n"));
        format!("{}{drawn}{}", tables.join("\n"), self.other_orders())
    }

    fn other_orders(&self) -> String {
        let Some((first, others)) = self.trials.split_first() else { return String::new() };
        let others = others.iter().filter(|trial| trial.order != first.order);
        let lines: Vec<String> =
            others.map(|trial| format!("  {}: {}\n", trial.split, trial.order.join(", "))).collect();
        if lines.is_empty() {
            return String::new();
        }
        format!("\nthe table's order is that of {}; others are\n{}", first.split, lines.concat())
    }

    /// Complementarity and, where it is known, accuracy after each addition, as an SVG.
    pub fn drawing(&self) -> String {
        panels("What each view adds", &self.charts(), Theme::LIGHT)
    }

    /// Complementarity as columns: the first view has none, so that there may be a single one; accuracy as a line.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let label = |rank: usize| match rank {
            0 => self.order[0].clone(),
            _ => format!("+ {}", self.order[rank]),
        };
        let added: Vec<(usize, f64)> = self
            .complementarity
            .iter()
            .enumerate()
            .filter_map(|(rank, value)| Some((rank, (*value)?)))
            .collect();
        let column =
            |(place, &(_, value)): (usize, &(usize, f64))| (place as f64 - 0.35, place as f64 + 0.35, value);
        let mut charts = Vec::new();
        if !added.is_empty() {
            let plot = Plot {
                x: Axis::named("view that is added", added.iter().map(|&(rank, _)| label(rank)).collect()),
                y: Axis::new("complementarity, 0 to 0.5").with(&[0.0]),
                layers: vec![Layer::Columns {
                    name: String::new(),
                    columns: added.iter().enumerate().map(column).collect(),
                }],
            };
            let description = "How much each view differs from those before it: 0 adds nothing.";
            charts.push(Chart::new(
                "complementarity",
                "Complementarity to the views before",
                description,
                Drawing::Plot(plot),
            ));
        }
        if !self.evaluation.is_empty() {
            let points = self.evaluation.iter().enumerate().map(|(rank, step)| (rank as f64, step.per_class));
            let line = Layer::Line {
                name: String::new(),
                points: points.collect(),
                errors: self.evaluation.iter().map(|step| step.standard_error).collect(),
                marks: true,
                chosen: None,
            };
            let plot = Plot {
                x: Axis::named(
                    "views, from left to right together",
                    (0..self.evaluation.len()).map(label).collect(),
                ),
                y: Axis::percent("accuracy on unseen classes, per class (%)"),
                layers: vec![line],
            };
            let bars = if self.trials.len() > 1 { "; bars are standard errors over trials" } else { "" };
            let description = format!("Accuracy with each view and all before it{bars}.");
            charts.push(Chart::new(
                "views",
                "Accuracy as views are added",
                &description,
                Drawing::Plot(plot),
            ));
        }
        charts
    }
}

/// `50.8 ± 0.9`; one value has no standard error.
fn percent(mean: f64, standard_error: f64) -> String {
    let error =
        if standard_error > 0.0 { format!(" ± {:.1}", 100.0 * standard_error) } else { String::new() };
    format!("{:.1}{error}", 100.0 * mean)
}

#[cfg(test)]
mod tests {
    use bidilel::visual;

    use super::*;

    fn trial(split: &str, order: [usize; 2], accuracy: &[f64]) -> TrialSelection {
        let chosen = ChosenViews {
            validation: vec![vec![0.25, 0.35], vec![0.5, 0.5]],
            pairs: vec![12, 34],
            selection: visual::Selection {
                order: order.to_vec(),
                complementarity: vec![None, Some(0.125)],
                matrix: vec![vec![0.0, 0.125], vec![0.125, 0.0]],
            },
        };
        let accuracy = accuracy.iter().map(|&value| Accuracy { per_class: value, per_image: value });
        TrialSelection::new(split, &views(), chosen, accuracy.collect())
    }

    fn views() -> Vec<String> {
        ["cnn", "sift"].map(str::to_owned).to_vec()
    }

    #[test]
    fn the_first_trial_decides_the_order_and_others_are_named() {
        let trials = vec![trial("a:0", [1, 0], &[]), trial("a:1", [0, 1], &[])];
        insta::assert_snapshot!(Selection::new(views(), 5, trials).text(None), @r"
           view  complementarity  alone, known classes %
        1  sift                -                    50.0
        2  cnn            0.1250              30.0 ± 5.0

        complementarity     cnn    sift
        cnn              0.0000  0.1250
        sift             0.1250  0.0000

        the table's order is that of a:0; others are
          a:1: cnn, sift
        ");
    }

    #[test]
    fn accuracies_are_means_over_trials_and_absent_where_nothing_was_evaluated() {
        let trials = vec![trial("a:0", [1, 0], &[0.5, 0.75]), trial("a:1", [1, 0], &[0.25, 0.75])];
        let evaluated = Selection::new(views(), 5, trials);
        assert_eq!(evaluated.evaluation[1].visual, ["sift", "cnn"]);
        assert!((evaluated.evaluation[0].per_class - 0.375).abs() < 1e-12);
        assert!(evaluated.text(None).contains("37.5 ± 12.5"));
        assert_eq!(evaluated.drawing().matches("<g ").count(), 2);
        let plain = serde_json::to_value(Selection::new(views(), 5, vec![trial("a", [0, 1], &[])]));
        let plain = plain.expect("serializable");
        assert!(plain.get("evaluation").is_none() && plain["trials"][0]["accuracy"] == serde_json::json!([]));
        assert_eq!(plain["complementarity"], serde_json::json!([null, 0.125]));
    }
}
