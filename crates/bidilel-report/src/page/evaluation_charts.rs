//! Charts of an evaluation.

use bidilel_math::statistics::skewness;

use super::input::{Bin, Calibration, EvaluationInput, Sides};
use crate::plot::{Axis, BarPlot, Chart, Drawing, Layer, Map, Matrix, Plot, number};
use crate::{Bar, PointMap, RunData};

/// Columns of a histogram at most.
const MAX_COLUMNS: usize = 20;

impl EvaluationInput {
    /// Everything that can be drawn of it, in the order of the page.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let data = self.run_data.as_ref();
        let mut charts = vec![self.class_bars()];
        charts.extend(self.matrix());
        charts.extend(data.and_then(|data| map(data, &self.of_several())));
        charts.extend(self.distances());
        charts.extend(self.hubs());
        charts.extend(self.reliability());
        charts.extend(self.open_set_curve());
        charts.extend(self.seen_unseen());
        charts.extend(self.convergence());
        charts
    }

    fn class_bars(&self) -> Chart {
        let bar = |class: &crate::ClassScore| Bar {
            name: class.name.clone(),
            value: class.accuracy,
            low: class.accuracy,
            high: class.accuracy,
            group: if class.known { "known class" } else { "unseen class" }.to_owned(),
        };
        let mut bars: Vec<Bar> = self.classes.iter().map(bar).collect();
        bars.sort_by(|a, b| b.value.total_cmp(&a.value));
        let plot = BarPlot { axis: "accuracy within the class (%)".to_owned(), chance: self.chance, bars };
        Chart::new(
            "classes",
            "Accuracy of every class",
            "One bar per class that was tested, best first; the dashed line is guessing.",
            Drawing::Bars(plot),
        )
    }

    /// Which of several runs a chart of one run shows, as the end of a description.
    pub(crate) fn of_several(&self) -> String {
        match &self.runs[..] {
            [first, _, ..] => format!(
                " Of {} runs this is the first: {}, seed {}.",
                self.runs.len(),
                first.split,
                first.seed
            ),
            _ => String::new(),
        }
    }

    /// The confusion matrix of the first run.
    pub(crate) fn matrix(&self) -> Option<Chart> {
        let run = self.runs.first()?;
        let names = run.candidates()?;
        let (counts, known) = (run.confusion.clone(), run.known.len());
        let matrix = Matrix { rows: names.clone(), columns: names, counts, known };
        let description = format!(
            "Instances by true class (rows) and predicted class (columns), {}, seed {}.",
            run.split, run.seed
        );
        Some(Chart::new("confusion", "What was taken for what", &description, Drawing::Matrix(matrix)))
    }

    pub(crate) fn hubs(&self) -> Vec<Chart> {
        let first = self.of_several();
        let chart = |(k, counts): (&usize, &Vec<usize>)| {
            let columns = histogram(counts);
            // That of the columns themselves: the result has the mean over all runs.
            let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
            let skewness = number(skewness(&counts), 2);
            let nearest = if *k == 1 { "the nearest".to_owned() } else { format!("among the {k} nearest") };
            let description = format!(
                "Classes by how many test instances they are {nearest} of: hubs are on the right. \
                 Skewness {skewness}: 0 without hubs, large where few classes attract most.{first}"
            );
            let plot = Plot {
                x: Axis::counts("test instances per class"),
                y: Axis::counts("number of classes").with(&[0.0]),
                layers: vec![Layer::Columns { name: String::new(), columns }],
            };
            Chart::new(&format!("hubs-{k}"), &format!("Hubs, k = {k}"), &description, Drawing::Plot(plot))
        };
        let all = self.run_data.iter().flat_map(|data| &data.hubs);
        all.filter(|(_, counts)| !counts.is_empty()).map(chart).collect()
    }

    pub(crate) fn reliability(&self) -> Option<Chart> {
        let Calibration { bins, bins_before, ece, .. } = self.calibration.as_ref()?;
        let points = |bins: &[Bin]| -> Vec<(f64, f64)> {
            bins.iter().filter_map(|bin| Some((bin.confidence?, bin.accuracy?))).collect()
        };
        let (after, before) = (points(bins), points(bins_before));
        if after.is_empty() {
            return None;
        }
        let mut layers = vec![Layer::line("after calibration", after)];
        if !before.is_empty() {
            layers.push(Layer::line("before calibration", before));
        }
        layers.push(Layer::Guide { name: "as it should be".to_owned(), ends: [(0.0, 0.0), (1.0, 1.0)] });
        let error = ece.map_or(String::new(), |ece| {
            let (after, before) = (100.0 * ece.after, 100.0 * ece.before);
            format!(" Expected calibration error {after:.1} points, {before:.1} before calibration.")
        });
        let description = format!(
            "Accuracy of predictions by their probability; on the dashed line probabilities are right.{error}"
        );
        let plot = Plot {
            x: Axis::percent("probability of the prediction (%)").with(&[0.0, 1.0]),
            y: Axis::percent("accuracy (%)").with(&[0.0, 1.0]),
            layers,
        };
        Some(Chart::new("reliability", "Reliability", &description, Drawing::Plot(plot)))
    }

    pub(crate) fn open_set_curve(&self) -> Option<Chart> {
        let curve = &self.open_set.as_ref()?.curve;
        if curve.is_empty() {
            return None;
        }
        let points = curve.iter().map(|point| (point.false_positive_rate, point.correct_rate)).collect();
        let plot = Plot {
            x: Axis::percent("unknown instances that are accepted (%)").with(&[0.0, 1.0]),
            y: Axis::percent("instances accepted and recognized (%)").with(&[0.0, 1.0]),
            layers: vec![Layer::Line {
                name: String::new(),
                points,
                errors: Vec::new(),
                marks: false,
                chosen: None,
            }],
        };
        let description = "What is accepted and recognized against what is wrongly accepted, for every threshold of rejection.";
        Some(Chart::new("open-set", "None of these", description, Drawing::Plot(plot)))
    }

    pub(crate) fn seen_unseen(&self) -> Option<Chart> {
        let curve = match &self.run_data {
            Some(data) if self.curve.is_empty() => &data.curve,
            _ => &self.curve,
        };
        if curve.is_empty() {
            return None;
        }
        let points: Vec<(f64, f64)> = curve.iter().map(|point| (point.unseen, point.seen)).collect();
        let mut layers = vec![Layer::Line {
            name: "every bias".to_owned(),
            points,
            errors: Vec::new(),
            marks: curve.len() < 40,
            chosen: None,
        }];
        // The curve is that of the first run, the result has the means over all runs.
        let sides = self.runs.first().and_then(|run| run.generalized);
        if let Some(Sides { unseen, seen, .. }) = sides {
            layers.push(Layer::line("the bias that was chosen", vec![(unseen, seen)]));
        }
        let plot = Plot {
            x: Axis::percent("accuracy of unseen classes (%)").with(&[0.0]),
            y: Axis::percent("accuracy of known classes (%)").with(&[0.0]),
            layers,
        };
        let description = format!(
            "Accuracy of known against unseen classes for every bias, which lowers the scores of known classes.{}",
            self.of_several()
        );
        Some(Chart::new("seen-unseen", "Known against unseen classes", &description, Drawing::Plot(plot)))
    }

    /// Semantic against latent distances.
    pub(crate) fn distances(&self) -> Option<Chart> {
        let distances = self.run_data.as_ref()?.distances.as_ref()?;
        let all = || distances.known_unseen.iter().chain(&distances.unseen_unseen);
        let end = all().map(|pair| pair.0.min(pair.1)).fold(0.0, f64::max);
        let plot = Plot {
            x: Axis::new("semantic distance").with(&[0.0]),
            y: Axis::new("latent distance").with(&[0.0]),
            layers: vec![
                Layer::Dots { name: "known to unseen".to_owned(), points: distances.known_unseen.clone() },
                Layer::Dots { name: "among unseen".to_owned(), points: distances.unseen_unseen.clone() },
                Layer::Guide { name: "equal".to_owned(), ends: [(0.0, 0.0), (end, end)] },
            ],
        };
        let shown = all().count();
        let of = if shown < distances.pairs {
            format!("{shown} of {} pairs", distances.pairs)
        } else {
            format!("{shown} pairs")
        };
        // The points are those of the first run, the result has the mean over all runs.
        let stress = self.runs.first().and_then(|run| run.stress);
        let stress = stress
            .map_or(String::new(), |stress| format!(" Stress {stress:.4}: 0 if all distances were equal."));
        let description = format!(
            "How far apart descriptions are, and embeddings: {of} of classes.{stress}{}",
            self.of_several()
        );
        Some(Chart::new("distances", "Semantic and latent distances", &description, Drawing::Plot(plot)))
    }

    /// Cost against iterations.
    pub(crate) fn convergence(&self) -> Option<Chart> {
        let series = &self.run_data.as_ref()?.convergence;
        let series: Vec<&Vec<(usize, f64)>> = series.iter().filter(|steps| steps.len() > 1).collect();
        let line = |(index, steps): (usize, &&Vec<(usize, f64)>)| Layer::Line {
            name: if series.len() > 1 { format!("minimization {}", index + 1) } else { String::new() },
            points: steps.iter().map(|&(step, cost)| ((step + 1) as f64, cost)).collect(),
            errors: Vec::new(),
            marks: false,
            chosen: None,
        };
        let plot = Plot {
            x: Axis::log("iteration"),
            y: Axis::log("cost of the mapping"),
            layers: series.iter().enumerate().map(line).collect(),
        };
        let reached = |steps: &&Vec<(usize, f64)>| {
            let cost = steps.last()?.1;
            Some(format!("{} iterations, to a cost of {cost:.5}", steps.len()))
        };
        let reached: Vec<String> = series.iter().filter_map(reached).collect();
        let which = match reached.len() {
            0 => return None,
            1 => String::new(),
            // There may have been more.
            count if count >= RunData::MAX_MINIMIZATIONS => format!("the first {count} minimizations: "),
            count => format!("{count} minimizations: "),
        };
        let description = format!(
            "{}: {which}{}. Both axes are logarithmic.{}",
            self.mapping().unwrap_or("The mapping"),
            reached.join("; "),
            self.of_several()
        );
        Some(Chart::new("convergence", "Convergence of the mapping", &description, Drawing::Plot(plot)))
    }

    /// What minimizes a cost step by step, as the settings name it.
    fn mapping(&self) -> Option<&'static str> {
        match self.method.get("top_down")?.get("kind")?.as_str()? {
            "lsm" => Some("Landmark-based Sammon mapping"),
            "lsm+svr" => {
                Some("Landmark-based Sammon mapping, before the mean with support vector regression")
            }
            "lsm+krr" => Some("Landmark-based Sammon mapping, before the mean with kernel ridge regression"),
            _ => None,
        }
    }
}

/// What the map shows.
pub(crate) fn drawing(data: &RunData, map: &PointMap) -> Map {
    let is_right = |&row: &usize| data.guesses[row].first() == Some(&data.truth[row]);
    let (right, wrong): (Vec<usize>, Vec<usize>) =
        (0..map.points.len().min(data.guesses.len())).partition(is_right);
    let places = |rows: Vec<usize>| rows.into_iter().map(|row| map.points[row]).collect();
    Map {
        landmarks: map.landmarks.clone(),
        embeddings: data.unseen.iter().cloned().zip(map.embeddings.iter().copied()).collect(),
        right: places(right),
        wrong: places(wrong),
    }
}

/// The map as a picture.
pub(crate) fn map(data: &RunData, first: &str) -> Option<Chart> {
    let map = data.map.as_ref()?;
    let drawing = drawing(data, map);
    let description = format!(
        "{} known classes, {} unseen classes and {} of {} test instances; the stress of the map is {:.3}.{first}",
        map.landmarks.len(),
        map.embeddings.len(),
        map.points.len(),
        data.test_instances,
        map.stress
    );
    Some(Chart::new(
        "map",
        "Classes and test instances in the latent space",
        &description,
        Drawing::Map(drawing),
    ))
}

/// Counts in columns of equal whole widths: from, to, how many.
fn histogram(counts: &[usize]) -> Vec<(f64, f64, f64)> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let wide = (most + 1).div_ceil(MAX_COLUMNS).max(1);
    let mut columns = vec![0_usize; most / wide + 1];
    counts.iter().for_each(|count| columns[count / wide] += 1);
    let column = |(index, &height): (usize, &usize)| {
        ((index * wide) as f64, ((index + 1) * wide) as f64, height as f64)
    };
    columns.iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_everything_in_whole_columns() {
        assert_eq!(histogram(&[0, 0, 2]), [(0.0, 1.0, 2.0), (1.0, 2.0, 0.0), (2.0, 3.0, 1.0)]);
        let many: Vec<usize> = (0..1000).collect();
        let columns = histogram(&many);
        assert!(
            columns.len() <= MAX_COLUMNS + 1 && columns.iter().map(|column| column.2).sum::<f64>() > 999.0
        );
        assert_eq!(histogram(&[]).len(), 1);
    }
}
