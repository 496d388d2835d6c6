//! How cost grows: `scale rows` fits 1,000 to 100,000 rows, `scale classes` maps 50 to 20,000 unseen classes.
//!
//! Every point is its own process, so that peak memory is measured per point. The tables are CSV; they are printed and
//! written into `docs/`, each with an SVG of the same name. `scale draw` draws the written tables again.

mod draw;
mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::say;
pub(crate) use measure::child;

const ROWS: [usize; 7] = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
const CLASSES: [usize; 8] = [50, 100, 200, 500, 1_000, 5_000, 10_000, 20_000];

pub(crate) fn rows() -> Result<()> {
    table("rows", "rows,neighbors,scatter,eigen,top_down,total,peak_mb", &ROWS)
}

pub(crate) fn classes() -> Result<()> {
    table("classes", "classes,distances,start,an_iteration,peak_mb", &CLASSES)
}

/// Draws both tables as they were written last.
pub(crate) fn draw() -> Result<()> {
    ["rows", "classes"].into_iter().try_for_each(|what| {
        let path = document(what, "csv");
        let table = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        save(&document(what, "svg"), &draw::drawing(what, &table)?)
    })
}

/// Measures every size, then writes and draws the table.
fn table(what: &str, header: &str, sizes: &[usize]) -> Result<()> {
    ensure!(Path::new("docs").is_dir(), "there is no folder `docs` here: run this in the repository's root");
    let mut table = format!("{header}\n");
    say(header);
    for size in sizes {
        let line = again(what, *size)?;
        say(&line);
        table.extend([line.as_str(), "\n"]);
    }
    save(&document(what, "csv"), &table)?;
    save(&document(what, "svg"), &draw::drawing(what, &table)?)
}

fn again(what: &str, size: usize) -> Result<String> {
    let own = std::env::current_exe()?;
    let output = Command::new(own).args(["child", "scale", what, &size.to_string()]).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{size} {what}: {printed}");
    Ok(printed.trim_end().to_owned())
}

fn document(what: &str, extension: &str) -> PathBuf {
    Path::new("docs").join(format!("scaling-{what}.{extension}"))
}

fn save(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}
