//! The numbers behind a plot, for readers who do not see it.

use super::scale::number;
use super::xy::{Axis, Layer, Plot};

/// Rows of one line at most; a longer one is sampled at equal steps.
const MAX_ROWS: usize = 60;

impl Plot {
    /// What lines and columns show: headers and rows; none where there are only dots.
    pub(super) fn values(&self) -> Option<([String; 3], Vec<[String; 3]>)> {
        let rows: Vec<[String; 3]> = self.layers.iter().flat_map(|layer| self.rows(layer)).collect();
        let head = ["series".to_owned(), self.x.label.clone(), self.y.label.clone()];
        (!rows.is_empty()).then_some((head, rows))
    }

    fn rows(&self, layer: &Layer) -> Vec<[String; 3]> {
        let name = |name: &str| if name.is_empty() { "-".to_owned() } else { name.to_owned() };
        match layer {
            Layer::Line { name: line, points, errors, .. } => {
                let row = |(index, &(x, y)): (usize, &(f64, f64))| {
                    let error = errors.get(index).filter(|error| **error > 0.0);
                    let error = error.map_or(String::new(), |&error| format!(" ± {}", self.y.said(error)));
                    [name(line), self.x.said(x), self.y.said(y) + &error]
                };
                points.iter().enumerate().step_by(points.len().div_ceil(MAX_ROWS).max(1)).map(row).collect()
            }
            Layer::Columns { name: column, columns } => {
                let row = |&(from, to, height): &(f64, f64, f64)| {
                    let reach = format!("{} to {}", self.x.said(from), self.x.said(to));
                    let at =
                        if self.x.names.is_empty() { reach } else { self.x.said(f64::midpoint(from, to)) };
                    [name(column), at, self.y.said(height)]
                };
                columns.iter().map(row).collect()
            }
            Layer::Dots { .. } | Layer::Guide { .. } => Vec::new(),
        }
    }
}

impl Axis {
    /// A value as it is read: by its name, in percent with one decimal, or with four digits.
    fn said(&self, value: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a name")]
        if let Some(name) = self.names.get(value.round().max(0.0) as usize) {
            return name.clone();
        }
        if self.unit < 1.0 {
            return number(value / self.unit, 1);
        }
        let four: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        four.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_rows_and_dots_are_none() {
        let line = Layer::Line {
            name: "after".to_owned(),
            points: vec![(0.01, 0.5), (100.0, 0.625)],
            errors: vec![0.02, 0.0],
            marks: true,
            chosen: None,
        };
        let dots = Layer::Dots { name: String::new(), points: vec![(1.0, 1.0)] };
        let plot = |x, layers| Plot { x, y: Axis::percent("accuracy (%)"), layers };
        let (head, rows) = plot(Axis::log("alpha"), vec![line, dots.clone()]).values().expect("a line");
        assert_eq!(head, ["series", "alpha", "accuracy (%)"]);
        assert_eq!(rows, [["after", "0.01", "50.0 ± 2.0"], ["after", "100", "62.5"]]);
        assert_eq!(plot(Axis::log("alpha"), vec![dots]).values(), None);
        let columns = Layer::Columns { name: String::new(), columns: vec![(-0.5, 0.5, 0.25)] };
        let (_, rows) =
            plot(Axis::named("view", vec!["cnn".to_owned()]), vec![columns]).values().expect("a column");
        assert_eq!(rows, [["-", "cnn", "25.0"]]);
        let long = Layer::line("long", (0..1000).map(|i| (f64::from(i), 0.5)).collect());
        assert!(plot(Axis::new("step"), vec![long]).values().expect("a line").1.len() <= MAX_ROWS);
    }
}
