//! One way to open a file: its bytes, with an error that says what is there instead.
//!
//! Small files and pipes are read, large files mapped. A map shows what others do to the file: where somebody writes into it or cuts it
//! off, numbers change while they are computed with, the last page silently ends in zeros, and what lies beyond it cannot
//! be read at all. No reader can prevent that, so large files are looked at again before a result is given out
//! ([`check_unchanged`]), and a program can ask whose bytes a fault was in ([`mapped_at`]).

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use crate::error::{Error, Result};

/// Files up to this size are copied: that takes less than a millisecond, and nobody can change them any more.
const COPIED_BYTES: u64 = 4 << 20;

/// What is asked of a pipe at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Maps that are in use.
static MAPPED: Mutex<Vec<Arc<Mapped>>> = Mutex::new(Vec::new());
/// Files that were found changed when their map was given up.
static CHANGED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The bytes of a file.
#[derive(Debug)]
pub struct FileBytes(Held);

#[derive(Debug)]
enum Held {
    Copy(Vec<u8>),
    Map(Arc<Mapped>),
}

/// A mapped file as it was when it was opened.
#[derive(Debug)]
struct Mapped {
    map: Mmap,
    path: PathBuf,
    file: File,
    stamp: Stamp,
}

/// What changes when somebody writes into a file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Mapped {
    /// Where an address lies within the map.
    fn offset_of(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.map.as_ptr().addr()).filter(|&offset| offset < self.map.len())
    }

    fn has_changed(&self) -> bool {
        // A file that cannot be looked at any more, as after a lost connection, is not the one that was opened.
        self.file.metadata().map_or(true, |metadata| Stamp::of(&metadata) != self.stamp)
    }
}

/// Fails if a large file was written to after it was opened here: what was read of it may be of no one state of it.
pub fn check_unchanged() -> Result<()> {
    let changed = lock(&MAPPED).iter().find(|mapped| mapped.has_changed()).map(|mapped| mapped.path.clone());
    match changed.or_else(|| lock(&CHANGED).first().cloned()) {
        Some(path) => Err(Error::Changed { path }),
        None => Ok(()),
    }
}

/// The mapped file that an address lies in: whose bytes a fault was in.
pub fn mapped_at(address: usize) -> Option<PathBuf> {
    let mapped = lock(&MAPPED);
    mapped.iter().find(|mapped| mapped.offset_of(address).is_some()).map(|mapped| mapped.path.clone())
}

/// Releases the pages of bytes that were read, where these lie in a mapped file.
///
/// Pages count as memory of the process from when they are read until the map is closed. Reading them again loads them
/// again, so a sequential reader may release what lies behind it.
pub(crate) fn release(bytes: &[u8]) {
    let start = bytes.as_ptr().addr();
    let find = |mapped: &Arc<Mapped>| mapped.offset_of(start).map(|offset| (mapped.clone(), offset));
    let found = lock(&MAPPED).iter().find_map(find);
    #[cfg(unix)]
    if let Some((mapped, offset)) = found {
        #[expect(
            unsafe_code,
            reason = "a shared map of a file that is only read: released pages have the same bytes when they are loaded again"
        )]
        // It is advice: where the system does not take it, memory stays as it is.
        let _ = unsafe { mapped.map.unchecked_advise_range(UncheckedAdvice::DontNeed, offset, bytes.len()) };
    }
    #[cfg(not(unix))]
    drop(found);
}

/// The bytes of a file; those of a large one are not read yet.
pub fn map(path: &Path) -> Result<FileBytes> {
    let read = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NotFound { path: path.to_owned() },
        _ => Error::Read { path: path.to_owned(), source },
    };
    let kind = |found| Error::Kind { path: path.to_owned(), expected: "file", found };
    // Looked at before it is opened: opening a pipe would wait for its other end.
    let metadata = fs::metadata(path).map_err(read)?;
    if metadata.is_dir() {
        return Err(kind("folder"));
    }
    if !metadata.is_file() {
        // What comes through a pipe comes once: it is kept.
        return if is_pipe(&metadata) {
            read_all(path, File::open(path).map_err(read)?)
        } else {
            Err(kind("device"))
        };
    }
    let mut file = File::open(path).map_err(read)?;
    let stamp = Stamp::of(&file.metadata().map_err(read)?);
    if stamp.length == 0 {
        return Err(Error::Empty { path: path.to_owned() });
    }
    if stamp.length <= COPIED_BYTES {
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(COPIED_BYTES + 1).read_to_end(&mut bytes).map_err(read)?;
        let unchanged = file.metadata().is_ok_and(|after| Stamp::of(&after) == stamp);
        return if unchanged && bytes.len() as u64 == stamp.length {
            Ok(FileBytes(Held::Copy(bytes)))
        } else {
            Err(Error::Changed { path: path.to_owned() })
        };
    }
    #[expect(
        unsafe_code,
        reason = "a map is only sound while nobody shortens the file, which no reader can prevent; see the top"
    )]
    let map = unsafe { Mmap::map(&file).map_err(read)? };
    let mapped = Arc::new(Mapped { map, path: path.to_owned(), file, stamp });
    lock(&MAPPED).push(mapped.clone());
    Ok(FileBytes(Held::Map(mapped)))
}

/// All that comes out of a pipe; `path` is its name in messages.
pub fn read_all(path: &Path, mut from: impl Read) -> Result<FileBytes> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    loop {
        // A stream of any length must not end the program where memory ends.
        bytes.try_reserve(PIECE_BYTES).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        let piece = (&mut from).take(PIECE_BYTES as u64).read_to_end(&mut bytes).map_err(failed)?;
        match (piece, bytes.is_empty()) {
            (0, true) => return Err(Error::Empty { path: path.to_owned() }),
            (0, false) => return Ok(FileBytes(Held::Copy(bytes))),
            _ => {}
        }
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo() || metadata.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

impl Deref for FileBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Copy(bytes) => bytes,
            Held::Map(mapped) => &mapped.map,
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for FileBytes {
    fn drop(&mut self) {
        let Held::Map(mapped) = &self.0 else { return };
        lock(&MAPPED).retain(|other| !Arc::ptr_eq(other, mapped));
        if mapped.has_changed() {
            lock(&CHANGED).push(mapped.path.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_there_instead_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| map(path).unwrap_err().to_string();
        assert!(message(folder.path()).ends_with("`: expected a file, found a folder"));
        let path = folder.path().join("x");
        assert!(message(&path).ends_with("x`: no such file or folder"));
        fs::write(&path, "").unwrap();
        assert!(message(&path).ends_with("x`: the file is empty"));
        assert!(message(&path.join("y")).ends_with("y`: no such file or folder"));
        fs::write(&path, "abc").unwrap();
        assert_eq!(&map(&path).unwrap()[..], b"abc");
    }

    #[test]
    fn a_small_file_stays_what_it_was_and_a_large_one_is_found_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (small, large) = (folder.path().join("small"), folder.path().join("large"));
        fs::write(&small, "abc").unwrap();
        fs::write(&large, vec![7; 6 << 20]).unwrap();
        let (copied, mapped) = (map(&small).unwrap(), map(&large).unwrap());
        fs::write(&small, "").unwrap();
        assert_eq!(&copied[..], b"abc");
        assert!(check_unchanged().is_ok());
        let inside = mapped.as_ptr().addr() + (5 << 20);
        assert_eq!(mapped_at(inside).as_deref(), Some(large.as_path()));
        assert_eq!(mapped_at(inside + (2 << 20)), None);
        // Within its last page: reading on would give zeros, and no fault.
        File::options().write(true).open(&large).unwrap().set_len((6 << 20) - 1).unwrap();
        let message = check_unchanged().unwrap_err().to_string();
        assert!(message.ends_with("large`: was changed while it was being read"), "{message}");
        drop(mapped);
        assert!(check_unchanged().is_err(), "what was read stays in doubt");
        // Other tests of this process read their own files.
        lock(&CHANGED).clear();
    }
}
