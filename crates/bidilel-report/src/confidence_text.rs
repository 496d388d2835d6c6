//! Calibration, coverage and unknowns for a terminal.

use bidilel::calibrate::Signal;

use crate::confidence::{CalibrationReport, Confidence, CoverageReport, OpenSetReport};
use crate::{Align, Table};

/// Cells of a bar that stands for 1.
const BAR_CELLS: f64 = 20.0;

impl Confidence {
    /// One paragraph per part that there is, each with an empty line before it.
    pub fn text(&self, width: Option<usize>) -> String {
        let calibration = self.calibration.as_ref().map(|one| one.text(width));
        let parts = [
            calibration,
            self.coverage.map(|one| one.text()),
            self.open_set.as_ref().map(OpenSetReport::text),
        ];
        parts.into_iter().flatten().flat_map(|part| ["\n".to_owned(), part]).collect()
    }
}

impl CalibrationReport {
    fn text(&self, width: Option<usize>) -> String {
        format!(
            "calibration error {:.1} % ({:.1} % at temperature 1), log loss {:.3} ({:.3}), Brier score {:.3} ({:.3}); \
             temperature {:.3e} from {} folds of known classes\n{}",
            100.0 * self.ece.after,
            100.0 * self.ece.before,
            self.nll.after,
            self.nll.before,
            self.brier.after,
            self.brier.before,
            self.temperature,
            self.folds,
            self.table().text(width)
        )
    }

    /// The reliability diagram after calibration: one row per bin that has instances.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("probability %", Align::Right),
            ("instances", Align::Right),
            ("said %", Align::Right),
            ("right %", Align::Right),
            ("", Align::Left),
        ]);
        for bin in &self.bins {
            let (Some(confidence), Some(accuracy)) = (bin.confidence, bin.accuracy) else { continue };
            table.push(vec![
                format!("{:.0} to {:.0}", 100.0 * bin.lower, 100.0 * bin.upper),
                bin.instances.to_string(),
                format!("{:.1}", 100.0 * confidence),
                format!("{:.1}", 100.0 * accuracy),
                bar(accuracy, confidence),
            ]);
        }
        table
    }
}

/// A bar as long as what was right, with a mark at what was said.
fn bar(accuracy: f64, confidence: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of a few cells")]
    let cells = |share: f64| (share.clamp(0.0, 1.0) * BAR_CELLS).round() as usize;
    let (right, said) = (cells(accuracy), cells(confidence).max(1) - 1);
    let cell = |place: usize| match (place == said, place < right) {
        (true, _) => '|',
        (false, true) => '#',
        (false, false) => ' ',
    };
    let text: String = (0..right.max(said + 1)).map(cell).collect();
    text.trim_end().to_owned()
}

impl CoverageReport {
    fn text(&self) -> String {
        format!(
            "prediction sets for {:.0} % coverage: {:.1} % covered ({:.1} % per class), {:.1} of {:.0} classes on average\n",
            100.0 * self.wanted,
            100.0 * self.measured,
            100.0 * self.per_class,
            self.mean_size,
            self.candidates
        )
    }
}

impl OpenSetReport {
    fn text(&self) -> String {
        let by = |signal: Signal| if signal == Signal::Score { "score" } else { "margin" };
        let other = if self.by == Signal::Score {
            (Signal::Margin, &self.margin)
        } else {
            (Signal::Score, &self.score)
        };
        format!(
            "unknowns, {:.0} % of the unseen classes left out ({} draws), by {}: AUROC {:.1} % (by {} {:.1}), {:.1} % accepted at 95 % \
             recall, open-set area {:.1} % of an accuracy of {:.1}\nreject for {:.1} % false alarms: {:.1} % of candidates' instances \
             rejected, {:.1} % of unknowns\n",
            100.0 * self.share,
            self.draws,
            by(self.by),
            100.0 * self.chosen.auroc,
            by(other.0),
            100.0 * other.1.auroc,
            100.0 * self.chosen.fpr95,
            100.0 * self.chosen.area,
            100.0 * self.accuracy,
            100.0 * self.rejection.rate,
            100.0 * self.rejection.false_alarms,
            100.0 * self.rejection.detected
        )
    }
}
