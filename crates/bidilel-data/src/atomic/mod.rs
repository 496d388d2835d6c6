//! Files and folders that appear complete or not at all.

mod copies;
mod probe;
mod temporary;

pub use copies::{TemporaryFolder, copy_into};
pub use probe::{lock_for_writing, probe, probe_folder};
pub use temporary::remove_temporaries;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result};
use temporary::Temporary;

/// Writes a file under a temporary name in the same folder, and renames it when it is complete and on the disk.
///
/// Whatever fails, nothing half-written is left under `path`, and a file that was there before stays as it was. A new
/// file keeps the permissions of the one that it replaces: what was private stays private. A
/// pipe or device (`/dev/stdout`) is written to directly: there is nothing to replace.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("answer.txt");
/// bidilel_data::write_atomically(&path, |file| writeln!(file, "42"))?;
/// assert_eq!(std::fs::read_to_string(path)?, "42\n");
/// # Ok(())
/// # }
/// ```
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let before = fs::metadata(path);
    match &before {
        Ok(metadata) if metadata.is_dir() => {
            return Err(Error::Kind { path: path.to_owned(), expected: "file", found: "folder" });
        }
        Ok(metadata) if !metadata.is_file() => {
            let mut file = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
            return write(&mut file).and_then(|()| file.flush()).map_err(failed);
        }
        _ => {}
    }
    // A link keeps pointing to the file that it names.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = parent(&target)?;
    let mut temporary = Temporary::file_in(&folder).map_err(failed)?;
    if let Ok(before) = before {
        // Before the first byte, so that nobody can read what only some may.
        temporary.owned.as_file().set_permissions(before.permissions()).map_err(failed)?;
    }
    let mut buffered = BufWriter::new(&mut temporary.owned);
    write(&mut buffered).and_then(|()| buffered.flush()).map_err(failed)?;
    drop(buffered);
    temporary.owned.as_file().sync_all().map_err(failed)?;
    temporary.put(|file| file.persist(&target)).map_err(|error| failed(error.error))?;
    sync_folder(&folder).map_err(failed)
}

/// An empty folder beside `path` that becomes `path` by [`put_folder`] and disappears otherwise.
pub(crate) struct FolderBeside(Temporary<TempDir>);

impl FolderBeside {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        Temporary::folder_in(&parent(path)?).map(Self).map_err(failed)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.owned.path()
    }
}

/// Gives a complete folder its name; what has that name is moved away first, and removed last.
pub(crate) fn put_folder(complete: FolderBeside, path: &Path) -> Result<()> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let old = if path.exists() {
        let old = FolderBeside::new(path)?;
        fs::rename(path, old.path().join("old")).map_err(failed)?;
        Some(old)
    } else {
        None
    };
    sync_folder(complete.path()).map_err(failed)?;
    if let Err(source) = fs::rename(complete.path(), path) {
        if let Some(old) = &old {
            // The first error is the one to tell; if this fails too, the system is beyond our help.
            let _ = fs::rename(old.path().join("old"), path);
        }
        return Err(failed(source));
    }
    // It has another name now, so there is nothing left to remove under the temporary one.
    complete.0.put(TempDir::keep);
    sync_folder(&parent(path)?).map_err(failed)
}

/// Has the system write down which names a folder has: a rename alone may be lost with the power.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced.map_err(|error| (error.kind(), error)) {
        // Some systems do not open folders, or do not sync them; the file itself is safe in any case.
        Err((
            io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported,
            _,
        )) => Ok(()),
        synced => synced.map_err(|(_, error)| error),
    }
}

/// The folder that a file is in; it must exist.
fn parent(path: &Path) -> Result<PathBuf> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match fs::metadata(parent) {
        Ok(metadata) if metadata.is_dir() => Ok(parent.to_owned()),
        Ok(_) => Err(Error::Kind { path: parent.to_owned(), expected: "folder", found: "file" }),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(Error::NotFound { path: parent.to_owned() })
        }
        Err(source) => Err(Error::Read { path: parent.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let fail = |file: &mut dyn Write| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        let error = write_atomically(&path, fail).unwrap_err();
        assert!(error.to_string().ends_with("model`: cannot be written"));
        assert!(error.hint().unwrap().contains("disk is full"));
        assert!(names(folder.path()).is_empty());

        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        assert!(write_atomically(&path, fail).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[test]
    fn says_where_it_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| write_atomically(path, |_| Ok(())).unwrap_err().to_string();
        assert!(message(folder.path()).ends_with("`: expected a file, found a folder"));
        assert!(message(&folder.path().join("a/b")).ends_with("a`: no such file or folder"));
        fs::write(folder.path().join("c"), "c").unwrap();
        assert!(message(&folder.path().join("c/d")).ends_with("c`: expected a folder, found a file"));
    }

    #[cfg(unix)]
    #[test]
    fn keeps_links_devices_and_ordinary_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link, plain) =
            (folder.path().join("file"), folder.path().join("link"), folder.path().join("plain"));
        fs::write(&file, "old").unwrap();
        fs::write(&plain, "").unwrap();
        symlink(&file, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&plain));
        for private in [0o600, 0o640, 0o777] {
            fs::set_permissions(&file, PermissionsExt::from_mode(private)).unwrap();
            write_atomically(&link, |out| out.write_all(b"newer")).unwrap();
            assert_eq!(mode(&file) & 0o777, private, "a target keeps its permissions");
        }
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
    }
}
