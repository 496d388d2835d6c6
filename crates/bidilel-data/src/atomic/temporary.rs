//! Files and folders under temporary names: who owns them, and who removes them.
//!
//! Whatever is under way is known to the process, so that a signal can remove it ([`remove_temporaries`]), and locked, so
//! that other processes can tell it from the orphan of one that was killed: the lock of an orphan is free. The next run that
//! writes into the same folder removes those.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempDir};

/// How temporary names begin; six letters and digits follow.
const PREFIX: &str = ".bidilel-";
const RANDOM_LETTERS: usize = 6;
/// How often a folder is removed that others write to.
const REMOVAL_ATTEMPTS: usize = 1000;

/// Everything of this process that has a temporary name.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Folders that were searched for orphans.
static SEARCHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes what this process has under temporary names, and runs `then` before anything new can get one.
///
/// For a program that is told to stop: `then` is to end it.
pub fn remove_temporaries(then: impl FnOnce()) {
    let live = live();
    live.iter().for_each(|path| remove(path));
    then();
}

/// A temporary file or folder of this process.
#[derive(Debug)]
pub(super) struct Temporary<T> {
    pub(super) owned: T,
    /// Held for as long as it is under way; a folder is locked by a handle of its own.
    _lock: Option<File>,
    entry: Live,
}

/// An entry in the list of what is under way.
#[derive(Debug)]
struct Live(PathBuf);

impl Drop for Live {
    fn drop(&mut self) {
        live().remove(&self.0);
    }
}

impl Temporary<NamedTempFile> {
    /// An empty file in a folder, with the permissions of an ordinary new file.
    pub(super) fn file_in(folder: &Path) -> io::Result<Self> {
        create(folder, 0o666, |builder| {
            let file = builder.tempfile_in(folder)?;
            let lock = file.as_file().try_clone().ok();
            Ok((file.path().to_owned(), file, lock))
        })
    }
}

impl Temporary<TempDir> {
    /// An empty folder in a folder.
    pub(super) fn folder_in(folder: &Path) -> io::Result<Self> {
        create(folder, 0o777, |builder| {
            let folder = builder.tempdir_in(folder)?;
            // Some systems do not open folders.
            let lock = File::open(folder.path()).ok();
            Ok((folder.path().to_owned(), folder, lock))
        })
    }
}

impl<T> Temporary<T> {
    /// Gives it its final name: after that it is no more temporary.
    pub(super) fn put<R>(self, rename: impl FnOnce(T) -> R) -> R {
        let result = rename(self.owned);
        drop(self.entry);
        result
    }
}

fn create<T>(
    folder: &Path,
    mode: u32,
    make: impl Fn(&Builder<'_, '_>) -> io::Result<(PathBuf, T, Option<File>)>,
) -> io::Result<Temporary<T>> {
    remove_orphans(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM_LETTERS);
    // What is temporary is private by default, and would stay so after the rename; the umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    loop {
        let mut live = live();
        let (path, owned, lock) = make(&builder)?;
        live.insert(path.clone());
        drop(live);
        let entry = Live(path);
        // Where a file system has no locks, nothing is ever taken for an orphan.
        let lock = lock.filter(|lock| lock.lock().is_ok());
        // Between its making and its locking another run may have taken it for one, and removed it.
        if entry.0.try_exists().unwrap_or(true) {
            return Ok(Temporary { owned, _lock: lock, entry });
        }
    }
}

/// Removes what a killed process has left in a folder: what has a temporary name and a free lock.
fn remove_orphans(folder: &Path) {
    let key = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    if !SEARCHED.lock().unwrap_or_else(PoisonError::into_inner).insert(key) {
        return;
    }
    // An orphan that cannot be removed is in nobody's way.
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let path = entry.path();
        // A link is not ours, wherever it leads.
        if entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir())
            && let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            remove(&path);
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_LETTERS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn remove(path: &Path) {
    // The other kind fails and does nothing.
    if fs::remove_file(path).is_ok() {
        return;
    }
    // Other threads may still put files into a folder, which is then not empty when it is to go.
    for _ in 0..REMOVAL_ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orphans_go_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(".bidilel-abc123"), "an orphan").unwrap();
        fs::create_dir(at(".bidilel-Folder")).unwrap();
        fs::write(at(".bidilel-Folder/labels.npy"), "half").unwrap();
        fs::write(at(".bidilel-locked"), "another run's").unwrap();
        let held = File::open(at(".bidilel-locked")).unwrap();
        held.lock().unwrap();
        let kept = [".bidilel-notes.txt", ".bidilel-", "features.npy.part", "features.npy.part.jsonl"];
        kept.iter().for_each(|name| fs::write(at(name), "").unwrap());
        let temporary = Temporary::file_in(folder.path()).unwrap();
        assert!(!at(".bidilel-abc123").exists() && !at(".bidilel-Folder").exists());
        assert!(at(".bidilel-locked").exists() && kept.iter().all(|name| at(name).exists()));
        let path = temporary.owned.path().to_owned();
        assert!(is_temporary(path.file_name().unwrap()));
        assert!(live().contains(&path));
        drop(temporary);
        assert!(!path.exists() && !live().contains(&path));
    }
}
