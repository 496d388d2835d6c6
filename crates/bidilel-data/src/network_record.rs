//! The record of the network beside an array that it made: `features.network.json` belongs to `features.npy`.
//!
//! A record that stayed when its array was replaced would be a lie, so that it has a checksum of the array: of its length
//! and of the bytes at both ends, which is enough to notice another array and takes no time for one of many gigabytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bidilel::networks::NetworkRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::atomic::write_atomically;
use crate::error::{Error, Result};
use crate::file;

/// Bytes at either end of an array that its checksum covers.
const END_BYTES: u64 = 1 << 16;

/// What a record file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    /// Of the array.
    checksum: String,
    /// The classes of the rows, for vectors of classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    #[serde(flatten)]
    record: NetworkRecord,
}

/// What is known of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Known {
    /// Nothing.
    Nothing,
    /// There is a record of another array.
    Stale(PathBuf),
    /// Its record, and the classes of its rows.
    Record(Box<NetworkRecord>, Option<Vec<String>>),
}

/// The file that belongs to an array.
pub fn network_record_path(array: &Path) -> PathBuf {
    array.with_extension("network.json")
}

/// Writes the record of an array that is complete; `names` are the classes of its rows, for vectors of classes.
pub fn write_network_record(
    array: &Path,
    record: &NetworkRecord,
    names: Option<&[String]>,
) -> Result<PathBuf> {
    let path = network_record_path(array);
    let checksum = checksum(array)?;
    let stored = Stored { checksum, names: names.map(<[String]>::to_vec), record: record.clone() };
    write_atomically(&path, |out| {
        serde_json::to_writer_pretty(&mut *out, &stored).map_err(io::Error::other)?;
        out.write_all(b"\n")
    })?;
    Ok(path)
}

/// The record of an array, where there is one that is of this array.
pub fn network_record(array: &Path) -> Result<Option<NetworkRecord>> {
    Ok(match read(array)? {
        Known::Record(record, _) => Some(*record),
        Known::Nothing | Known::Stale(_) => None,
    })
}

/// The SHA-256 of some bytes, in hexadecimal digits as `sha256sum` prints them.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to memory cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads the record of an array, where there is one.
pub(crate) fn read(array: &Path) -> Result<Known> {
    let path = network_record_path(array);
    if !path.is_file() {
        return Ok(Known::Nothing);
    }
    let bytes = file::map(&path)?;
    let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| Error::Malformed {
        path: path.clone(),
        problem: format!("is no record of a network: {error}"),
    })?;
    if stored.checksum != checksum(array)? {
        return Ok(Known::Stale(path));
    }
    Ok(Known::Record(Box::new(stored.record), stored.names))
}

fn checksum(path: &Path) -> Result<String> {
    let read = || -> io::Result<u64> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&length.to_le_bytes());
        let mut bytes = Vec::new();
        (&mut file).take(END_BYTES).read_to_end(&mut bytes)?;
        hash.update(&bytes);
        file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
        bytes.clear();
        file.take(END_BYTES).read_to_end(&mut bytes)?;
        hash.update(&bytes);
        Ok(hash.digest())
    };
    let digest = read().map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(format!("{digest:016x}"))
}

#[cfg(test)]
mod tests {
    use bidilel::networks::FileRecord;

    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1, and the empty message.
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn a_record_is_of_its_array_and_of_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let array = folder.path().join("a.npy");
        std::fs::write(&array, vec![1; 200_000]).unwrap();
        assert_eq!(read(&array).unwrap(), Known::Nothing);
        let network = FileRecord { path: "/n.onnx".to_owned(), sha256: "00".to_owned() };
        let record = NetworkRecord {
            network,
            weights: Vec::new(),
            tokenizer: None,
            layer: "out".to_owned(),
            settings: serde_json::json!({"pool": "mean"}),
        };
        let names = ["lynx".to_owned()];
        let path = write_network_record(&array, &record, Some(&names)).unwrap();
        assert_eq!(path, folder.path().join("a.network.json"));
        assert_eq!(read(&array).unwrap(), Known::Record(Box::new(record), Some(names.to_vec())));
        let mut bytes = vec![1; 200_000];
        bytes[199_999] = 2;
        std::fs::write(&array, bytes).unwrap();
        assert_eq!(read(&array).unwrap(), Known::Stale(path.clone()));
        std::fs::write(path, "{}").unwrap();
        assert!(read(&array).is_err());
    }
}
