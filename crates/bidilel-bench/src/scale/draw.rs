//! The tables as curves on logarithmic axes: seconds of every stage, and memory.

use anyhow::{Context, Result, ensure};
use bidilel_report::{Growth, Series, growth};

/// Columns of the tables with their names in the legend; memory has its own panel.
const NAMES: [(&str, &str); 8] = [
    ("neighbors", "neighbors"),
    ("scatter", "scatter matrices"),
    ("eigen", "eigenproblem"),
    ("top_down", "mapping"),
    ("total", "whole fit"),
    ("distances", "distances, once"),
    ("start", "start and first step, once"),
    ("an_iteration", "an iteration of the mapping"),
];

/// The drawing of a table of `rows` or `classes`.
pub(super) fn drawing(what: &str, table: &str) -> Result<String> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().context("the table is empty")?.split(',').collect();
    let rows = lines.map(numbers).collect::<Result<Vec<_>>>()?;
    ensure!(rows.iter().all(|row| row.len() == header.len()), "the table's lines differ in length");
    let series = |column: usize, name: &str| Series {
        name: name.to_owned(),
        points: rows.iter().map(|row| (row[0], row[column])).collect(),
    };
    let column = |key: &str| header.iter().position(|&name| name == key);
    let stages = NAMES.iter().filter_map(|(key, name)| Some(series(column(key)?, name))).collect();
    let memory = column("peak_mb").context("the table has no column `peak_mb`")?;
    let axis = if what == "rows" { "training rows" } else { "unseen classes" }.to_owned();
    let square = if what == "rows" { "grows as n²" } else { "grows as u²" };
    Ok(growth(
        &format!("Seconds and memory against {axis}"),
        &[
            Growth {
                title: "seconds".to_owned(),
                axis: axis.clone(),
                series: stages,
                guide: Some((2.0, square.to_owned())),
            },
            Growth {
                title: "resident at most, MB".to_owned(),
                axis,
                series: vec![series(memory, "memory")],
                guide: None,
            },
        ],
    ))
}

fn numbers(line: &str) -> Result<Vec<f64>> {
    line.split(',').map(|cell| cell.parse().with_context(|| format!("`{cell}` is no number"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_seconds_is_a_named_curve_next_to_memory() {
        let table = "classes,distances,an_iteration,peak_mb\n50,0.01,0.02,20\n200,0.1,0.4,60\n";
        let drawn = drawing("classes", table).expect("a drawing");
        assert_eq!(drawn.matches("<polyline").count(), 3);
        assert!(drawn.contains("an iteration of the mapping") && drawn.contains("unseen classes"));
    }

    #[test]
    fn a_table_that_is_none_is_refused() {
        for table in ["", "rows,peak_mb\n1,x\n", "rows,peak_mb\n1\n", "rows,total\n1,2\n"] {
            assert!(drawing("rows", table).is_err(), "{table:?}");
        }
    }
}
