//! Latent coordinates in a file: an array with a list of its rows beside it, or one table.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bidilel_data::array::NpyWriter;
use faer::MatRef;

use crate::output;

/// What stands beside the coordinates of a row: columns with one cell per row.
pub(crate) struct Beside<'a> {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) cells: &'a dyn Fn(usize) -> Vec<String>,
}

/// Points one after another: blocks of columns of a matrix, each an instance.
type Blocks<'a> = dyn FnMut(&mut dyn FnMut(MatRef<'_, f64>) -> Result<()>) -> Result<()> + 'a;

/// Fails at once where the files could not be written.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    output::check_target(path)?;
    if !is_table(path) && list_beside(path) == path {
        bail!("`{}`: coordinates are written as .npy or .csv", path.display());
    }
    Ok(())
}

/// Writes the coordinates of `count` instances in `dim` dimensions.
pub(crate) fn write(
    path: &Path,
    (count, dim): (usize, usize),
    beside: &Beside<'_>,
    blocks: &mut Blocks<'_>,
) -> Result<()> {
    if is_table(path) {
        return output::write_to(Some(path), |out| {
            let mut csv = csv::Writer::from_writer(out);
            let names = beside.columns.iter().map(|&name| name.to_owned());
            csv.write_record(names.chain((0..dim).map(|axis| format!("z{axis}"))))?;
            let mut row = 0;
            blocks(&mut |points| {
                for point in points.col_iter() {
                    let numbers = point.iter().map(f64::to_string);
                    csv.write_record((beside.cells)(row).into_iter().chain(numbers))?;
                    row += 1;
                }
                Ok(())
            })?;
            Ok(csv.flush()?)
        });
    }
    output::write_to(Some(path), |out| {
        let mut writer = NpyWriter::new(out, &[count, dim])?;
        blocks(&mut |points| {
            for point in points.col_iter() {
                writer.write(&point.iter().copied().collect::<Vec<f64>>())?;
            }
            Ok(())
        })?;
        Ok(writer.finish()?.flush()?)
    })?;
    output::write_to(Some(&list_beside(path)), |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(&beside.columns)?;
        (0..count).try_for_each(|row| csv.write_record((beside.cells)(row)))?;
        Ok(csv.flush()?)
    })
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
}

fn list_beside(path: &Path) -> PathBuf {
    path.with_extension("csv")
}
