//! `.npz`: a zip archive of `.npy` files.
//!
//! A member that is stored as it is gets mapped; one that is deflated is decompressed when it is asked for, a large one in
//! blocks of rows where these lie one after another. Nothing is ever written to disk under the name of a member.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Crc;
use zip::{CompressionMethod, ZipArchive};

use super::inflate::{self, Wrapper};
use super::inflated::{Inflated, Packed, WHOLE_BYTES};
use super::npy::Npy;
use super::{Entry, EntryKind, Reader, RowStream, path_of};
use crate::array::{Array, Bytes, Order, npy};
use crate::error::{Error, Result};

pub(super) struct Npz {
    path: PathBuf,
    bytes: Bytes,
    members: Vec<Member>,
}

/// A file in the archive.
struct Member {
    key: String,
    packing: Packing,
    /// Where its bytes are in the archive.
    start: usize,
    end: usize,
    /// How many they are when decompressed.
    size: usize,
    checksum: u32,
}

#[derive(PartialEq, Eq)]
enum Packing {
    Stored,
    Deflated,
    Unreadable(String),
}

impl Npz {
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<Self> {
        let members = members(path, (*bytes).as_ref())?;
        Ok(Self { path: path.to_owned(), bytes, members })
    }

    fn member(&self, key: &str) -> Option<&Member> {
        let key = key.strip_suffix(".npy").unwrap_or(key);
        self.members.iter().find(|member| member.key == key)
    }

    fn packed(&self, member: &Member) -> &[u8] {
        &(*self.bytes).as_ref()[member.start..member.end]
    }

    /// What the first bytes of a member say.
    fn header(&self, member: &Member) -> Result<npy::Header> {
        let path = path_of(&self.path, &member.key);
        let longest = npy::LONGEST_HEADER + 12;
        let start = match &member.packing {
            Packing::Stored => Cow::Borrowed(self.packed(member)),
            Packing::Deflated => {
                inflate::start(&path, self.packed(member), Wrapper::None, member.size.min(longest))?.into()
            }
            Packing::Unreadable(what) => return Err(Error::Unsupported { path, what: what.clone() }),
        };
        npy::Header::parse(&path, &start)
    }

    fn open(&self, key: &str) -> Result<Npy> {
        let member = self.member(key).ok_or_else(|| Error::NoSuchKey {
            path: self.path.clone(),
            key: key.to_owned(),
            keys: self.members.iter().map(|member| member.key.clone()).collect(),
        })?;
        let path = path_of(&self.path, &member.key);
        if member.packing == Packing::Stored {
            return Ok(Npy::inside(&path, self.bytes.clone(), member.start, member.end));
        }
        check_size(&path, member, &self.header(member)?)?;
        let content = inflate::all(&path, self.packed(member), Wrapper::None, member.size)?;
        let mut checksum = Crc::new();
        checksum.update(&content);
        if checksum.sum() != member.checksum {
            let problem = "its checksum does not fit its bytes".to_owned();
            return Err(Error::Malformed { path, problem });
        }
        Ok(Npy::new(&path, Arc::new(content)))
    }

    fn describe(&self, member: &Member) -> Entry {
        // A member that is no array is no reason to refuse the others.
        let (kind, shape) = match self.header(member) {
            Ok(header) => (header.kind(), header.shape),
            Err(_) => (EntryKind::Other, Vec::new()),
        };
        Entry { key: member.key.clone(), kind, shape }
    }
}

impl Reader for Npz {
    fn entries(&self) -> Result<Vec<Entry>> {
        Ok(self.members.iter().map(|member| self.describe(member)).collect())
    }

    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        let Some(member) = self.member(key) else { return Ok(None) };
        // Asked for by name, so it matters why it cannot be read.
        self.header(member)?;
        Ok(Some(self.describe(member)))
    }

    fn array(&self, key: &str) -> Result<Array> {
        self.open(key)?.array("")
    }

    fn strings(&self, key: &str) -> Result<Vec<String>> {
        self.open(key)?.strings("")
    }

    fn stream(&self, key: &str, _: &[usize], transpose: bool) -> Result<Option<Box<dyn RowStream>>> {
        let deflated = |member: &&Member| member.packing == Packing::Deflated && member.size > WHOLE_BYTES;
        let Some(member) = self.member(key).filter(deflated) else { return Ok(None) };
        let path = path_of(&self.path, &member.key);
        let header = self.header(member)?;
        check_size(&path, member, &header)?;
        let mut layout = header.layout(&path)?;
        match (layout.order, transpose) {
            (Order::C, false) => {}
            (Order::Fortran, true) => layout.shape.reverse(),
            _ => return Ok(None),
        }
        layout.order = Order::C;
        let packed = Packed {
            bytes: self.bytes.clone(),
            range: member.start..member.end,
            wrapper: Wrapper::None,
            declared: member.size,
            checksum: Some(member.checksum),
        };
        let stream = Inflated::open(&path, packed, layout)?;
        Ok(stream.map(|stream| -> Box<dyn RowStream> { Box::new(stream) }))
    }
}

/// The header and the archive must agree on the size before memory is used for it.
fn check_size(path: &Path, member: &Member, header: &npy::Header) -> Result<()> {
    let implied = header.file_size();
    if implied == Some(member.size) {
        return Ok(());
    }
    let implied = implied.map_or_else(|| "another size".to_owned(), |size| format!("{size} bytes"));
    let problem = format!("the archive says {} bytes, its header {implied}", member.size);
    Err(Error::Malformed { path: path.to_owned(), problem })
}

/// The directory of the archive.
fn members(path: &Path, bytes: &[u8]) -> Result<Vec<Member>> {
    let malformed = |problem: String| Error::Malformed { path: path.to_owned(), problem };
    let unreadable = |error: zip::result::ZipError| malformed(format!("not a readable zip archive: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
    // Members that share bytes are how a small archive holds a large one a thousand times.
    if archive.has_overlapping_entries().map_err(unreadable)? {
        return Err(malformed("members of the archive overlap".to_owned()));
    }
    let mut members: Vec<Member> = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(unreadable)?;
        let name = file.name().map_err(unreadable)?;
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        let outside = || malformed(format!("member `{name}` does not lie within the file"));
        let start = file.data_start().and_then(|start| usize::try_from(start).ok()).ok_or_else(outside)?;
        let end = usize::try_from(file.compressed_size()).ok().and_then(|size| start.checked_add(size));
        let end = end.filter(|&end| end <= bytes.len()).ok_or_else(outside)?;
        let size = usize::try_from(file.size()).map_err(|_| outside())?;
        let packing = match file.compression() {
            _ if file.encrypted() => Packing::Unreadable("an encrypted member".to_owned()),
            CompressionMethod::Stored if size == end - start => Packing::Stored,
            CompressionMethod::Stored => {
                let problem = format!("member `{name}` has {size} bytes, but is stored in {}", end - start);
                return Err(malformed(problem));
            }
            CompressionMethod::DEFLATE => Packing::Deflated,
            method => Packing::Unreadable(format!("a member compressed by method {method}")),
        };
        let checksum = file.crc32();
        members.push(Member { key: name.to_owned(), packing, start, end, size, checksum });
    }
    let mut names: Vec<_> = members.iter().map(|member| member.key.as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    if archive.has_duplicate_names() || twice.is_some() {
        let name = twice.map(|name| format!(" `{name}`")).unwrap_or_default();
        return Err(malformed(format!("several members of the archive have the same name{name}")));
    }
    Ok(members)
}
