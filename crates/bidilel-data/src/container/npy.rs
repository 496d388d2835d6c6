//! A `.npy` file: one array without a name.

use std::path::{Path, PathBuf};

use super::{Entry, Reader};
use crate::array::{Array, Bytes, npy};
use crate::error::Result;

/// A whole `.npy` file, or one that lies inside another file.
pub(super) struct Npy {
    path: PathBuf,
    bytes: Bytes,
    start: usize,
    end: usize,
}

impl Npy {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Self {
        let end = (*bytes).as_ref().len();
        Self { path: path.to_owned(), bytes, start: 0, end }
    }

    /// The file that fills a part of the bytes.
    pub(super) fn inside(path: &Path, bytes: Bytes, start: usize, end: usize) -> Self {
        Self { path: path.to_owned(), bytes, start, end }
    }

    fn content(&self) -> &[u8] {
        &(*self.bytes).as_ref()[self.start..self.end]
    }
}

impl Reader for Npy {
    fn entries(&self) -> Result<Vec<Entry>> {
        let header = npy::Header::parse(&self.path, self.content())?;
        let kind = header.kind();
        Ok(vec![Entry { key: String::new(), kind, shape: header.shape }])
    }

    fn array(&self, _: &str) -> Result<Array> {
        let mut layout = npy::Header::parse(&self.path, self.content())?.layout(&self.path)?;
        layout.offset += self.start;
        Array::within(&self.path, self.bytes.clone(), &layout, self.end)
    }

    fn strings(&self, _: &str) -> Result<Vec<String>> {
        npy::Header::parse(&self.path, self.content())?.strings(&self.path, self.content())
    }
}
