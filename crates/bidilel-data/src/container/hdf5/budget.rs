//! What reading one file may take, counted where its bytes are read.
//!
//! Parts of an HDF5 file refer to each other by address, and nothing keeps them from doing so again and again: 21 small
//! B-tree nodes that each name the next one twice make two million paths of 5 KB. The library follows them all. Every step
//! of it is a read, so reads and bytes are counted, and more of them than an honest file of that size can need end it.
//!
//! Some things take memory or stack without a read, and are looked at when their header passes by:
//!
//! - The links of an old-style group name places in one heap, and each gets a copy of the name there. So a node of links is
//!   charged for the longest name of the heap that was read before it.
//! - The header of an extensible array says how many data blocks there are, up to 2^127; the library lists them. Each needs
//!   an address in the file.
//! - A message in the heap of shared messages can be longer than any other, and a datatype in it more deeply nested than a
//!   stack is long. Files with such a heap have no part of metadata above [`MAX_MESSAGE_BYTES`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
/// The longest message of an object header: its length has 16 bits.
const MAX_MESSAGE_BYTES: usize = 1 << 16;
/// The least that an address takes.
const ADDRESS_BYTES: u64 = 2;

/// Reads and bytes that are left.
#[derive(Debug)]
pub(super) struct Budget {
    length: u64,
    reads: AtomicU64,
    bytes: AtomicU64,
    /// How long the names of a heap are together, once its header was read; then they are next.
    names_bytes: AtomicU64,
    longest_name: AtomicU64,
    /// Whether the file has a table of shared messages.
    shares_messages: AtomicBool,
}

impl Budget {
    pub(super) fn new(length: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let budget = Self {
            length,
            reads: zero(),
            bytes: zero(),
            names_bytes: zero(),
            longest_name: zero(),
            shares_messages: AtomicBool::new(false),
        };
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
        } else if read.starts_with(b"SMTB") {
            self.shares_messages.store(true, Ordering::Relaxed);
        } else if let Some(header) = read.strip_prefix(b"EAHD") {
            return extensible_array_blocks(header) <= self.length / ADDRESS_BYTES;
        }
        true
    }
}

/// The data blocks whose addresses the index block of an extensible array lists, by the array's header.
///
/// Bytes after the signature: version, client, element size, bits of the element count, elements in the index block,
/// elements of the smallest data block, super blocks in the index block.
fn extensible_array_blocks(header: &[u8]) -> u64 {
    let &[_, _, _, count_bits, _, least, direct, ..] = header else { return 0 };
    let levels = u32::from(count_bits).saturating_sub(u32::from(least).max(1).trailing_zeros()) + 1;
    // Every second level has twice as many blocks.
    (0..levels.min(direct.into()))
        .fold(0, |blocks: u64, level| blocks.saturating_add(1_u64.checked_shl(level / 2).unwrap_or(u64::MAX)))
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

    fn read_exact_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, FormatError> {
        let available = self.len();
        if offset.checked_add(length as u64).is_none_or(|end| end > available) {
            return Err(FormatError::UnexpectedEof {
                expected: usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(length),
                available: usize::try_from(available).unwrap_or(usize::MAX),
            });
        }
        let mut buffer = Vec::new();
        let no_memory = |_| FormatError::Source(format!("not enough memory for {length} bytes of it"));
        buffer.try_reserve_exact(length).map_err(no_memory)?;
        buffer.resize(length, 0);
        self.read_at(offset, &mut buffer)?;
        Ok(buffer)
    }

    fn read_metadata_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, FormatError> {
        if length > MAX_MESSAGE_BYTES && self.budget.shares_messages.load(Ordering::Relaxed) {
            let problem = format!("a shared message of {length} bytes is longer than {MAX_MESSAGE_BYTES}");
            return Err(FormatError::Source(problem));
        }
        self.read_exact_at(offset, length)
    }
}

fn too_much() -> FormatError {
    let problem = "its parts refer to each other more often than a file of its size can need";
    FormatError::Source(problem.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn long_metadata_is_refused_where_messages_are_shared() {
        let mut bytes = vec![0_u8; 1 << 18];
        bytes[..4].copy_from_slice(b"SMTB");
        let budget = Arc::new(Budget::new(bytes.len() as u64));
        let source = Metered { bytes: Arc::new(bytes), budget };
        let long = MAX_MESSAGE_BYTES + 1;
        assert_eq!(source.read_metadata_at(8, long).map(|read| read.len()), Ok(long));
        assert!(source.read_metadata_at(0, 40).is_ok());
        // A datatype of 8 bytes a level would be 8,192 levels deep.
        let error = source.read_metadata_at(8, long).unwrap_err().to_string();
        assert!(error.contains("a shared message of 65537 bytes is longer than 65536"), "{error}");
        assert!(source.read_metadata_at(8, long - 1).is_ok() && source.read_exact_at(8, long).is_ok());
        assert!(source.read_exact_at(8, 1 << 18).is_err(), "it ends before");
    }

    #[test]
    fn the_blocks_of_an_extensible_array_are_counted() {
        // As the reference library writes it: 32 bits, blocks of 16 elements, 4 levels in the index block.
        assert_eq!(extensible_array_blocks(&[0, 0, 8, 32, 4, 16, 4, 10]), 1 + 1 + 2 + 2);
        assert_eq!(extensible_array_blocks(&[0, 0, 8, 255, 4, 1, 255, 10]), u64::MAX);
    }
}
