//! A table in every format, on stdout and in files.

use std::path::Path;

use anyhow::Result;
use bidilel_report::{Format, Reproduction, Theme};
use serde::Serialize;

use crate::reported::write_chart;
use crate::{output, terminal};

/// Formats that a table is written in, with the endings of the files.
const WRITTEN: [(Format, &str); 5] = [
    (Format::Text, "txt"),
    (Format::Markdown, "md"),
    (Format::Latex, "tex"),
    (Format::Csv, "csv"),
    (Format::Json, "json"),
];

/// Several tables as one JSON object.
#[derive(Serialize)]
struct Tables<'a> {
    tables: &'a [Reproduction],
}

/// Prints tables.
pub(crate) fn print(tables: &[Reproduction], format: Format) -> Result<()> {
    match (format, tables) {
        (Format::Json, [one]) => output::print_json(one),
        (Format::Json, all) => output::print_json(&Tables { tables: all }),
        (Format::Csv | Format::Parquet, [first, others @ ..]) => {
            // One header: a column says which table a cell is of.
            let mut table = first.cells_table();
            others.iter().for_each(|other| table.rows.extend(other.cells_table().rows));
            output::print_as_is(&output::rendered(&table, Format::Csv))
        }
        _ => {
            let texts = tables
                .iter()
                .map(|table| rendered(table, format, terminal::width()))
                .collect::<Result<Vec<_>>>()?;
            let between = if format == Format::JsonLines { "" } else { "\n" };
            let text = texts.join(between);
            if format == Format::Text { output::print(&text) } else { output::print_as_is(&text) }
        }
    }
}

/// Writes a table in every format, and its curves as numbers and as charts.
pub(crate) fn write(table: &Reproduction, folder: &Path) -> Result<()> {
    for (format, ending) in WRITTEN {
        let path = folder.join(format!("{}.{ending}", table.experiment));
        output::write_text(&path, &rendered(table, format, None)?)?;
    }
    if let Some(points) = table.points_table() {
        let path = folder.join(format!("{}-curves.csv", table.experiment));
        output::write_text(&path, &output::rendered(&points, Format::Csv))?;
    }
    for chart in table.charts() {
        write_chart(folder, &chart, Theme::LIGHT)?;
    }
    Ok(())
}

fn rendered(table: &Reproduction, format: Format, width: Option<usize>) -> Result<String> {
    Ok(match format {
        Format::Text => table.text(width),
        Format::Markdown => table.markdown(),
        Format::Latex => table.latex(),
        Format::Csv | Format::Parquet => output::rendered(&table.cells_table(), Format::Csv),
        Format::Json => output::json(table)?,
        Format::JsonLines => output::json_line(table)?,
    })
}
