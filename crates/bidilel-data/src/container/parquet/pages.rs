//! Pages that hold no more values than their file can.
//!
//! A page of a few bytes can claim billions of values, all the same; lists are decoded whole, so the claim is checked
//! before that.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Pages whose claims are checked.
pub(super) struct Checked {
    pages: Box<dyn PageReader>,
    left: usize,
}

impl Checked {
    /// Allows that many values in all pages together.
    pub(super) fn new(pages: Box<dyn PageReader>, most: usize) -> Self {
        Self { pages, left: most }
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        let values = page.as_ref().map_or(0, |page| page.num_values() as usize);
        let left = self.left.checked_sub(values);
        self.left = left.ok_or_else(|| ParquetError::General(format!("a page claims {values} values")))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

impl Iterator for Checked {
    type Item = Result<Page>;
    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
