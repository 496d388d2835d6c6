//! Feature rows on their way, in a file without a name that is gone when the program is.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bidilel::encode::AnyError;
use bidilel_math::pca::ColumnSource;
use faer::{MatMut, MatRef};

use crate::error::{Error, Result};

/// Rows of `f32` that are written once and read back in blocks: as many as the disk holds.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    file: Mutex<File>,
    dim: usize,
    count: usize,
}

impl Scratch {
    /// An empty file in a folder, for rows of that length.
    pub fn new(folder: &Path, dim: usize) -> Result<Self> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let failed = |source| Error::Write { path: folder.to_owned(), source };
        let file = Mutex::new(tempfile::tempfile_in(folder).map_err(failed)?);
        Ok(Self { folder: folder.to_owned(), file, dim, count: 0 })
    }

    /// Appends the columns of `rows`.
    pub fn push(&mut self, rows: MatRef<'_, f32>) -> Result<()> {
        debug_assert_eq!(rows.nrows(), self.dim);
        let mut bytes = Vec::with_capacity(4 * rows.nrows() * rows.ncols());
        for column in rows.col_iter() {
            column.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Reading moves the place in the file, so it is set again.
        let written = file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(&bytes));
        written.map_err(|source| Error::Write { path: self.folder.clone(), source })?;
        self.count += rows.ncols();
        Ok(())
    }

    fn read_block(&self, first: usize, into: MatMut<'_, f64>) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(4 * (first * self.dim) as u64))?;
        let mut reader = BufReader::with_capacity(1 << 20, &mut *file);
        let mut bytes = vec![0; 4 * self.dim];
        for column in into.col_iter_mut() {
            reader.read_exact(&mut bytes)?;
            for (value, &cell) in column.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = f32::from_le_bytes(cell).into();
            }
        }
        Ok(())
    }
}

impl ColumnSource for Scratch {
    type Error = AnyError;
    fn count(&self) -> usize {
        self.count
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn read(&self, first: usize, into: MatMut<'_, f64>) -> Result<(), AnyError> {
        self.read_block(first, into)
            .map_err(|source| Error::Read { path: self.folder.clone(), source }.into())
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    #[test]
    fn rows_come_back_in_any_order_and_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let rows = Mat::<f32>::from_fn(7, 20, |i, j| (i * 100 + j) as f32 / 8.0);
        let mut scratch = Scratch::new(folder.path(), 7).unwrap();
        scratch.push(rows.subcols(0, 12)).unwrap();
        let mut block = Mat::<f64>::zeros(7, 5);
        scratch.read(3, block.as_mut()).unwrap();
        scratch.push(rows.subcols(12, 8)).unwrap();
        for first in [3, 15, 0] {
            scratch.read(first, block.as_mut()).unwrap();
            assert!(
                (0..5)
                    .all(|j| (0..7).all(|i| (block[(i, j)] - f64::from(rows[(i, first + j)])).abs() < 1e-9))
            );
        }
        assert_eq!((ColumnSource::count(&scratch), ColumnSource::dim(&scratch)), (20, 7));
        assert!(scratch.read(16, block.as_mut()).is_err(), "beyond the end");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
