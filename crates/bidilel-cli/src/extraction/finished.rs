//! Whether an extraction that is to be resumed is finished already.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Rows and skipped files of a finished extraction into `out`; none where there is something to do.
///
/// # Errors
/// If it is finished, but of another number of files: then it is not this one.
pub(crate) fn finished(out: &Path, files: usize) -> Result<Option<(usize, usize)>> {
    let unfinished = part_file(out, ".part.jsonl");
    let lists = (out.with_extension("csv"), out.with_extension("skipped.csv"));
    if unfinished.exists() || !out.exists() {
        return Ok(None);
    }
    let (Some(rows), Some(skipped)) = (records(&lists.0), records(&lists.1)) else { return Ok(None) };
    if rows + skipped != files {
        bail!(
            "`{}`: is finished, but of {} files, and there are {files} now: extract anew without --resume",
            out.display(),
            rows + skipped
        );
    }
    Ok(Some((rows, skipped)))
}

fn part_file(out: &Path, ending: &str) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// How many records a list has; none where it cannot be read.
fn records(list: &Path) -> Option<usize> {
    let mut reader = csv::Reader::from_path(list).ok()?;
    reader.byte_records().try_fold(0, |count, record| record.ok().map(|_| count + 1))
}
