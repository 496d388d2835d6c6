//! The single files of a dataset folder.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use bidilel::dataset::Rows;
use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{Precision, Writer};
use crate::array::{NpyElement, NpyWriter};
use crate::error::{Error, Result};
use crate::text::is_listable;

impl Writer<'_> {
    /// Writes a text file, one item per line, and gives its name.
    pub(super) fn list(&mut self, stem: &str, what: &'static str, items: &[String]) -> Result<String> {
        let name = self.unique(stem, "txt");
        if let Some(index) = items.iter().position(|item| !is_listable(item)) {
            let (path, name) = (self.target.join(&name), items[index].clone());
            return Err(Error::Unwritable { path, what, index, name });
        }
        self.file(&name, |out| items.iter().try_for_each(|item| writeln!(out, "{item}")))?;
        Ok(name)
    }

    /// Writes whole numbers, and gives the name of the file.
    pub(super) fn indices(&mut self, stem: &str, indices: &[usize]) -> Result<String> {
        let name = self.unique(stem, "npy");
        let values: Vec<i64> =
            indices.iter().map(|&index| i64::try_from(index).expect("memory has no 2^63 elements")).collect();
        self.file(&name, |out| write_rows(out, &[values.len()], [&values]))?;
        Ok(name)
    }

    /// Writes feature rows one by one, and gives the name of the file.
    pub(super) fn features(&mut self, stem: &str, rows: &dyn Rows, precision: Precision) -> Result<String> {
        let name = self.unique(stem, "npy");
        let shape = [rows.count(), rows.dim()];
        let mut row = vec![0.0_f32; rows.dim()];
        let mut halves = vec![f16::ZERO; rows.dim()];
        let mut overflow = None;
        let mut stopped = Ok(());
        let mut read = |index: usize, row: &mut [f32]| {
            rows.read(index, row);
            stopped = Error::where_cancelled(self.watch);
            // It ends the writing; what is reported is why.
            if stopped.is_err() { Err(io::Error::from(io::ErrorKind::Interrupted)) } else { Ok(()) }
        };
        let written = self.file(&name, |out| match precision {
            Precision::Float32 => {
                let mut writer = NpyWriter::new(out, &shape)?;
                for index in 0..rows.count() {
                    read(index, &mut row)?;
                    writer.write(&row)?;
                }
                writer.finish().map(drop)
            }
            Precision::Float16 => {
                let mut writer = NpyWriter::new(out, &shape)?;
                for index in 0..rows.count() {
                    read(index, &mut row)?;
                    halves.convert_from_f32_slice(&row);
                    let lost = |(value, half): (&f32, &f16)| value.is_finite() && half.is_infinite();
                    if let Some(column) = row.iter().zip(&halves).position(lost) {
                        overflow.get_or_insert((index, column, row[column]));
                    }
                    writer.write(&halves)?;
                }
                writer.finish().map(drop)
            }
        });
        stopped?;
        written?;
        match overflow {
            None => Ok(name),
            Some((row, column, value)) => Err(Error::Value {
                path: self.target.join(&name),
                row,
                column: Some(column),
                expected: "at most 65504, which is all that float16 holds".to_owned(),
                found: value.to_string(),
            }),
        }
    }

    /// Writes one file to the disk.
    pub(super) fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        let written = || {
            let mut out = BufWriter::new(File::create_new(self.folder.join(name))?);
            write(&mut out)?;
            out.into_inner()?.sync_all()
        };
        written().map_err(|source| Error::Write { path: self.target.join(name), source })
    }

    /// A file name that no other file of the folder has, from letters that every system accepts.
    pub(super) fn unique(&mut self, stem: &str, extension: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || "-_+.".contains(c) { c } else { '_' };
        let stem: String = stem.chars().map(plain).take(60).collect();
        let stem = stem.trim_start_matches('.');
        let spellings = std::iter::once(format!("{stem}.{extension}"))
            .chain((2_usize..).map(|number| format!("{stem}-{number}.{extension}")));
        let mut free = spellings.filter(|name| self.names.insert(name.to_lowercase()));
        free.next().expect("one of infinitely many names is free")
    }
}

/// Writes an array row by row.
pub(super) fn write_rows<T: NpyElement>(
    out: &mut BufWriter<File>,
    shape: &[usize],
    rows: impl IntoIterator<Item = impl AsRef<[T]>>,
) -> io::Result<()> {
    let mut writer = NpyWriter::new(out, shape)?;
    for row in rows {
        writer.write(row.as_ref())?;
    }
    writer.finish().map(drop)
}
