//! Which format a file has, told by its first bytes and never by its name.

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Npy,
    Zip,
    Matlab,
    Hdf5,
    Parquet,
    Safetensors,
    /// Has no bytes that tell it, so [`Format::of`] never finds it.
    Text,
}

impl Format {
    /// The format of these bytes; none for text and for what is not known.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let magics: [(&[u8], Self); 7] = [
            (b"\x93NUMPY", Self::Npy),
            (b"PK\x03\x04", Self::Zip),
            // An archive without members.
            (b"PK\x05\x06", Self::Zip),
            (b"MATLAB 5.0 MAT-file", Self::Matlab),
            (b"MATLAB 7.3 MAT-file", Self::Hdf5),
            (b"\x89HDF\r\n\x1a\n", Self::Hdf5),
            (b"PAR1", Self::Parquet),
        ];
        let by_magic = magics.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|&(_, format)| format);
        match by_magic {
            None if is_matlab(bytes) => Some(Self::Matlab),
            None if is_safetensors(bytes) => Some(Self::Safetensors),
            other => other,
        }
    }

    /// What to call such a file in a message.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Npy => "a NumPy array",
            Self::Zip => "a zip archive",
            Self::Matlab => "a MATLAB file",
            Self::Hdf5 => "an HDF5 file",
            Self::Parquet => "a Parquet table",
            Self::Safetensors => "a safetensors file",
            Self::Text => "a text table",
        }
    }
}

/// The text at the start is free; version and byte order at its end are not.
fn is_matlab(bytes: &[u8]) -> bool {
    matches!(bytes.get(124..128), Some(b"\x00\x01IM" | b"\x01\x00MI"))
}

/// The length of a JSON object in eight bytes, then the object. No text has such bytes at its start.
fn is_safetensors(bytes: &[u8]) -> bool {
    let Some((&length, rest)) = bytes.split_first_chunk::<8>() else { return false };
    rest.first() == Some(&b'{') && u64::from_le_bytes(length) <= rest.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_known_format() {
        for text in ["", "a,b\n", "8\n", "{\"a\": 1}", "MATLAB", &"x".repeat(300)] {
            assert_eq!(Format::of(text.as_bytes()), None);
        }
    }

    #[test]
    fn formats_without_magic_are_told_too() {
        assert_eq!(Format::of(b"\x02\0\0\0\0\0\0\0{}"), Some(Format::Safetensors));
        assert_eq!(Format::of(b"\x03\0\0\0\0\0\0\0{}"), None);
        let mut header = vec![b' '; 124];
        header.extend_from_slice(b"\x01\x00MI");
        assert_eq!(Format::of(&header), Some(Format::Matlab));
    }
}
