//! The finished files: the rows, the list of rows, the list of what has none.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bidilel_data::array::{NpyElement, NpyWriter};
use bidilel_data::text::spreadsheet_safe;
use bidilel_data::{Precision, write_atomically};
use half::f16;

use super::ExtractOptions;
use super::unfinished::Unfinished;
use crate::discover::Item;
use crate::error::{Contradiction, Error, Result};

/// The lists beside a file of rows.
pub(super) struct Sides {
    pub(super) list: PathBuf,
    pub(super) skipped_list: PathBuf,
}

impl Sides {
    pub(super) fn of(out: &Path) -> Result<Self> {
        if out.extension().is_none_or(|ending| ending != "npy") {
            return Err(Contradiction::Ending { path: out.to_owned() }.into());
        }
        Ok(Self { list: out.with_extension("csv"), skipped_list: out.with_extension("skipped.csv") })
    }

    /// Writes all three, and takes the unfinished files away. Gives the number of rows, and what was skipped.
    pub(super) fn write(
        &self,
        items: &[Item],
        out: &Path,
        mut unfinished: Unfinished,
        options: &ExtractOptions,
    ) -> Result<(usize, Vec<(String, String)>)> {
        let cell = |bytes: &[u8]| cell(bytes, options.csv_safe);
        let rows = unfinished.rows;
        let problems: HashMap<usize, String> = std::mem::take(&mut unfinished.skipped).into_iter().collect();
        let skipped: Vec<(String, String)> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| Some((item.path.clone(), problems.get(&index)?.clone())))
            .collect();
        if rows == 0 {
            unfinished.remove();
            let (first, problem) = skipped.into_iter().next().unwrap_or_default();
            let path = items[0].file.parent().unwrap_or(Path::new("")).to_owned();
            return Err(Error::NothingReadable { path, count: items.len(), first, problem });
        }
        let kept = items.iter().enumerate().filter(|(index, _)| !problems.contains_key(index));
        let labels = kept.enumerate().map(|(row, (_, item))| {
            [row.to_string().into(), cell(&item.raw_path), cell(item.label.as_bytes())]
        });
        table(&self.list, &["index", "path", "label"], labels)?;
        let reasons = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| Some([cell(&item.raw_path), cell(problems.get(&index)?.as_bytes())]));
        table(&self.skipped_list, &["path", "problem"], reasons)?;
        let shape = [rows, unfinished.dimensions];
        write_atomically(out, |file| match options.precision {
            Precision::Float32 => copy::<f32, 4>(file, &shape, &mut unfinished, f32::from_le_bytes),
            Precision::Float16 => copy::<f16, 2>(file, &shape, &mut unfinished, f16::from_le_bytes),
        })?;
        unfinished.remove();
        Ok((rows, skipped))
    }
}

fn copy<T: NpyElement, const N: usize>(
    file: &mut dyn Write,
    shape: &[usize],
    rows: &mut Unfinished,
    number: impl Fn([u8; N]) -> T,
) -> io::Result<()> {
    let mut writer = NpyWriter::new(file, shape)?;
    let mut reader = rows.reader()?;
    let mut bytes = vec![0; shape[1] * N];
    let mut values = Vec::with_capacity(shape[1]);
    for _ in 0..shape[0] {
        reader.read_exact(&mut bytes)?;
        values.clear();
        let (numbers, _) = bytes.as_chunks::<N>();
        values.extend(numbers.iter().map(|&bytes| number(bytes)));
        writer.write(&values)?;
    }
    writer.finish().map(drop)
}

/// A cell, no formula where that was asked for. Paths go byte for byte: who opens a file by its path finds it.
fn cell(bytes: &[u8], safe: bool) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(text) if safe => spreadsheet_safe(text).as_bytes().to_vec(),
        _ => bytes.to_vec(),
    }
}

fn table<const N: usize>(
    path: &Path,
    header: &[&str; N],
    rows: impl Iterator<Item = [impl AsRef<[u8]>; N]>,
) -> Result<()> {
    Ok(write_atomically(path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(header)?;
        for row in rows {
            writer.write_record(row)?;
        }
        writer.flush()
    })?)
}
