//! Latent coordinates in files: an array with a sidecar list of its rows, or one table.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bidilel_data::array::NpyWriter;
use faer::MatRef;

use crate::output;

/// What labels the rows of coordinates: columns with one cell per row.
pub(crate) struct RowLabels<'a> {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) cells: &'a dyn Fn(usize) -> Vec<String>,
}

/// Points in blocks: each block is a matrix with one instance per column.
type Blocks<'a> = dyn FnMut(&mut dyn FnMut(MatRef<'_, f64>) -> Result<()>) -> Result<()> + 'a;

/// Fails at once where the files could not be written.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    output::check_target(path)?;
    if !is_table(path) && sidecar(path) == path {
        bail!("`{}`: coordinates are written as .npy or .csv", path.display());
    }
    Ok(())
}

/// Writes the coordinates of `count` instances in `dim` dimensions.
pub(crate) fn write(
    path: &Path,
    (count, dim): (usize, usize),
    labels: &RowLabels<'_>,
    blocks: &mut Blocks<'_>,
) -> Result<()> {
    if is_table(path) {
        return output::write_to(Some(path), |out| {
            let mut csv = csv::Writer::from_writer(out);
            let names = labels.columns.iter().map(|&name| name.to_owned());
            csv.write_record(names.chain((0..dim).map(|axis| format!("z{axis}"))))?;
            let mut row = 0;
            blocks(&mut |points| {
                for point in points.col_iter() {
                    let numbers = point.iter().map(f64::to_string);
                    csv.write_record((labels.cells)(row).into_iter().chain(numbers))?;
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
    output::write_to(Some(&sidecar(path)), |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(&labels.columns)?;
        (0..count).try_for_each(|row| csv.write_record((labels.cells)(row)))?;
        Ok(csv.flush()?)
    })
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
}

fn sidecar(path: &Path) -> PathBuf {
    path.with_extension("csv")
}
