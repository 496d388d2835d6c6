//! The pictures and videos of a folder, in an order that does not depend on the machine.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::kind::{HEAD, Kind, is_unread_still};

/// Which files are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Only {
    /// Pictures and videos.
    #[default]
    Both,
    /// Pictures.
    Pictures,
    /// Videos.
    Videos,
}

/// Which folder of a path is the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelFrom {
    /// The first: `cats/indoors/1.jpg` is `cats`.
    #[default]
    Top,
    /// The last: `train/cats/1.jpg` is `cats`.
    Parent,
}

/// A file that a row of features is wanted of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it is.
    pub file: PathBuf,
    /// Its path within the folder, with `/` on every system; bytes that are no UTF-8 are written out, as `\\xe9`.
    pub path: String,
    /// The same path, byte for byte.
    pub raw_path: Vec<u8>,
    /// The subfolder that it is in; empty for none.
    pub label: String,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// Seconds and nanoseconds of its last change, as far as the system tells.
    pub(crate) changed: Option<(u64, u32)>,
    /// What it is, or why it cannot be that.
    pub(crate) kind: std::result::Result<Kind, String>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Pictures and videos, and files whose names promise one.
    pub items: Vec<Item>,
    /// Files that are neither, and do not claim to be.
    pub others: usize,
}

/// Looks through a folder and its subfolders. Hidden files and folders are left out.
pub fn discover(folder: &Path, only: Only, label: LabelFrom) -> Result<Found> {
    let mut files = Vec::new();
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => walk(folder, &[], &mut Vec::new(), &mut files)?,
        Ok(_) => {
            let name = folder.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
            files.push((folder.to_owned(), name));
        }
        Err(source) => return Err(reading(folder, source)),
    }
    files.sort_by(|a, b| a.1.cmp(&b.1));
    let count = files.len();
    let looked: Vec<Option<Item>> =
        files.into_par_iter().map(|(file, path)| look(file, path, label)).collect();
    let mut items: Vec<Item> = looked.into_iter().flatten().collect();
    let others = count - items.len();
    items.retain(|item| match (only, &item.kind) {
        (Only::Pictures, Ok(Kind::Video)) => false,
        (Only::Videos, kind) => kind == &Ok(Kind::Video),
        _ => true,
    });
    if items.is_empty() {
        return Err(Error::NothingThere { path: folder.to_owned(), files: count });
    }
    Ok(Found { items, others })
}

/// Whether a file is a picture or a video, or has the name of one.
pub fn is_visual(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
    // What comes through a pipe can be read only once, and not here.
    let special = fs::metadata(file).is_ok_and(|metadata| !metadata.is_file());
    !special && look(file.to_owned(), name, LabelFrom::Top).is_some()
}

/// Lists files below a folder; `above` are the folders that lead here, by their true names.
fn walk(
    folder: &Path,
    prefix: &[u8],
    above: &mut Vec<PathBuf>,
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<()> {
    let failed = |source| reading(folder, source);
    let name = fs::canonicalize(folder).map_err(failed)?;
    // A link to a folder above would go round for ever.
    if above.contains(&name) {
        return Ok(());
    }
    above.push(name);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let relative = if prefix.is_empty() { name.to_vec() } else { [prefix, b"/", name].concat() };
        // A link that leads nowhere is a file that cannot be read, and is said to be one.
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => walk(&path, &relative, above, files)?,
            Ok(metadata) if !metadata.is_file() => {}
            _ => files.push((path, relative)),
        }
    }
    above.pop();
    Ok(())
}

/// A path as text that no other path has.
fn shown(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

fn look(file: PathBuf, raw_path: Vec<u8>, from: LabelFrom) -> Option<Item> {
    let path = shown(&raw_path);
    let promised = Kind::promised(Path::new(&path));
    let head = head(&file);
    let kind = match &head {
        Ok((head, ..)) => match Kind::of(head) {
            // Any archive may be gzip; only a name makes a drawing of it.
            Some(Kind::Drawing) if head.starts_with(&[0x1f, 0x8b]) && !promised => return None,
            Some(kind) => Ok(kind),
            None if is_unread_still(head) => {
                Err("is a HEIC or AVIF picture, which is not read: save it as JPEG or PNG".to_owned())
            }
            None if !promised => return None,
            None if head.is_empty() => Err("is empty".to_owned()),
            None => Err("is no picture or video, whatever its name says".to_owned()),
        },
        Err(_) if !promised => return None,
        Err(error) => Err(format!("cannot be read: {error}")),
    };
    let mut folders = path.split('/').rev().skip(1);
    let label = match from {
        LabelFrom::Parent => folders.next(),
        LabelFrom::Top => folders.last(),
    };
    let label = label.unwrap_or_default().to_owned();
    let (length, changed) = head.map_or((0, None), |(_, length, changed)| (length, changed));
    Some(Item { file, path, raw_path, label, length, changed, kind })
}

type Head = (Vec<u8>, u64, Option<(u64, u32)>);

fn head(file: &Path) -> std::io::Result<Head> {
    let open = File::open(file)?;
    let metadata = open.metadata()?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let mut head = Vec::with_capacity(HEAD);
    open.take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head, metadata.len(), changed.map(|time| (time.as_secs(), time.subsec_nanos()))))
}

fn reading(path: &Path, source: std::io::Error) -> Error {
    let path = path.to_owned();
    Error::Data(match source.kind() {
        std::io::ErrorKind::NotFound => bidilel_data::Error::NotFound { path },
        _ => bidilel_data::Error::Read { path, source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_content_in_order_with_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, bytes: &[u8]| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        put("b/x/1", b"<svg/>");
        put("a/2.svg", b"<svg/>");
        put("a/10.png", b"not at all");
        put("a/notes.txt", b"hello");
        put("a/.hidden/3.svg", b"<svg/>");
        put("film.avi", b"RIFF\0\0\0\0AVI LIST");
        put("none.jpg", b"");
        put("phone", b"\0\0\0\x20ftypheic");
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), folder.path().join("b/loop")).unwrap();
        let found = discover(folder.path(), Only::Both, LabelFrom::Top).unwrap();
        let shown: Vec<(&str, &str)> =
            found.items.iter().map(|item| (item.path.as_str(), item.label.as_str())).collect();
        let expected = [
            ("a/10.png", "a"),
            ("a/2.svg", "a"),
            ("b/x/1", "b"),
            ("film.avi", ""),
            ("none.jpg", ""),
            ("phone", ""),
        ];
        assert_eq!(shown, expected);
        assert_eq!(found.others, 1);
        assert!(found.items[0].kind.as_ref().unwrap_err().contains("whatever its name says"));
        assert_eq!(found.items[4].kind, Err("is empty".to_owned()));
        assert!(found.items[5].kind.as_ref().unwrap_err().contains("HEIC"));
        let parents = discover(folder.path(), Only::Pictures, LabelFrom::Parent).unwrap();
        assert_eq!(parents.items[2].label, "x");
        assert_eq!(parents.items.len(), 5);
        assert_eq!(discover(folder.path(), Only::Videos, LabelFrom::Top).unwrap().items.len(), 1);
        assert!(discover(&folder.path().join("a/notes.txt"), Only::Both, LabelFrom::Top).is_err());
        assert!(discover(&folder.path().join("nowhere"), Only::Both, LabelFrom::Top).is_err());
    }
}
