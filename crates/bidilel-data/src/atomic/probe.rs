//! Finds out before the work begins what would keep its result from being written after it.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::parent;
use super::temporary::Temporary;
use crate::error::{Error, Result};

/// Fails where [`write_atomically`](super::write_atomically) would fail on a file of about `bytes` bytes.
///
/// A temporary file is made in the same folder and removed again. Of a pipe or device nothing can be known.
pub fn probe(path: &Path, bytes: u64) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(Error::Kind { path: path.to_owned(), expected: "file", found: "folder" });
        }
        Ok(metadata) if !metadata.is_file() => return Ok(()),
        _ => {}
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    room_beside(&target, path, bytes, |folder| Temporary::file_in(folder).map(drop))
}

/// Fails where a folder of about `bytes` bytes could not be put at `path`.
pub fn probe_folder(path: &Path, bytes: u64) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    room_beside(&target, path, bytes, |folder| Temporary::folder_in(folder).map(drop))
}

fn room_beside(
    target: &Path,
    path: &Path,
    bytes: u64,
    make: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<()> {
    let folder = parent(target)?;
    make(&folder).map_err(|source| Error::Write { path: path.to_owned(), source })?;
    match free_bytes(&folder) {
        Some(free) if free < bytes => Err(Error::NoSpace { path: path.to_owned(), bytes, free }),
        _ => Ok(()),
    }
}

/// Bytes that this user may still write to a folder's disk; none where the system does not say.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Keeps other runs from writing to an open file until it is closed, or fails if one does.
pub fn lock_for_writing(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Locked { path: path.to_owned() }),
        // A file system without locks keeps nobody from working on it.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_before_the_work_what_would_fail_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let message = |name: &str, bytes| probe(&at(name), bytes).unwrap_err().to_string();
        assert!(probe(&at("new"), 1).is_ok() && probe_folder(&at("new"), 1).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a probe leaves nothing behind");
        assert!(message("a/b", 0).ends_with("a`: no such file or folder"));
        assert!(message("", 0).contains("expected a file, found a folder"));
        if cfg!(unix) {
            assert!(message("large", u64::MAX).contains("needs about"), "{}", message("large", u64::MAX));
        }
    }

    #[test]
    fn a_locked_file_is_refused_until_it_is_closed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || File::options().append(true).open(file.path()).unwrap();
        let first = open();
        lock_for_writing(&first, file.path()).unwrap();
        let error = lock_for_writing(&open(), file.path()).unwrap_err();
        assert!(error.to_string().ends_with("another run is writing to it") && error.hint().is_some());
        drop(first);
        assert!(lock_for_writing(&open(), file.path()).is_ok());
    }
}
