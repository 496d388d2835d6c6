//! What reading one file may take, counted where its bytes are read.
//!
//! Parts of an HDF5 file refer to each other by address, and nothing keeps them from doing so again and again: 21 small
//! B-tree nodes that each name the next one twice make two million paths of 5 KB. The library follows them all. Every step
//! of it is a read, so reads and bytes are counted, and more of them than an honest file of that size can need end it.
//!
//! One thing takes memory without a read: the links of an old-style group name places in one heap, and each gets a copy of
//! the name there. So a node of links is charged for the longest name of the heap that was read before it.

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
/// An entry of a node of links.
const LINK_BYTES: u64 = 40;

/// Reads and bytes that are left.
#[derive(Debug)]
pub(super) struct Budget {
    length: u64,
    reads: AtomicU64,
    bytes: AtomicU64,
    /// How long the names of a heap are together, once its header was read; then they are next.
    names_bytes: AtomicU64,
    longest_name: AtomicU64,
}

impl Budget {
    pub(super) fn new(length: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let budget = Self { length, reads: zero(), bytes: zero(), names_bytes: zero(), longest_name: zero() };
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

impl Budget {
    /// Looks at what was read, and charges for the copies that the library makes of it.
    fn look(&self, read: &[u8]) -> bool {
        let names = self.names_bytes.swap(0, Ordering::Relaxed);
        if read.len() as u64 == names {
            let longest = read.split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or(0);
            self.longest_name.store(longest as u64, Ordering::Relaxed);
        } else if let Some(header) = read.strip_prefix(b"HEAP\0\0\0\0") {
            let bytes = header.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes));
            self.names_bytes.store(bytes, Ordering::Relaxed);
        } else if read.starts_with(b"SNOD") {
            let links = read.len() as u64 / LINK_BYTES;
            return self.spend(links.saturating_mul(self.longest_name.load(Ordering::Relaxed)));
        }
        true
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
            return Err(too_much());
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
        if self.budget.look(buffer) { Ok(()) } else { Err(too_much()) }
    }
}

fn too_much() -> FormatError {
    let problem = "its parts refer to each other more often than a file of its size can need";
    FormatError::Source(problem.to_owned())
}
