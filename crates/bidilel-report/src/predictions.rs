//! The result of `predict`: one row per instance and candidate class, rendered in blocks.
//!
//! Blocks are rendered where the scores are computed and written in order, so that a file of any size takes constant
//! memory.

use bidilel::recognize::Scores;
use bidilel_data::text::spreadsheet_safe;
use bidilel_data::{Prediction, table::Ids};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;

use crate::visible;

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
    /// The class.
    pub label: &'a str,
    /// Distance to the class: minus the score for methods without distances.
    pub distance: f64,
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
pub fn prediction_rows<'a>(
    scores: &Scores,
    numbers: &[usize],
    classes: &'a [String],
    top: usize,
    ids: Option<&'a Ids>,
) -> impl Iterator<Item = Prediction<'a>> {
    (0..scores.instances()).flat_map(move |instance| {
        let index = numbers[instance];
        let id = ids.map(|ids| ids.values[index].as_str());
        scores.top(instance, top).into_iter().map(move |(class, score)| Prediction {
            index,
            label: classes[class].as_str(),
            distance: -score,
            id,
        })
    })
}

impl RowFormat {
    /// What stands before the first row.
    pub fn head(self, id: Option<IdKind>) -> String {
        match self {
            Self::Csv | Self::SafeCsv => {
                format!("index,label,distance{}\n", id.map_or(String::new(), |id| format!(",{}", id.name())))
            }
            Self::Json => "[".to_owned(),
            Self::JsonLines => String::new(),
            Self::Text => format!("{:>8}  {:>9}  label\n", "index", "distance"),
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
                for Prediction { index, label, distance, id } in rows {
                    let id = id.map_or(String::new(), |id| format!("  {}", visible(id)));
                    let _ = writeln!(text, "{index:>8}  {distance:>9.6}  {}{id}", visible(label));
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
    for Prediction { index, label, distance, id } in rows {
        let numbers = (index.to_string(), distance.to_string());
        let (label, id) = (cell(label), id.map(&cell));
        let fields = [numbers.0.as_str(), &label, &numbers.1].into_iter().chain(id.as_deref());
        let written = csv.write_record(fields);
        debug_assert!(written.is_ok(), "{written:?}");
    }
    csv.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn json(row: Prediction<'_>, kind: Option<IdKind>) -> String {
    let Prediction { index, label, distance, id } = row;
    let id = id.zip(kind).map(|(id, kind)| match kind {
        IdKind::Id => RowId::Id(id),
        IdKind::Path => RowId::Path(id),
    });
    serde_json::to_string(&PredictionRow { index, label, distance, id }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(id: Option<&str>) -> Vec<Prediction<'_>> {
        let row = |index, label, distance| Prediction { index, label, distance, id };
        vec![row(0, "polar bear", 0.25), row(1, "=1+1, \"x\"", 0.5)]
    }

    #[test]
    fn json_blocks_make_one_array_whose_keys_are_those_of_the_identifiers() {
        let format = RowFormat::Json;
        let id = Some(IdKind::Path);
        let block = || format.rows(rows(Some("a.jpg")).into_iter(), id);
        let text = [&format.head(id), &block(), format.separator(), &block(), format.tail()].concat();
        let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(found.as_array().map(Vec::len), Some(4));
        let first = serde_json::json!({"index": 0, "label": "polar bear", "distance": 0.25, "path": "a.jpg"});
        assert_eq!(found[0], first);
        let lines = RowFormat::JsonLines.rows(rows(None).into_iter(), None);
        assert_eq!(lines.lines().next(), Some(r#"{"index":0,"label":"polar bear","distance":0.25}"#));
        assert_eq!([RowFormat::Json.head(None), RowFormat::Json.tail().to_owned()].concat(), "[\n]\n");
    }

    #[test]
    fn cells_are_quoted_and_safe_where_that_is_asked_for() {
        assert_eq!(RowFormat::Csv.head(Some(IdKind::Id)), "index,label,distance,id\n");
        let plain = RowFormat::Csv.rows(rows(Some("7")).into_iter(), Some(IdKind::Id));
        assert_eq!(plain, "0,polar bear,0.25,7\n1,\"=1+1, \"\"x\"\"\",0.5,7\n");
        let safe = RowFormat::SafeCsv.rows(rows(None).into_iter(), None);
        assert_eq!(safe.lines().nth(1), Some("1,\"'=1+1, \"\"x\"\"\",0.5"));
        let text = RowFormat::Text.rows(rows(None).into_iter(), None);
        assert_eq!(text.lines().next(), Some("       0   0.250000  polar bear"));
    }
}
