//! The curves of an experiment as charts, those of one dataset on one scale of accuracy.

use super::{CurveFigure, CurveSeries, Reproduction};
use crate::plot::{Axis, Chart, Drawing, Layer, Plot};
use crate::svg::file_name;

/// Values that span more than this are drawn on a logarithmic axis.
const LINEAR_SPAN: f64 = 100.0;

impl Reproduction {
    /// A chart per figure.
    pub fn charts(&self) -> Vec<Chart> {
        self.figures
            .iter()
            .map(|figure| figure.chart(&self.experiment, &self.range(&figure.dataset)))
            .collect()
    }

    /// The lowest and the highest end of an error bar in the figures of a dataset.
    fn range(&self, dataset: &str) -> [f64; 2] {
        let figures = self.figures.iter().filter(|figure| figure.dataset == dataset);
        let points = figures.flat_map(|figure| &figure.series).flat_map(|one| &one.points);
        let ends =
            points.flat_map(|point| [-1.0, 1.0].map(|side| point.y + side * point.error.unwrap_or(0.0)));
        ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], end| [low.min(end), high.max(end)])
    }
}

impl CurveFigure {
    fn chart(&self, experiment: &str, range: &[f64]) -> Chart {
        let xs = || self.series.iter().flat_map(|one| &one.points).map(|point| point.x);
        let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        // Settings are named as options are.
        let (title, x_label) = (self.title.replace('_', "-"), self.x_label.replace('_', "-"));
        let x = if low > 0.0 && high > LINEAR_SPAN * low { Axis::log(&x_label) } else { Axis::new(&x_label) };
        let y = Axis::percent(&format!("{} (%)", self.y_label)).with(range);
        let layers = self.series.iter().map(CurveSeries::layer).collect();
        let name = file_name(&format!("{experiment} {}", self.title).to_lowercase());
        let name = name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        let description = format!(
            "{} against {}, with standard errors where there are several trials, for {}.",
            self.y_label,
            x_label,
            self.series.iter().map(|one| &one.name[..]).collect::<Vec<_>>().join(", ")
        );
        Chart::new(&name, &title, &description, Drawing::Plot(Plot { x, y, layers }))
    }
}

impl CurveSeries {
    fn layer(&self) -> Layer {
        Layer::Line {
            name: self.name.clone(),
            points: self.points.iter().map(|point| (point.x, point.y)).collect(),
            // All points have one, or none does.
            errors: self.points.iter().map_while(|point| point.error).collect(),
            marks: true,
            chosen: None,
        }
    }
}
