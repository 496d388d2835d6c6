//! A cell as text: `51.4 ± 0.2 (47.6, +3.8*)`.

use super::{CellStatus, CellUnit, SIGNIFICANT, TableCell};

impl TableCell {
    /// Stars of the p-value.
    pub(crate) fn stars(&self) -> &'static str {
        match self.p_value {
            Some(p) if p < 0.001 => "***",
            Some(p) if p < 0.01 => "**",
            Some(p) if p < SIGNIFICANT => "*",
            _ => "",
        }
    }

    /// A number in the cell's unit: percent with one decimal, or as short as it can be.
    pub(crate) fn number(&self, value: f64) -> String {
        match self.unit {
            CellUnit::Accuracy => format!("{:.1}", 100.0 * value),
            // No tail of a sum of tenths.
            CellUnit::Setting => format!("{}", (value * 1e9).round() / 1e9),
        }
    }

    fn with_spread(&self, value: f64, spread: Option<f64>) -> String {
        let spread = spread.map_or(String::new(), |spread| format!(" ± {}", self.number(spread)));
        format!("{}{spread}", self.number(value))
    }

    /// Our number, or what stands for it.
    pub(crate) fn ours(&self) -> String {
        let mark = if self.substitute { "§" } else { "" };
        match (self.status, self.value) {
            (CellStatus::Measured, Some(value)) => format!("{}{mark}", self.with_spread(value, self.spread)),
            (CellStatus::Empty, _) => "-".to_owned(),
            (CellStatus::Failed, _) => "failed".to_owned(),
            _ => "n/a".to_owned(),
        }
    }

    /// The published number and the difference, without the stars; empty where nothing was published.
    pub(crate) fn beside(&self) -> Option<(String, Option<String>)> {
        let published = self.published.as_ref()?;
        let theirs = format!("{}{}", self.with_spread(published.value, published.spread), published.mark);
        let difference = self.difference.filter(|_| self.unit == CellUnit::Accuracy);
        Some((theirs, difference.map(points)))
    }

    /// The whole cell as plain text.
    pub(crate) fn text(&self) -> String {
        match self.beside() {
            None => self.ours(),
            Some((theirs, None)) => format!("{} ({theirs})", self.ours()),
            Some((theirs, Some(difference))) => {
                format!("{} ({theirs}, {difference}{})", self.ours(), self.stars())
            }
        }
    }
}

/// A difference of accuracies in points: one that rounds to none has no sign.
fn points(difference: f64) -> String {
    let points = format!("{:+.1}", 100.0 * difference);
    if matches!(&points[..], "+0.0" | "-0.0") { "0.0".to_owned() } else { points }
}

#[cfg(test)]
mod tests {
    use super::points;

    #[test]
    fn a_difference_that_rounds_to_none_has_no_sign() {
        let shown = [0.0, -0.0, 0.0004, -0.0004, 0.0006, -0.0006, 0.1].map(points);
        assert_eq!(shown, ["0.0", "0.0", "0.0", "0.0", "+0.1", "-0.1", "+10.0"]);
    }
}
