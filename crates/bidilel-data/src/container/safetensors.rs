//! safetensors: a JSON directory, then the elements of all tensors, mapped.

use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::{Entry, EntryKind, Reader, path_of};
use crate::array::{Array, ByteOrder, Bytes, Element, Layout, Order};
use crate::error::{Error, Result};

/// Bytes in front of the directory: its length.
const PREFIX: usize = 8;

pub(super) struct Safetensors {
    path: PathBuf,
    bytes: Bytes,
    metadata: Metadata,
    /// Where the elements of all tensors begin.
    start: usize,
}

impl Safetensors {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<Self> {
        let (length, metadata) = SafeTensors::read_metadata((*bytes).as_ref())
            .map_err(|error| Error::Header { path: path.to_owned(), problem: error.to_string() })?;
        Ok(Self { path: path.to_owned(), bytes, metadata, start: PREFIX + length })
    }

    fn info(&self, key: &str) -> Result<&TensorInfo> {
        self.metadata.info(key).ok_or_else(|| Error::NoSuchKey {
            path: self.path.clone(),
            key: key.to_owned(),
            keys: self.metadata.offset_keys(),
        })
    }
}

impl Reader for Safetensors {
    fn entries(&self) -> Result<Vec<Entry>> {
        let entry = |key: String| {
            let info = self.info(&key)?;
            let kind =
                if element_from_dtype(info.dtype).is_some() { EntryKind::Numbers } else { EntryKind::Other };
            Ok(Entry { shape: info.shape.clone(), key, kind })
        };
        self.metadata.offset_keys().into_iter().map(entry).collect()
    }

    fn array(&self, key: &str) -> Result<Array> {
        let path = path_of(&self.path, key);
        let info = self.info(key)?;
        let element = element_from_dtype(info.dtype).ok_or_else(|| Error::Element {
            path: path.clone(),
            expected: "numbers",
            found: info.dtype.to_string(),
        })?;
        let (start, end) = info.data_offsets;
        let layout = Layout {
            offset: self.start.saturating_add(start),
            shape: info.shape.clone(),
            order: Order::C,
            element,
            byte_order: ByteOrder::Little,
        };
        Array::within(&path, self.bytes.clone(), &layout, self.start.saturating_add(end))
    }

    fn strings(&self, key: &str) -> Result<Vec<String>> {
        let path = path_of(&self.path, key);
        let found = self.info(key)?.dtype.to_string();
        Err(Error::Element { path, expected: "strings", found })
    }
}

fn element_from_dtype(dtype: Dtype) -> Option<Element> {
    Some(match dtype {
        Dtype::BOOL => Element::Bool,
        Dtype::U8 => Element::U8,
        Dtype::I8 => Element::I8,
        Dtype::I16 => Element::I16,
        Dtype::U16 => Element::U16,
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::Bf16,
        Dtype::I32 => Element::I32,
        Dtype::U32 => Element::U32,
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
        Dtype::I64 => Element::I64,
        Dtype::U64 => Element::U64,
        _ => return None,
    })
}
