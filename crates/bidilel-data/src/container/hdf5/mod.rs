//! HDF5 files, and the MATLAB files of version 7.3 that are HDF5 inside.
//!
//! A key is the path of a dataset, with dots or slashes: `a.b` and `/a/b` are the same. MATLAB writes columns first,
//! so what it calls m x n is stored as n x m: such files show the shape that MATLAB shows, any other file its own.
//! What lies in one piece is mapped; what is in chunks is decompressed when it is asked for.

mod budget;
mod content;
mod raw;
mod stream;
mod text;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hdf5_pure::{Dataset, File, FormatError, Object};

use super::{Entry, EntryKind, Reader, RowStream, path_of};
use crate::array::{Array, Bytes, Layout, Order};
use crate::error::{Error, Result};
use budget::{Budget, Metered};
use content::{Content, content, is_empty, matlab_content};
use tree::{Node, walk};

pub(super) struct Hdf5 {
    path: PathBuf,
    bytes: Bytes,
    matlab: bool,
    nodes: Vec<Node>,
    budget: Arc<Budget>,
}

impl Hdf5 {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<Self> {
        let matlab = (*bytes).as_ref().starts_with(b"MATLAB");
        let budget = Arc::new(Budget::new((*bytes).as_ref().len() as u64));
        let source = Metered { bytes: bytes.clone(), budget: budget.clone() };
        let file = File::from_source(source).map_err(|error| unreadable(path, &error))?;
        let nodes = walk(&file.root(), matlab).map_err(|error| unreadable(path, &error))?;
        Ok(Self { path: path.to_owned(), bytes, matlab, nodes, budget })
    }

    fn node(&self, key: &str) -> Option<&Node> {
        let dotted = key.trim_start_matches('/').replace('/', ".");
        self.nodes.iter().find(|node| node.key == key || node.key == dotted)
    }

    fn dataset(&self, key: &str) -> Result<(&Dataset, PathBuf)> {
        match self.node(key).map(|node| (&node.object, path_of(&self.path, &node.key))) {
            Some((Object::Dataset(dataset), path)) => Ok((dataset, path)),
            _ => Err(Error::NoSuchKey {
                path: self.path.clone(),
                key: key.to_owned(),
                keys: self.nodes.iter().map(|node| node.key.clone()).collect(),
            }),
        }
    }

    /// What it is, and the sizes of its dimensions as users of the file know them.
    fn describe(&self, object: &Object) -> Result<(Content, Vec<usize>), hdf5_pure::Error> {
        let dataset = match object {
            Object::Dataset(dataset) => dataset,
            Object::Group(group) => {
                let sparse = self.matlab && group.attrs()?.contains_key("MATLAB_sparse");
                let content = if sparse { Content::Other("a sparse matrix".into()) } else { Content::Group };
                return Ok((content, Vec::new()));
            }
            _ => return Ok((Content::Other("an object of an unknown kind".into()), Vec::new())),
        };
        let content = if self.matlab { matlab_content(dataset)? } else { content(&dataset.datatype()?) };
        let empty = self.matlab && is_empty(dataset)?;
        let sizes = if empty { vec![0] } else { dataset.shape()? };
        let mut shape: Vec<usize> =
            sizes.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
        if self.matlab {
            shape.reverse();
        }
        if shape.is_empty() {
            shape.push(1);
        }
        Ok((content, shape))
    }

    fn entry_of(&self, node: &Node) -> Result<Entry> {
        let path = || path_of(&self.path, &node.key);
        let (content, shape) = self.describe(&node.object).map_err(|error| unreadable(&path(), &error))?;
        let kind = match (content, &node.object) {
            (Content::Numbers(..), _) => EntryKind::Numbers,
            (Content::Strings | Content::Characters, _) => EntryKind::Strings,
            (Content::Cells, Object::Dataset(cells)) if self.cells(cells, &path()).is_ok() => {
                EntryKind::Strings
            }
            (Content::Cells, _) => EntryKind::Other,
            (Content::Group, _) => EntryKind::Struct,
            (Content::Other(what), _) => return Err(Error::Unsupported { path: path(), what }),
        };
        Ok(Entry { key: node.key.clone(), kind, shape })
    }
}

impl Reader for Hdf5 {
    fn entries(&self) -> Result<Vec<Entry>> {
        self.budget.renew();
        let other = |node: &Node| Entry { key: node.key.clone(), kind: EntryKind::Other, shape: Vec::new() };
        // Something that cannot be read is no reason to refuse the rest, unless nothing more can be.
        let entry = |node| match self.entry_of(node) {
            Err(error) if self.budget.is_spent() => Err(error),
            entry => Ok(entry.unwrap_or_else(|_| other(node))),
        };
        self.nodes.iter().map(entry).collect()
    }

    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.budget.renew();
        self.node(key).map(|node| self.entry_of(node)).transpose()
    }

    fn array(&self, key: &str) -> Result<Array> {
        self.budget.renew();
        let (dataset, path) = self.dataset(key)?;
        let node = self.node(key).map(|node| &node.object);
        let described = node.map(|object| self.describe(object)).transpose();
        let Some((Content::Numbers(element, byte_order), shape)) =
            described.map_err(|error| unreadable(&path, &error))?
        else {
            return Err(Error::Unsupported { path, what: "this as numbers".to_owned() });
        };
        let order = if self.matlab { Order::Fortran } else { Order::C };
        let layout = |offset| Layout { offset, shape, order, element, byte_order };
        if self.matlab && is_empty(dataset).map_err(|error| unreadable(&path, &error))? {
            return Array::new(&path, Arc::new(Vec::new()), &layout(0));
        }
        match dataset.layout().map_err(|error| unreadable(&path, &error))? {
            hdf5_pure::Layout::Contiguous { address: Some(address), size } => {
                let offset = usize::try_from(address).unwrap_or(usize::MAX);
                let array = Array::new(&path, self.bytes.clone(), &layout(offset))?;
                let expected = array.rows() * array.columns() * element.size();
                match usize::try_from(size) {
                    Ok(found) if found < expected => Err(Error::Truncated { path, expected, found }),
                    _ => Ok(array),
                }
            }
            _ => Array::new(&path, Arc::new(self.raw(dataset, &path)?), &layout(0)),
        }
    }

    fn strings(&self, key: &str) -> Result<Vec<String>> {
        self.budget.renew();
        let (dataset, path) = self.dataset(key)?;
        self.strings_of(dataset, &path)
    }

    fn stream(&self, key: &str, _: &[usize], transpose: bool) -> Result<Option<Box<dyn RowStream>>> {
        let stream = stream::Stream::open(self, key, transpose)?;
        Ok(stream.map(|stream| -> Box<dyn RowStream> { Box::new(stream) }))
    }
}

fn unreadable(path: &Path, error: &hdf5_pure::Error) -> Error {
    let path = path.to_owned();
    if let hdf5_pure::Error::Format(FormatError::InvalidLayoutVersion(5)) = error {
        // What h5py writes with `libver = "latest"` since HDF5 2.0.
        return Error::Unsupported { path, what: "a dataset in the layout of HDF5 2.0".to_owned() };
    }
    Error::Malformed { path, problem: format!("not readable as HDF5: {error}") }
}
