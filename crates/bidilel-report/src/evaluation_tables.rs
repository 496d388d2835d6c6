//! The tables of an evaluation: per run, per class, per step of recognition, and one row for a paper.

use bidilel::calibrate::Generalized;
use bidilel::metrics::Accuracy;

use crate::generalized::{FIGURES, figures_of};
use crate::{Accuracies, Align, Evaluation, Table, method};

impl Evaluation {
    /// One row per run, with fractions: for CSV.
    pub fn runs_table(&self) -> Table {
        let mut columns = vec![
            ("dataset", Align::Left),
            ("split", Align::Left),
            ("visual", Align::Left),
            ("semantic", Align::Left),
            ("bottom_up", Align::Left),
            ("top_down", Align::Left),
            ("post", Align::Left),
            ("seed", Align::Right),
            ("per_class", Align::Right),
            ("per_image", Align::Right),
            ("stress", Align::Right),
            ("method", Align::Left),
            ("top_5_per_class", Align::Right),
            ("top_5_per_image", Align::Right),
            ("settings", Align::Left),
            ("version", Align::Left),
        ];
        let generalized = self.accuracy.generalized.is_some();
        if generalized {
            columns.extend(FIGURES.map(|name| (name, Align::Right)));
        }
        let mut table = Table::new(&columns);
        for run in &self.runs {
            let top =
                |of: fn(&Accuracy) -> f64| run.top.get(&5).map_or(String::new(), |top| of(top).to_string());
            let mut row = vec![self.subject.dataset.clone(), run.split.clone()];
            row.extend(self.method_cells());
            row.extend([
                run.seed.to_string(),
                run.accuracy.per_class.to_string(),
                run.accuracy.per_image.to_string(),
                run.stress.map_or(String::new(), |stress| stress.to_string()),
                self.subject.method.method.name().to_string(),
                top(|accuracy| accuracy.per_class),
                top(|accuracy| accuracy.per_image),
                method::cell(&self.subject.method),
                crate::VERSION.to_owned(),
            ]);
            if generalized {
                row.extend(run.generalized.map_or(Default::default(), |figures| figures_of(&figures)));
            }
            table.push(row);
        }
        table
    }

    /// One row in percent, as in a paper: for Markdown and LaTeX.
    pub fn summary_table(&self) -> Table {
        let figures = match &self.accuracy.generalized {
            None => vec!["Per class %", "Per image %", "Top-5 %"],
            Some(_) => vec!["Seen %", "Unseen %", "H %", "AUSUC", "Uncalibrated H %"],
        };
        let head = [
            ("Dataset", Align::Left),
            ("Split", Align::Left),
            ("Visual", Align::Left),
            ("Semantic", Align::Left),
            ("Bottom-up", Align::Left),
            ("Top-down", Align::Left),
            ("Post", Align::Left),
        ];
        let tail = [("Stress", Align::Right), ("Settings", Align::Left)];
        let figures = figures.into_iter().map(|name| (name, Align::Right));
        let mut table = Table::new(&head.into_iter().chain(figures).chain(tail).collect::<Vec<_>>());
        let spread = match self.runs.len() {
            1 => String::new(),
            _ => format!(" ± {:.1}", 100.0 * self.summary.standard_error),
        };
        let mut row = vec![self.subject.dataset.clone(), self.subject.split.clone()];
        row.extend(self.method_cells());
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let top = || self.top.get(&5).map_or("-".to_owned(), |top| percent(top.per_class));
        row.extend(match &self.accuracy {
            Accuracies { overall, generalized: None } => {
                vec![percent(overall.per_class) + &spread, percent(overall.per_image), top()]
            }
            Accuracies { generalized: Some(Generalized { calibrated, ausuc, uncalibrated, .. }), .. } => {
                vec![
                    percent(calibrated.seen),
                    percent(calibrated.unseen),
                    percent(calibrated.harmonic) + &spread,
                    format!("{ausuc:.3}"),
                    percent(uncalibrated.harmonic),
                ]
            }
        });
        row.extend([
            self.stress.map_or("-".to_owned(), |stress| format!("{stress:.5}")),
            method::cell(&self.subject.method),
        ]);
        table.push(row);
        table
    }

    /// One row per class, with a bar of its accuracy: for a terminal.
    pub fn classes_table(&self) -> Table {
        let mut columns = vec![("class", Align::Left)];
        let both = self.accuracy.generalized.is_some();
        columns.extend(both.then_some(("side", Align::Left)));
        columns.extend([
            ("instances", Align::Right),
            ("accuracy", Align::Right),
            ("", Align::Left),
            ("most often taken for", Align::Left),
        ]);
        let mut table = Table::new(&columns);
        for class in &self.classes {
            let mistaken = class.mistaken_for.as_ref();
            let mut row = vec![class.name.clone()];
            row.extend(both.then(|| if class.known { "known" } else { "unseen" }.to_owned()));
            row.extend([
                class.instances.to_string(),
                format!("{:.1} %", 100.0 * class.accuracy),
                bar(class.accuracy),
                mistaken
                    .map_or(String::new(), |other| format!("{} {:.0} %", other.name, 100.0 * other.share)),
            ]);
            table.push(row);
        }
        table
    }

    /// Accuracy after every step of recognition, and hubness where there are refiners: for a terminal.
    pub fn steps_table(&self) -> Table {
        let refined = self.steps.len() > 1;
        let mut columns = vec![("", Align::Left), ("per class", Align::Right), ("per image", Align::Right)];
        columns.extend(refined.then_some(("hubness", Align::Right)));
        let mut table = Table::new(&columns);
        let mut row = |name: String, accuracy: &Accuracy, hubness: Option<f64>| {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let mut cells = vec![name, percent(accuracy.per_class), percent(accuracy.per_image)];
            cells.extend(refined.then(|| hubness.map_or(String::new(), |hubness| format!("{hubness:.2}"))));
            table.push(cells);
        };
        self.steps.iter().for_each(|step| row(step.name.clone(), &step.accuracy, step.hubness));
        self.top
            .iter()
            .filter(|&(&k, _)| k > 1)
            .for_each(|(k, accuracy)| row(format!("  among the {k} nearest"), accuracy, None));
        row("  by chance".to_owned(), &Accuracy { per_class: self.chance, per_image: self.chance }, None);
        table
    }

    fn method_cells(&self) -> [String; 5] {
        let (bottom_up, top_down) = method::stage_names(&self.subject.method);
        let post: Vec<&str> = self.steps.iter().skip(1).map(|step| step.name.as_str()).collect();
        [
            self.subject.visual.join("+"),
            self.subject.semantic.join("+"),
            bottom_up,
            top_down,
            if post.is_empty() { "none".to_owned() } else { post.join("+") },
        ]
    }
}

fn bar(share: f64) -> String {
    const WIDTH: f64 = 20.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of one times the width"
    )]
    let eighths = (share.clamp(0.0, 1.0) * WIDTH * 8.0).round() as usize;
    let partial = ['\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}'];
    let mut bar = "\u{2588}".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(partial[eighths % 8 - 1]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bidilel::evaluate::{Run, Step};
    use bidilel::metrics::class_accuracies;

    use super::*;
    use crate::{Mistake, Subject};

    fn run(split: &str, confusion: [[usize; 2]; 2]) -> Run {
        let confusion: Vec<Vec<usize>> = confusion.iter().map(|row| row.to_vec()).collect();
        let shares: Vec<f64> = class_accuracies(&confusion).into_iter().flatten().collect();
        let per_class = shares.iter().sum::<f64>() / 2.0;
        Run {
            split: split.to_owned(),
            seed: 0,
            classes: vec!["seal".to_owned(), "whale".to_owned()],
            known: 0,
            confusion,
            steps: vec![Step {
                name: "inductive".to_owned(),
                accuracy: Accuracy { per_class, per_image: per_class },
                generalized: None,
                hubness: Some(0.5),
            }],
            generalized: None,
            top: BTreeMap::new(),
            hubness: BTreeMap::from([(1, 0.5)]),
            occurrences: BTreeMap::from([(1, vec![10, 10])]),
            stress: Some(0.25),
            converged: true,
            notes: Vec::new(),
        }
    }

    fn evaluation() -> Evaluation {
        let subject = Subject {
            dataset: "sea".to_owned(),
            split: "random".to_owned(),
            random_splits: None,
            test_seen_share: None,
            visual: vec!["cnn".to_owned()],
            semantic: vec!["attributes".to_owned()],
            method: serde_json::from_value(serde_json::json!({
                "name": "bidilel",
                "bottom_up": {"kind": "slpp", "alpha": 10},
                "top_down": {"kind": "lsm"},
            }))
            .expect("a method"),
        };
        let runs = [run("random:0", [[8, 2], [4, 6]]), run("random:1", [[6, 4], [0, 10]])];
        Evaluation::new(subject, &runs, BTreeMap::from([("total".to_owned(), 1.5)]), Vec::new())
    }

    #[test]
    fn accuracies_are_means_over_runs() {
        let result = evaluation();
        approx(result.accuracy.overall.per_class, 0.75);
        approx(result.classes[0].accuracy, 0.7);
        approx(result.summary.mean, 0.75);
        approx(result.chance, 0.5);
        approx(result.hubness[&1], 0.5);
        assert!(result.summary.standard_error > 0.0);
        assert_eq!(result.classes[1].mistaken_for, Some(Mistake { name: "seal".to_owned(), share: 0.2 }));
    }

    #[test]
    fn repeats_of_a_trial_have_the_same_instances() {
        let runs = [run("x", [[8, 2], [4, 6]]), run("x", [[6, 4], [0, 10]]), run("y", [[6, 4], [0, 10]])];
        let classes = Evaluation::new(evaluation().subject, &runs, BTreeMap::new(), Vec::new()).classes;
        assert_eq!((classes[0].instances, classes[1].instances), (20, 20));
        approx(classes[0].mistaken_for.as_ref().expect("mistakes").share, 1.0 / 3.0);
    }

    #[test]
    fn the_object_has_the_keys_that_scripts_read() {
        let value = serde_json::to_value(evaluation()).expect("serializable");
        for key in [
            "dataset", "split", "visual", "semantic", "method", "accuracy", "classes", "runs", "summary",
            "stress", "timings",
        ] {
            assert!(!value[key].is_null(), "{key}");
        }
        approx(value["runs"][0]["per_class"].as_f64().expect("a number"), 0.7);
    }

    #[test]
    fn a_summary_row_is_ready_for_a_paper() {
        insta::assert_snapshot!(evaluation().summary_table().render(crate::Format::Markdown), @r"
        | Dataset | Split | Visual | Semantic | Bottom-up | Top-down | Post | Per class % | Per image % | Top-5 % | Stress | Settings |
        | :--- | :--- | :--- | :--- | :--- | :--- | :--- | ---: | ---: | ---: | ---: | :--- |
        | sea | random | cnn | attributes | slpp | lsm | none | 75.0 ± 5.0 | 75.0 | - | 0.25000 | alpha=10.0 center=false neighborhood=global neighbors=10 regularizer=identity weights=exp max-iterations=10000 optimizer=lbfgs starts=1 tolerance=1e-10 unit-embedding=false normalize=l2 |
        ");
    }

    fn approx(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
}
