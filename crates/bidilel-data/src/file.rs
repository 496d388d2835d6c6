//! One way to open a file: mapped, with an error that says what is there instead.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// The bytes of a file, without reading them yet.
pub fn map(path: &Path) -> Result<Mmap> {
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
        return Err(kind("pipe or device"));
    }
    if metadata.len() == 0 {
        return Err(Error::Empty { path: path.to_owned() });
    }
    let file = File::open(path).map_err(read)?;
    #[expect(
        unsafe_code,
        reason = "a map is only sound while nobody shortens the file, which no reader can check"
    )]
    unsafe {
        Mmap::map(&file).map_err(read)
    }
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
}
