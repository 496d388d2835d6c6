//! Copies that never replace anything, and folders for the time of a run.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::temporary::Temporary;
use crate::error::{Error, Result};

/// Bytes of two files that are compared at a time.
const COMPARED_BYTES: usize = 1 << 16;
/// Names that are tried for a copy.
const MOST_NAMES: usize = 100_000;

/// A folder that is gone when the program is, whatever ends it.
#[derive(Debug)]
pub struct TemporaryFolder(Temporary<TempDir>);

impl TemporaryFolder {
    /// An empty folder where the system has such.
    pub fn new() -> Result<Self> {
        let folder = std::env::temp_dir();
        let failed = |source| Error::Write { path: folder.clone(), source };
        Temporary::folder_in(&folder).map(Self).map_err(failed)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.owned.path()
    }
}

/// Copies a file into a folder under its own name, with the time of its last change; gives the copy's path.
///
/// Nothing is replaced: where another file has the name, the copy is called `name-2`, `name-3`, .... A copy that is there
/// already, byte for byte, is left alone. It appears whole or not at all.
pub fn copy_into(from: &Path, folder: &Path) -> Result<PathBuf> {
    let name = from.file_name().unwrap_or_default();
    let (stem, ending) = (Path::new(name).file_stem().unwrap_or_default(), Path::new(name).extension());
    let numbered = |number: usize| {
        let mut name = stem.to_owned();
        if number > 1 {
            name.push(format!("-{number}"));
        }
        if let Some(ending) = ending {
            name.push(".");
            name.push(ending);
        }
        folder.join(name)
    };
    let reading = |source| Error::Read { path: from.to_owned(), source };
    for target in (1..=MOST_NAMES).map(numbered) {
        if target.symlink_metadata().is_ok() {
            if is_same(from, &target).map_err(reading)? {
                return Ok(target);
            }
            continue;
        }
        let writing = |source| Error::Write { path: target.clone(), source };
        let mut source = File::open(from).map_err(reading)?;
        let mut copy = Temporary::file_in(folder).map_err(writing)?;
        io::copy(&mut source, copy.owned.as_file_mut()).map_err(writing)?;
        let changed = source.metadata().and_then(|metadata| metadata.modified());
        // A time that a file system does not keep is no reason to have no copy.
        let _ = changed.and_then(|time| copy.owned.as_file().set_modified(time));
        copy.owned.as_file().sync_all().map_err(writing)?;
        match copy.put(|file| file.persist_noclobber(&target)) {
            Ok(_) => return Ok(target),
            // Another run took the name in between: the next one is tried.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(writing(error.error)),
        }
    }
    Err(Error::Exists { path: numbered(1) })
}

/// Whether two files have the same bytes.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let Ok(metadata) = fs::metadata(other) else { return Ok(false) };
    if !metadata.is_file() || metadata.len() != fs::metadata(one)?.len() {
        return Ok(false);
    }
    let Ok(other) = File::open(other) else { return Ok(false) };
    let (mut one, mut other) = (File::open(one)?, other);
    loop {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        (&mut one).take(COMPARED_BYTES as u64).read_to_end(&mut a)?;
        (&mut other).take(COMPARED_BYTES as u64).read_to_end(&mut b)?;
        if a != b {
            return Ok(false);
        }
        if a.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced_and_nothing_is_copied_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("out")).unwrap();
        for (place, text) in [("a", "one"), ("b", "two"), ("c", "one")] {
            fs::create_dir(at(place)).unwrap();
            fs::write(at(place).join("1.jpg"), text).unwrap();
        }
        let copy = |place: &str| copy_into(&at(place).join("1.jpg"), &at("out")).unwrap();
        assert_eq!(copy("a"), at("out/1.jpg"));
        assert_eq!(copy("b"), at("out/1-2.jpg"));
        assert_eq!(copy("c"), at("out/1.jpg"), "the same bytes are there");
        assert_eq!(copy("b"), at("out/1-2.jpg"));
        assert_eq!(fs::read_to_string(at("out/1.jpg")).unwrap(), "one");
        assert_eq!(fs::read_to_string(at("out/1-2.jpg")).unwrap(), "two");
        assert_eq!(fs::read_dir(at("out")).unwrap().count(), 2, "nothing temporary is left");
        let changed = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(changed(at("a/1.jpg")), changed(at("out/1.jpg")));
        assert!(copy_into(&at("nowhere.jpg"), &at("out")).is_err());
        let scratch = TemporaryFolder::new().unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("x"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
