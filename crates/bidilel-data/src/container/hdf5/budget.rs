//! What reading one file may take, counted where its bytes are read.
//!
//! Parts of an HDF5 file refer to each other by address, and nothing keeps them from doing so again and again: 21 small
//! B-tree nodes that each name the next one twice make two million paths of 5 KB. The library follows them all. Every step
//! of it is a read, so reads and bytes are counted, and more of them than an honest file of that size can need end it.

use std::sync::atomic::{AtomicU64, Ordering};

use hdf5_pure::{FormatError, Source};

use crate::array::Bytes;
use crate::container::sandbox;

/// Reads of a small file, and one more for every few bytes of a larger one.
const FREE_READS: u64 = 1 << 16;
const BYTES_PER_READ: u64 = 4;
/// Bytes that are read of a small file, and how often each byte of a larger one.
const FREE_BYTES: u64 = 16 << 20;
const TIMES_READ: u64 = 16;

/// Reads and bytes that are left.
#[derive(Debug)]
pub(super) struct Budget {
    length: u64,
    reads: AtomicU64,
    bytes: AtomicU64,
}

impl Budget {
    pub(super) fn new(length: u64) -> Self {
        let budget = Self { length, reads: AtomicU64::new(0), bytes: AtomicU64::new(0) };
        budget.renew();
        budget
    }

    /// Begins anew, for the next thing that is asked of the file.
    pub(super) fn renew(&self) {
        self.reads.store(FREE_READS + self.length / BYTES_PER_READ, Ordering::Relaxed);
        self.bytes
            .store(FREE_BYTES.saturating_add(self.length.saturating_mul(TIMES_READ)), Ordering::Relaxed);
    }

    /// Whether there was not enough.
    pub(super) fn is_spent(&self) -> bool {
        self.reads.load(Ordering::Relaxed) == 0 || self.bytes.load(Ordering::Relaxed) == 0
    }

    fn spend(&self, bytes: u64) -> bool {
        let take = |left: &AtomicU64, count: u64| {
            let before = left.load(Ordering::Relaxed);
            left.store(before.saturating_sub(count), Ordering::Relaxed);
            before > count
        };
        // Once spent, it stays so: what the library makes of the error does not matter.
        !self.is_spent() && take(&self.reads, 1) && take(&self.bytes, bytes)
    }
}

/// The bytes of the file, as the library wants to read them.
pub(super) struct Metered {
    pub(super) bytes: Bytes,
    pub(super) budget: std::sync::Arc<Budget>,
}

impl Source for Metered {
    fn len(&self) -> u64 {
        (*self.bytes).as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FormatError> {
        if sandbox::is_deep() {
            return Err(FormatError::NestingDepthExceeded);
        }
        if !self.budget.spend(buffer.len() as u64) {
            let problem = "its parts refer to each other more often than a file of its size can need";
            return Err(FormatError::Source(problem.to_owned()));
        }
        let bytes = (*self.bytes).as_ref();
        let start = usize::try_from(offset)
            .map_err(|_| FormatError::ValueTooLargeForPlatform { value: offset, target: "usize" })?;
        let end = start.checked_add(buffer.len()).filter(|&end| end <= bytes.len());
        let end = end.ok_or(FormatError::UnexpectedEof {
            expected: start.saturating_add(buffer.len()),
            available: bytes.len(),
        })?;
        buffer.copy_from_slice(&bytes[start..end]);
        Ok(())
    }
}
