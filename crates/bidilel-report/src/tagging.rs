//! The result of `tag`: one object for scripts, tables for people.

use std::collections::BTreeMap;

use bidilel::Candidates;
use bidilel::method::MethodReport;
use bidilel::tags::{MeanPrecision, PrecisionRecall, TagClass, TagEvaluated, TagRun};
use serde::{Deserialize, Serialize};

use crate::evaluation::mean_of;
use crate::{Align, CheckReport, Table, method_line, visible, wrap_lines};

/// The object that `tag --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tagging {
    /// Name of the dataset.
    pub dataset: String,
    /// The split as it was given.
    pub split: String,
    /// Visual representations.
    pub visual: Vec<String>,
    /// Semantic representations.
    pub semantic: Vec<String>,
    /// The method with every setting in force.
    pub method: MethodReport,
    /// The labels that competed.
    pub candidates: Candidates,
    /// Mean average precision, mean over runs.
    pub mean_average_precision: MeanPrecision,
    /// Mean average precision per class of random scores.
    pub chance: f64,
    /// Precision, recall and F1 of the `k` best labels, by `k`.
    pub top: BTreeMap<usize, PrecisionRecall>,
    /// The same of the tags above thresholds, over all pairs together.
    pub micro: PrecisionRecall,
    /// Mean F1 of the labels above their thresholds.
    pub macro_f1: f64,
    /// Every label: means over the runs in which it was a candidate.
    pub classes: Vec<TagClass>,
    /// Every run.
    pub runs: Vec<TagRun>,
    /// Seconds by stage, over all runs.
    pub timings: BTreeMap<String, f64>,
    /// Self-checks of the stages, over all runs.
    #[serde(default)]
    pub checks: Vec<CheckReport>,
}

impl Tagging {
    /// Averages the runs of an experiment.
    pub fn of(
        evaluated: TagEvaluated,
        candidates: Candidates,
        timings: BTreeMap<String, f64>,
        checks: Vec<CheckReport>,
    ) -> Self {
        let TagEvaluated { dataset, split, visual, semantic, method, runs } = evaluated;
        let mean = |of: fn(&TagRun) -> f64| mean_of(runs.iter().map(of));
        let ks: Vec<usize> = runs.first().map_or(Vec::new(), |run| run.top.keys().copied().collect());
        Self {
            dataset,
            split,
            visual,
            semantic,
            method,
            candidates,
            mean_average_precision: MeanPrecision {
                per_class: mean(|run| run.mean_average_precision.per_class),
                per_instance: mean(|run| run.mean_average_precision.per_instance),
            },
            chance: mean(|run| run.chance),
            top: ks.into_iter().map(|k| (k, mean_shares(runs.iter().map(|run| run.top[&k])))).collect(),
            micro: mean_shares(runs.iter().map(|run| run.micro)),
            macro_f1: mean(|run| run.macro_f1),
            classes: classes(&runs),
            runs,
            timings,
            checks,
        }
    }

    /// Everything that a person reads, for a terminal of `width` cells.
    pub fn text(&self, width: Option<usize>) -> String {
        let runs = match self.runs.len() {
            1 => String::new(),
            count => format!(", mean of {count} runs"),
        };
        let map = self.mean_average_precision;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        format!(
            "{}, split {}{runs}: {} with {}\n{}\n\nmean average precision {} per label ({} by chance), {} per instance\n\n{}\n{}\n{:.1} s\n",
            visible(&self.dataset),
            visible(&self.split),
            visible(&self.visual.join(" + ")),
            visible(&self.semantic.join(" + ")),
            wrap_lines(&method_line(&self.method), width),
            percent(map.per_class),
            percent(self.chance),
            percent(map.per_instance),
            self.tags_table().text(width),
            self.classes_table().text(width),
            self.timings.get("total").copied().unwrap_or(0.0)
        )
    }

    /// Precision, recall and F1 of the first few labels and of those above thresholds.
    pub fn tags_table(&self) -> Table {
        let mut table = Table::new(&[
            ("tags", Align::Left),
            ("precision", Align::Right),
            ("recall", Align::Right),
            ("F1", Align::Right),
        ]);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let mut row = |name: String, one: PrecisionRecall| {
            table.push(vec![name, percent(one.precision), percent(one.recall), percent(one.f1)]);
        };
        self.top.iter().for_each(|(k, one)| row(format!("the {k} best labels"), *one));
        row("above thresholds".to_owned(), self.micro);
        table.push(vec![
            "above thresholds, mean of labels".to_owned(),
            String::new(),
            String::new(),
            percent(self.macro_f1),
        ]);
        table
    }

    /// One row per label.
    pub fn classes_table(&self) -> Table {
        let mut table = Table::new(&[
            ("label", Align::Left),
            ("instances", Align::Right),
            ("average precision", Align::Right),
            ("F1", Align::Right),
            ("threshold", Align::Right),
        ]);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        for class in &self.classes {
            table.push(vec![
                class.name.clone(),
                class.instances.to_string(),
                class.average_precision.map_or("-".to_owned(), percent),
                class.average_precision.map_or("-".to_owned(), |_| percent(class.tags.f1)),
                format!("{:.4}", class.threshold),
            ]);
        }
        table
    }
}

fn mean_shares(all: impl Iterator<Item = PrecisionRecall> + Clone) -> PrecisionRecall {
    PrecisionRecall {
        precision: mean_of(all.clone().map(|one| one.precision)),
        recall: mean_of(all.clone().map(|one| one.recall)),
        f1: mean_of(all.map(|one| one.f1)),
    }
}

/// Means over the runs of every label, in the order of first occurrence.
fn classes(runs: &[TagRun]) -> Vec<TagClass> {
    let mut order: Vec<&str> = Vec::new();
    let mut of: BTreeMap<&str, Vec<&TagClass>> = BTreeMap::new();
    for class in runs.iter().flat_map(|run| &run.classes) {
        let all = of.entry(&class.name).or_default();
        if all.is_empty() {
            order.push(&class.name);
        }
        all.push(class);
    }
    let mean = |name: &&str| {
        let all = &of[name];
        let precisions: Vec<f64> = all.iter().filter_map(|class| class.average_precision).collect();
        TagClass {
            name: (*name).to_owned(),
            instances: all.iter().map(|class| class.instances).sum(),
            average_precision: (!precisions.is_empty()).then(|| mean_of(precisions.iter().copied())),
            tags: mean_shares(all.iter().map(|class| class.tags)),
            threshold: mean_of(all.iter().map(|class| class.threshold)),
        }
    };
    order.iter().map(mean).collect()
}
