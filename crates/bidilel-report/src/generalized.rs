//! Known and unseen classes together: what results say about either side.

use bidilel::calibrate::{Generalized, SeenUnseen};

use crate::evaluation::mean_of;
use crate::{Align, Evaluation, Table};

/// Columns of tables for spreadsheets, in the order of [`figures_of`].
pub(crate) const FIGURES: [&str; 8] = [
    "seen",
    "unseen",
    "harmonic",
    "ausuc",
    "bias",
    "uncalibrated_seen",
    "uncalibrated_unseen",
    "uncalibrated_harmonic",
];

/// The figures as fractions.
pub(crate) fn figures_of(figures: &Generalized) -> [String; 8] {
    let Generalized { calibrated, ausuc, bias, uncalibrated } = figures;
    [
        calibrated.seen,
        calibrated.unseen,
        calibrated.harmonic,
        *ausuc,
        *bias,
        uncalibrated.seen,
        uncalibrated.unseen,
        uncalibrated.harmonic,
    ]
    .map(|value| value.to_string())
}

/// Means over runs, each figure by itself; none where a run has none.
pub(crate) fn mean_generalized(runs: impl Iterator<Item = Option<Generalized>>) -> Option<Generalized> {
    let runs = all(runs)?;
    Some(Generalized {
        calibrated: mean_sides(runs.iter().map(|run| Some(run.calibrated)))?,
        ausuc: mean_of(runs.iter().map(|run| run.ausuc)),
        bias: mean_of(runs.iter().map(|run| run.bias)),
        uncalibrated: mean_sides(runs.iter().map(|run| Some(run.uncalibrated)))?,
    })
}

/// Means over runs: the harmonic mean is the mean of those of the runs, not that of the means.
pub(crate) fn mean_sides(runs: impl Iterator<Item = Option<SeenUnseen>>) -> Option<SeenUnseen> {
    let runs = all(runs)?;
    Some(SeenUnseen {
        unseen: mean_of(runs.iter().map(|run| run.unseen)),
        seen: mean_of(runs.iter().map(|run| run.seen)),
        harmonic: mean_of(runs.iter().map(|run| run.harmonic)),
    })
}

fn all<T>(runs: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    runs.collect::<Option<Vec<T>>>().filter(|runs| !runs.is_empty())
}

impl Evaluation {
    /// Accuracy on either side after every step, with the bias and without: for a terminal.
    pub fn sides_table(&self, figures: &Generalized) -> Table {
        let columns = [
            ("", Align::Left),
            ("seen", Align::Right),
            ("unseen", Align::Right),
            ("harmonic", Align::Right),
            ("per class", Align::Right),
        ];
        let mut table = Table::new(&columns);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let mut row = |name: &str, sides: &SeenUnseen, per_class: String| {
            let SeenUnseen { seen, unseen, harmonic } = *sides;
            table.push(vec![name.to_owned(), percent(seen), percent(unseen), percent(harmonic), per_class]);
        };
        for step in &self.steps {
            if let Some(sides) = &step.generalized {
                row(&step.name, sides, percent(step.accuracy.per_class));
            }
        }
        row("  without calibration", &figures.uncalibrated, String::new());
        table
    }

    /// What belongs to all biases, and the one that was chosen: for a terminal.
    pub fn sides_line(&self, figures: &Generalized) -> String {
        format!(
            "  area under the seen-unseen curve {:.3}; bias of known classes {:.4}, chosen on held-out known classes\n",
            figures.ausuc, figures.bias
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_runs_is_that_of_each_figure() {
        let of = |seen: f64, unseen: f64, ausuc: f64| Generalized {
            calibrated: SeenUnseen::new(seen, unseen),
            ausuc,
            bias: ausuc,
            uncalibrated: SeenUnseen::new(1.0, 0.0),
        };
        let runs = [of(0.2, 0.2, 0.1), of(0.6, 0.4, 0.3)];
        let mean = mean_generalized(runs.iter().copied().map(Some)).expect("runs");
        assert!((mean.calibrated.seen - 0.4).abs() < 1e-12 && (mean.ausuc - 0.2).abs() < 1e-12);
        let harmonic = f64::midpoint(runs[0].calibrated.harmonic, runs[1].calibrated.harmonic);
        assert!((mean.calibrated.harmonic - harmonic).abs() < 1e-12);
        assert_eq!(mean_generalized([Some(runs[0]), None].into_iter()), None);
        assert_eq!(mean_generalized(std::iter::empty()), None);
    }
}
