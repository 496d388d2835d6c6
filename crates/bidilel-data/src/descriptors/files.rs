//! A file an item: those of a folder and its subfolders, or those that a text file lists.

use std::fs;
use std::path::{Path, PathBuf};

use bidilel::dataset::Rows;
use bidilel::encode::{AnyError, Items};
use rayon::prelude::*;

use super::{Collection, Options, origin};
use crate::array::Array;
use crate::container::{Container, EntryKind};
use crate::error::{Error, Result};
use crate::text;

/// What the files of descriptors end in.
const EXTENSIONS: [&str; 10] =
    ["npy", "npz", "mat", "safetensors", "h5", "hdf5", "csv", "tsv", "txt", "parquet"];
/// Subfolders within each other, at most: deeper ones are a loop.
const DEEPEST: usize = 32;

/// The items in a folder and its subfolders, by name.
pub fn folder(path: &Path, options: &Options) -> Result<Collection> {
    let mut found = Found::default();
    found.walk(path, 0)?;
    let Found { files, others } = found;
    if files.is_empty() {
        let problem = format!("has no file of descriptors (.{})", EXTENSIONS.join(", ."));
        return Err(Error::Malformed { path: path.to_owned(), problem });
    }
    let relative: Vec<&Path> = files.iter().map(|file| file.strip_prefix(path).unwrap_or(file)).collect();
    let name = |path: &Path| path.to_string_lossy().replace('\\', "/");
    let names: Vec<String> = relative.iter().map(|file| name(file)).collect();
    let folder_of = |file: &&Path| {
        let mut parts = file.components();
        let first = parts.next()?;
        parts.next().map(|_| first.as_os_str().to_string_lossy().into_owned())
    };
    let folders = Some(relative.iter().map(folder_of).collect());
    let mut notes = Vec::new();
    if let Some(first) = others.first() {
        let count = others.len();
        let what = if count == 1 { "file is" } else { "files are" };
        notes.push(format!("{count} other {what} left out, such as {}", origin(first)));
    }
    let items = Files::scan(files, options)?;
    Ok(Collection { items: Box::new(items), names, folders, notes })
}

/// The items that a text file lists, one path per line, relative to its folder.
pub fn list(path: &Path, options: &Options) -> Result<Collection> {
    let listed = text::read_list(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = listed.items.iter().map(|item| folder.join(item)).collect();
    let items = Files::scan(files, options)?;
    Ok(Collection { items: Box::new(items), names: listed.items, folders: None, notes: Vec::new() })
}

/// What a walk through folders comes across.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

impl Found {
    fn walk(&mut self, folder: &Path, depth: usize) -> Result<()> {
        let failed = |source| Error::Read { path: folder.to_owned(), source };
        if depth > DEEPEST {
            let problem = format!("more than {DEEPEST} folders lie within each other");
            return Err(Error::Malformed { path: folder.to_owned(), problem });
        }
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !entry.file_name().to_string_lossy().starts_with('.') {
                paths.push(entry.path());
            }
        }
        // The system's own order is none.
        paths.sort();
        for path in paths {
            let known = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|own| end == *own));
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => self.walk(&path, depth + 1)?,
                _ if known => self.files.push(path),
                _ => self.others.push(path),
            }
        }
        Ok(())
    }
}

/// Files, each with the descriptors of one item.
struct Files {
    paths: Vec<PathBuf>,
    counts: Vec<usize>,
    dim: usize,
    options: Options,
}

impl Files {
    /// Looks into every file for the number of its descriptors.
    fn scan(paths: Vec<PathBuf>, options: &Options) -> Result<Self> {
        let sizes: Vec<Result<Option<(usize, usize)>>> = paths
            .par_iter()
            .map(|path| Ok(open(path, options)?.map(|array| (array.rows(), array.columns()))))
            .collect();
        let mut first: Option<(usize, usize)> = None;
        let mut counts = Vec::with_capacity(paths.len());
        for (item, size) in sizes.into_iter().enumerate() {
            let Some((rows, found)) = size? else {
                counts.push(0);
                continue;
            };
            let &mut (model, expected) = first.get_or_insert((item, found));
            if found != expected {
                let problem = format!(
                    "expected descriptors of {expected} dimensions, as in {}, found {found}",
                    origin(&paths[model])
                );
                return Err(Error::Malformed { path: paths[item].clone(), problem });
            }
            counts.push(rows);
        }
        let dim = first.map_or(0, |(_, dim)| dim);
        Ok(Self { paths, counts, dim, options: options.clone() })
    }
}

/// The descriptors in a file; none where it is an array without rows, or a file without a byte.
fn open(path: &Path, options: &Options) -> Result<Option<Array>> {
    let container = match Container::open(path) {
        Err(Error::Empty { .. }) => return Ok(None),
        other => other?,
    };
    let entry = container.entry(options.key.as_deref(), &[EntryKind::Numbers])?;
    if entry.shape.contains(&0) {
        return Ok(None);
    }
    options.array(&container).map(Some)
}

impl Items for Files {
    fn count(&self) -> usize {
        self.paths.len()
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn descriptors(&self, item: usize) -> usize {
        self.counts[item]
    }
    fn open(&self, item: usize) -> Result<Box<dyn Rows + '_>, AnyError> {
        let path = &self.paths[item];
        match open(path, &self.options)? {
            Some(array) => Ok(Box::new(array)),
            None => Err(Error::Empty { path: path.clone() }.into()),
        }
    }
    fn origin(&self, item: usize) -> String {
        origin(&self.paths[item])
    }
    fn locate(&self, item: usize, row: usize, column: usize) -> (String, usize, usize) {
        (self.origin(item), row, self.options.column(column))
    }
}
