//! The result of `predict`: one row per instance and candidate class, rendered in blocks.
//!
//! Blocks are rendered where the scores are computed and written in order, so that a file of any size takes constant
//! memory.

use bidilel::calibrate::Answering;
use bidilel::recognize::Scores;
use bidilel_data::text::spreadsheet_safe;
use bidilel_data::{Prediction, PredictionColumns, table::Ids};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;

use crate::visible;

/// What a person reads in place of the label of an instance that is rejected.
const NONE_OF_THESE: &str = "(none of these)";

/// A format that predictions can be streamed in as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Comma-separated values.
    Csv,
    /// Comma-separated values in which no text cell is a formula to a spreadsheet.
    SafeCsv,
    /// One JSON array of objects.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// Aligned columns for a person.
    Text,
}

/// What identifies instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// Any identifier.
    Id,
    /// The path of a file.
    Path,
}

/// The object of one prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PredictionRow<'a> {
    /// The instance, from 0.
    pub index: usize,
    /// The class; null for none of the candidates.
    pub label: Option<&'a str>,
    /// Distance to the class, or to the nearest where there is none: minus the score for methods without distances.
    pub distance: f64,
    /// Probability of the class, or of the nearest; left out where the model is not calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Whether the class is in the prediction set; left out where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_set: Option<bool>,
    /// What identifies the instance; its key is `id` or `path`.
    #[serde(flatten)]
    pub id: Option<RowId<'a>>,
}

/// The identifier of one instance, under its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowId<'a> {
    /// Any identifier.
    Id(&'a str),
    /// The path of a file.
    Path(&'a str),
}

impl IdKind {
    /// The kind that a column of identifiers holds.
    pub fn of(ids: &Ids) -> Self {
        if ids.column.eq_ignore_ascii_case("path") { Self::Path } else { Self::Id }
    }

    /// The name of the column in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Path => "path",
        }
    }
}

/// The `top` best classes of every instance of a block; `numbers` are the instances' indices.
///
/// With a prediction set there are as many rows as it has classes at least. An instance that is rejected has one row,
/// without a label, at the distance and with the probability of its best class.
pub fn prediction_rows<'a>(
    scores: &Scores,
    numbers: &[usize],
    classes: &'a [String],
    top: usize,
    ids: Option<&'a Ids>,
    answering: Option<&Answering>,
) -> impl Iterator<Item = Prediction<'a>> {
    (0..scores.instances()).flat_map(move |instance| {
        let index = numbers[instance];
        let id = ids.map(|ids| ids.values[index].as_str());
        let rejected = answering.is_some_and(|answering| answering.rejects(scores, instance));
        let set = answering.and_then(|answering| answering.set_size(scores, instance));
        let rows = if rejected { 1 } else { top.max(set.unwrap_or(0)) };
        let temperature = answering.map(|answering| answering.temperature);
        scores.top(instance, rows).into_iter().enumerate().map(move |(rank, (class, score))| Prediction {
            index,
            label: (!rejected).then(|| classes[class].as_str()),
            distance: -score,
            probability: temperature.map(|one| scores.log_probability(class, instance, one).exp()),
            in_set: set.map(|size| !rejected && rank < size),
            id,
        })
    })
}

impl RowFormat {
    /// What stands before the first row.
    pub fn head(self, columns: &PredictionColumns<'_>) -> String {
        match self {
            Self::Csv | Self::SafeCsv => columns.names().join(",") + "\n",
            Self::Json => "[".to_owned(),
            Self::JsonLines => String::new(),
            Self::Text => {
                let probability = if columns.probability { "  probability" } else { "" };
                let in_set = if columns.in_set { "  in set" } else { "" };
                format!("{:>8}  {:>9}{probability}{in_set}  label\n", "index", "distance")
            }
        }
    }

    /// What stands between two blocks of rows.
    pub fn separator(self) -> &'static str {
        if self == Self::Json { "," } else { "" }
    }

    /// What stands after the last row.
    pub fn tail(self) -> &'static str {
        if self == Self::Json { "\n]\n" } else { "" }
    }

    /// One block of rows.
    pub fn rows<'a>(self, rows: impl Iterator<Item = Prediction<'a>>, id: Option<IdKind>) -> String {
        let mut text = String::new();
        // Writing to memory cannot fail, and a row of plain fields is a JSON object.
        match self {
            Self::Csv => return csv_rows(rows, Cow::Borrowed),
            Self::SafeCsv => return csv_rows(rows, spreadsheet_safe),
            Self::Json => {
                for (number, row) in rows.enumerate() {
                    let comma = if number == 0 { "" } else { "," };
                    let _ = write!(text, "{comma}\n  {}", json(row, id));
                }
            }
            Self::JsonLines => rows.for_each(|row| {
                let _ = writeln!(text, "{}", json(row, id));
            }),
            Self::Text => {
                for Prediction { index, label, distance, probability, in_set, id } in rows {
                    let id = id.map_or(String::new(), |id| format!("  {}", visible(id)));
                    let probability = probability.map_or(String::new(), |one| format!("  {one:>11.4}"));
                    let in_set = in_set.map_or("", |is_in| if is_in { "  yes   " } else { "  no    " });
                    let label = label.map_or_else(|| NONE_OF_THESE.into(), visible);
                    let _ = writeln!(text, "{index:>8}  {distance:>9.6}{probability}{in_set}  {label}{id}");
                }
            }
        }
        text
    }
}

fn csv_rows<'a>(
    rows: impl Iterator<Item = Prediction<'a>>,
    cell: impl Fn(&'a str) -> Cow<'a, str>,
) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for Prediction { index, label, distance, probability, in_set, id } in rows {
        let numbers = (index.to_string(), distance.to_string());
        let (label, id) = (cell(label.unwrap_or_default()), id.map(&cell));
        let (probability, in_set) =
            (probability.map(|one| one.to_string()), in_set.map(|one| one.to_string()));
        let more = [probability.as_deref(), in_set.as_deref(), id.as_deref()];
        let fields = [numbers.0.as_str(), &label, &numbers.1].into_iter().chain(more.into_iter().flatten());
        let written = csv.write_record(fields);
        debug_assert!(written.is_ok(), "{written:?}");
    }
    csv.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn json(row: Prediction<'_>, kind: Option<IdKind>) -> String {
    let Prediction { index, label, distance, probability, in_set, id } = row;
    let id = id.zip(kind).map(|(id, kind)| match kind {
        IdKind::Id => RowId::Id(id),
        IdKind::Path => RowId::Path(id),
    });
    serde_json::to_string(&PredictionRow { index, label, distance, probability, in_set, id })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bidilel::calibrate::{Signal, Threshold};

    use super::*;

    fn rows(id: Option<&str>) -> Vec<Prediction<'_>> {
        let row = |index, label, distance| Prediction {
            index,
            label: Some(label),
            distance,
            probability: None,
            in_set: None,
            id,
        };
        vec![row(0, "polar bear", 0.25), row(1, "=1+1, \"x\"", 0.5)]
    }

    fn columns(id: Option<IdKind>) -> PredictionColumns<'static> {
        PredictionColumns { id: id.map(IdKind::name), ..PredictionColumns::default() }
    }

    #[test]
    fn a_calibrated_model_says_how_sure_it_is_and_when_it_is_none_of_these() {
        // The first instance is clear, the second is between two classes.
        let values = [[4.0, 1.0], [1.0, 0.75], [0.0, -9.0]];
        let scores =
            Scores { values: bidilel::Mat::from_fn(3, 2, |class: usize, i: usize| values[class][i]) };
        let classes = ["bear".to_owned(), "fox".to_owned(), "owl".to_owned()];
        let by_margin = Threshold { by: Signal::Margin, least: 0.5 };
        let answering = Answering { temperature: 0.5, reject: Some(by_margin), set_bound: Some(3.5) };
        let rows = |answering: &Answering| -> Vec<Prediction<'_>> {
            prediction_rows(&scores, &[7, 8], &classes, 1, None, Some(answering)).collect()
        };
        let columns = PredictionColumns { rejects: true, probability: true, in_set: true, id: None };
        let csv = RowFormat::Csv.head(&columns) + &RowFormat::Csv.rows(rows(&answering).into_iter(), None);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "index,label,distance,probability,in_set");
        assert!(lines[1].starts_with("7,bear,-4,0.99") && lines[1].ends_with(",true"), "{csv}");
        assert!(lines[2].starts_with("7,fox,-1,0.00") && lines[2].ends_with(",true"), "{csv}");
        assert!(lines[3].starts_with("8,,-1,0.6") && lines[3].ends_with(",false"), "{csv}");
        assert_eq!(lines.len(), 4);
        let json = RowFormat::JsonLines.rows(rows(&answering).into_iter(), None);
        let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
        assert_eq!((&last["label"], &last["in_set"]), (&serde_json::Value::Null, &false.into()));
        let text = RowFormat::Text.rows(rows(&answering).into_iter(), None);
        assert!(text.ends_with("  no      (none of these)\n"), "{text}");
        // Probabilities of all classes sum to one.
        let never = Answering { reject: None, ..answering };
        let all = prediction_rows(&scores, &[0, 1], &classes, 3, None, Some(&never));
        let sum: f64 = all.filter_map(|row| row.probability).sum();
        assert!((sum - 2.0).abs() < 1e-12);
    }

    #[test]
    fn json_blocks_make_one_array_whose_keys_are_those_of_the_identifiers() {
        let format = RowFormat::Json;
        let id = Some(IdKind::Path);
        let block = || format.rows(rows(Some("a.jpg")).into_iter(), id);
        let text =
            [&format.head(&columns(id)), &block(), format.separator(), &block(), format.tail()].concat();
        let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(found.as_array().map(Vec::len), Some(4));
        let first = serde_json::json!({"index": 0, "label": "polar bear", "distance": 0.25, "path": "a.jpg"});
        assert_eq!(found[0], first);
        let lines = RowFormat::JsonLines.rows(rows(None).into_iter(), None);
        assert_eq!(lines.lines().next(), Some(r#"{"index":0,"label":"polar bear","distance":0.25}"#));
        assert_eq!(
            [RowFormat::Json.head(&columns(None)), RowFormat::Json.tail().to_owned()].concat(),
            "[\n]\n"
        );
    }

    #[test]
    fn cells_are_quoted_and_safe_where_that_is_asked_for() {
        assert_eq!(RowFormat::Csv.head(&columns(Some(IdKind::Id))), "index,label,distance,id\n");
        let plain = RowFormat::Csv.rows(rows(Some("7")).into_iter(), Some(IdKind::Id));
        assert_eq!(plain, "0,polar bear,0.25,7\n1,\"=1+1, \"\"x\"\"\",0.5,7\n");
        let safe = RowFormat::SafeCsv.rows(rows(None).into_iter(), None);
        assert_eq!(safe.lines().nth(1), Some("1,\"'=1+1, \"\"x\"\"\",0.5"));
        let text = RowFormat::Text.rows(rows(None).into_iter(), None);
        assert_eq!(text.lines().next(), Some("       0   0.250000  polar bear"));
    }
}
