//! Archives and tensors that lie: an error that names the sizes, and no memory for what is not there.

use std::io::Write;

use bidilel_data::array::Base;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::hostile_matlab::words;
use crate::support::{container, message, npy};

/// A zip archive by hand, so that everything in it can lie.
fn archive(members: &[(&str, &[u8], u32, u16)]) -> Vec<u8> {
    archive_with(members, 0)
}

/// The same with a checksum for all members.
pub(crate) fn archive_with(members: &[(&str, &[u8], u32, u16)], checksum: u32) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for &(name, data, size, method) in members {
        let start = u32::try_from(bytes.len()).unwrap();
        let lengths = words(&[checksum, u32::try_from(data.len()).unwrap(), size]);
        let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let common =
            [&[20, 0, 0, 0][..], &method.to_le_bytes(), &[0; 4], &lengths, &name_length, &[0, 0]].concat();
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), data].concat());
        directory.extend(
            [b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &words(&[start]), name.as_bytes()].concat(),
        );
    }
    let start = u32::try_from(bytes.len()).unwrap();
    let size = u32::try_from(directory.len()).unwrap();
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    bytes.extend(directory);
    bytes.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &words(&[size, start]), &[0, 0]].concat());
    bytes
}

pub(crate) fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archives_that_lie_are_errors() {
    let array = npy("'|u1'", false, "(4,)", &[1, 2, 3, 4]);
    let size = u32::try_from(array.len()).unwrap();
    let stored = container(archive(&[("../../a.npy", &array, size, 0)])).unwrap();
    assert_eq!(stored.array(Some("../../a")).unwrap().to_indices(Base::One).unwrap(), [0, 1, 2, 3]);
    let twice = archive(&[("a.npy", &array, size, 0), ("a.npy", &array, size, 0)]);
    assert!(message(twice, "a").starts_with("`x`: several members of the archive have the same name"));
    let twice = archive(&[("a.npy", &array, size, 0), ("a", &array, size, 0)]);
    assert_eq!(message(twice, "a"), "`x`: several members of the archive have the same name `a`");
    let short = archive(&[("a.npy", &array, size + 1, 0)]);
    assert!(message(short, "a").contains("but is stored in"));
    assert!(message(archive(&[("a.npy", &array, size, 93)]), "a").contains("a member compressed by method"));

    let packed = deflated(&array);
    let wrong = archive(&[("a.npy", &packed, size, 8)]);
    assert_eq!(message(wrong, "a"), "`x:a`: its checksum does not fit its bytes");
    let header = archive(&[("a.npy", &packed, size + 7, 8)]);
    assert!(message(header, "a").contains(&format!("says {} bytes, its header {size} bytes", size + 7)));
    // A header and an archive that agree on four gigabytes of zeros that are not there.
    let bomb = npy("'|u1'", false, "(4000000000,)", &[0; 1000]);
    let claim = u32::try_from(bomb.len() - 1000).unwrap() + 4_000_000_000;
    let found = message(archive(&[("a.npy", &deflated(&bomb), claim, 8)]), "a");
    assert!(found.starts_with(&format!("`x:a`: claims {claim} bytes, but its ")), "{found}");
    assert_eq!(message(archive(&[]), "a"), "`x`: has no key `a`: it has none");
    assert_eq!(
        message(archive(&[("a.txt", b"text", 4, 0)]), "a.txt"),
        "`x:a.txt`: expected a NumPy array, found something else"
    );
}

#[test]
fn safetensors_that_lie_are_errors() {
    let file = |directory: &str, data: &[u8]| {
        [&(directory.len() as u64).to_le_bytes()[..], directory.as_bytes(), data].concat()
    };
    let tensor = |shape: &str, offsets: &str| {
        file(&format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#), &[0; 8])
    };
    assert_eq!(container(tensor("[2]", "[0,8]")).unwrap().array(None).unwrap().rows(), 2);
    for (shape, offsets) in [
        ("[3]", "[0,8]"),
        ("[2]", "[0,12]"),
        ("[2]", "[4,12]"),
        ("[2]", "[8,0]"),
        ("[18446744073709551615,2]", "[0,8]"),
        ("[-1]", "[0,8]"),
    ] {
        assert!(
            message(tensor(shape, offsets), "a").starts_with("`x`: malformed header: "),
            "{shape} {offsets}"
        );
    }
    assert!(container(file(&"[".repeat(5000), &[])).is_err());
    assert!(container(file(&format!("{{\"a\":{}", "[".repeat(5000)), &[])).is_err());
}
