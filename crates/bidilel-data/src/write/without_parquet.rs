//! Tables in a build without the feature `parquet`: they cannot be begun.

use std::convert::Infallible;
use std::io::{self, Write};

use super::cells::{Cells, ColumnType};

/// Writes a Parquet file, where the feature `parquet` is on.
#[derive(Debug)]
pub struct TableWriter(Infallible);

impl TableWriter {
    /// Fails and names the feature that is missing.
    pub fn new<'n>(_columns: impl IntoIterator<Item = (&'n str, ColumnType)>) -> io::Result<Self> {
        let problem = "this program was built without the feature `parquet`";
        Err(io::Error::new(io::ErrorKind::Unsupported, problem))
    }

    /// Cannot be reached: there is no table.
    pub fn write(&mut self, _block: &[Cells<'_>], _out: &mut dyn Write) -> io::Result<()> {
        match self.0 {}
    }

    /// Cannot be reached: there is no table.
    pub fn finish(self, _out: &mut dyn Write) -> io::Result<()> {
        match self.0 {}
    }
}
