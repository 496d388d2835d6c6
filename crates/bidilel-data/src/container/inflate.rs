//! Decompresses bytes into no more memory than they fill.
//!
//! A file says how much its compressed bytes hold, and may lie. Deflate turns 2 bits into at most 258 bytes, so a
//! claim beyond 1032 times the compressed size is refused before anything is decompressed; below that, memory grows with
//! what has really come out.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use crate::error::{Error, Result};

/// The best that deflate can do.
const BEST_RATIO: usize = 1032;

/// What is around the compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapper {
    /// Nothing, as in a zip archive.
    None,
    /// A zlib header and a checksum, as in a MATLAB file.
    Zlib,
}

/// Exactly the bytes that are claimed.
pub(super) fn all(path: &Path, compressed: &[u8], wrapper: Wrapper, declared: usize) -> Result<Vec<u8>> {
    check_claim(path, compressed.len(), declared)?;
    let mut reader = reader(compressed, wrapper);
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::OutOfMemory => Error::NoMemory { path: path.to_owned(), bytes: declared },
        _ => Error::Damaged { path: path.to_owned(), source },
    };
    let bytes = read(&mut *reader, declared).map_err(failed)?;
    if bytes.len() < declared {
        return Err(Error::Truncated { path: path.to_owned(), expected: declared, found: bytes.len() });
    }
    // The end of the stream has the checksum, and tells whether there is more than was claimed.
    match read(&mut *reader, 1).map_err(failed)?.len() {
        0 => Ok(bytes),
        _ => Err(Error::Malformed {
            path: path.to_owned(),
            problem: format!("claims {declared} bytes, but its compressed bytes hold more"),
        }),
    }
}

/// The first bytes, as many as there are.
pub(super) fn start(path: &Path, compressed: &[u8], wrapper: Wrapper, most: usize) -> Result<Vec<u8>> {
    read(&mut *reader(compressed, wrapper), most)
        .map_err(|source| Error::Damaged { path: path.to_owned(), source })
}

/// Refuses a claim that no compressed bytes of that length can keep.
pub(super) fn check_claim(path: &Path, compressed: usize, declared: usize) -> Result<()> {
    let most = compressed.saturating_mul(BEST_RATIO);
    if declared > most {
        return Err(Error::Bomb { path: path.to_owned(), declared, compressed, most });
    }
    Ok(())
}

pub(super) fn reader<'a>(compressed: impl Read + Send + 'a, wrapper: Wrapper) -> Box<dyn Read + Send + 'a> {
    match wrapper {
        Wrapper::None => Box::new(DeflateDecoder::new(compressed)),
        Wrapper::Zlib => Box::new(ZlibDecoder::new(compressed)),
    }
}

/// Up to `most` bytes; the buffer at most doubles what has come out.
fn read(reader: &mut dyn Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while length < most {
        if length == bytes.len() {
            let room = most.min((2 * length).max(1 << 12));
            bytes.try_reserve_exact(room - length).map_err(|_| io::ErrorKind::OutOfMemory)?;
            bytes.resize(room, 0);
        }
        match reader.read(&mut bytes[length..])? {
            0 => break,
            count => length += count,
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn message(compressed: &[u8], declared: usize) -> String {
        all(Path::new("x"), compressed, Wrapper::Zlib, declared).unwrap_err().to_string()
    }

    #[test]
    fn gives_what_was_claimed_and_nothing_else() {
        let bytes: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        let compressed = zlib(&bytes);
        assert_eq!(all(Path::new("x"), &compressed, Wrapper::Zlib, bytes.len()).unwrap(), bytes);
        assert_eq!(start(Path::new("x"), &compressed, Wrapper::Zlib, 5000).unwrap(), bytes[..5000]);
        assert_eq!(message(&compressed, 40_001), "`x`: expected 40001 bytes of data, found 40000");
        assert_eq!(
            message(&compressed, 39_999),
            "`x`: claims 39999 bytes, but its compressed bytes hold more"
        );
    }

    #[test]
    fn deflate_never_beats_the_ratio_and_a_bolder_claim_is_refused() {
        let zeros = zlib(&vec![0; 1 << 22]);
        assert!(check_claim(Path::new("x"), zeros.len(), 1 << 22).is_ok());
        assert!(
            message(&zeros[..100], 1 << 22)
                .starts_with("`x`: claims 4194304 bytes, but its 100 compressed bytes hold at most 103200")
        );
        assert!(message(&zeros[..zeros.len() - 8], 1 << 22).contains("compressed data is damaged"));
    }
}
