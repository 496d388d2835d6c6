//! Vectors of classes with the names of the classes.

use std::io::{self, Cursor, Write};
use std::path::Path;

use faer::Mat;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::array::NpyWriter;
use crate::atomic::write_atomically;
use crate::error::{Error, Result};

/// A kind of file that vectors of classes are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorFile {
    /// Classes x dimensions; the names go elsewhere.
    Npy,
    /// Two arrays, `vectors` and `names`.
    Npz,
    /// A row per class, the first column its name.
    Csv,
}

impl VectorFile {
    /// The kind of a file, by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// Whether rows are joined to classes by a list of names elsewhere.
    pub fn needs_names(self) -> bool {
        self != Self::Csv
    }

    /// Writes vectors, dimensions x classes, as float32.
    pub fn write(self, path: &Path, names: &[String], vectors: &Mat<f64>) -> Result<()> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        match self {
            Self::Npy => {
                let bytes = npy(vectors).map_err(failed)?;
                write_atomically(path, |out| out.write_all(&bytes))
            }
            Self::Npz => {
                let bytes = npz(names, vectors).map_err(failed)?;
                write_atomically(path, |out| out.write_all(&bytes))
            }
            Self::Csv => write_atomically(path, |out| csv(names, vectors, out)),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "networks compute in single precision")]
fn row(vectors: &Mat<f64>, class: usize) -> Vec<f32> {
    vectors.col_as_slice(class).iter().map(|&value| value as f32).collect()
}

fn npy(vectors: &Mat<f64>) -> io::Result<Vec<u8>> {
    let mut writer = NpyWriter::new(Vec::new(), &[vectors.ncols(), vectors.nrows()])?;
    for class in 0..vectors.ncols() {
        writer.write(&row(vectors, class))?;
    }
    writer.finish()
}

fn npz(names: &[String], vectors: &Mat<f64>) -> io::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in [("vectors.npy", npy(vectors)?), ("names.npy", text_array(names))] {
        archive.start_file(name, options).map_err(io::Error::other)?;
        archive.write_all(&bytes)?;
    }
    Ok(archive.finish().map_err(io::Error::other)?.into_inner())
}

/// An array file of strings: fixed numbers of UTF-32 letters, as NumPy's `<U`.
fn text_array(items: &[String]) -> Vec<u8> {
    /// Magic, version and the length of the header: what stands before the header itself.
    const BEFORE: usize = 10;
    let letters = items.iter().map(|item| item.chars().count()).max().unwrap_or(0).max(1);
    let mut header =
        format!("{{'descr': '<U{letters}', 'fortran_order': False, 'shape': ({},), }}", items.len());
    // Data begin at a multiple of 64 bytes, after a line break.
    let padded = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    header += &" ".repeat(padded - header.len() - 1);
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(header.as_bytes());
    for item in items {
        let mut written = 0;
        for letter in item.chars() {
            bytes.extend(u32::from(letter).to_le_bytes());
            written += 1;
        }
        bytes.extend(std::iter::repeat_n(0, 4 * (letters - written)));
    }
    bytes
}

fn csv(names: &[String], vectors: &Mat<f64>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let header = std::iter::once("name".to_owned()).chain((0..vectors.nrows()).map(|d| format!("d{d}")));
    writer.write_record(header)?;
    for (class, name) in names.iter().enumerate() {
        let cells = row(vectors, class).into_iter().map(|value| value.to_string());
        writer.write_record(std::iter::once(name.clone()).chain(cells))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Container;

    #[test]
    fn what_is_written_is_read_back_with_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let vectors = Mat::from_fn(3, 2, |i, j| (10 * j + i) as f64 / 4.0);
        let names = ["lynx".to_owned(), "Blåmes, blå".to_owned()];
        for ending in ["npy", "npz", "csv"] {
            let path = folder.path().join(format!("v.{ending}"));
            let kind = VectorFile::of(&path).unwrap();
            kind.write(&path, &names, &vectors).unwrap();
            let container = Container::open(&path).unwrap();
            if kind != VectorFile::Csv {
                let key = (kind == VectorFile::Npz).then_some("vectors");
                assert_eq!(container.array(key).unwrap().to_matrix(), vectors);
            }
            if kind != VectorFile::Npy {
                let key = if kind == VectorFile::Npz { "names" } else { "name" };
                assert_eq!(container.strings(key).unwrap(), names);
            }
        }
        assert_eq!(VectorFile::of(Path::new("v.mat")), None);
    }
}
