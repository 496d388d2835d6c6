//! Headers that lie, files that end early: an error, never a panic, never memory that the file does not fill.

use std::path::Path;
use std::sync::Arc;

use bidilel::dataset::Rows;
use bidilel_data::array::{Array, Base, from_bytes};
use proptest::prelude::*;

use crate::support::{array, npy, npy_with_header};

fn parse(bytes: Vec<u8>) -> bidilel_data::Result<Array> {
    from_bytes(Path::new("x.npy"), Arc::new(bytes), None)
}

fn message(bytes: Vec<u8>) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn sizes_that_overflow_are_too_large() {
    let huge = usize::MAX;
    for shape in [format!("({huge},)"), format!("({huge}, {huge})"), format!("({}, 8)", huge / 8)] {
        assert!(message(npy("'<f8'", false, &shape, &[0; 64])).ends_with("elements is too large"), "{shape}");
    }
    let found = message(npy("'|u1'", false, &format!("({huge},)"), &[0; 64]));
    assert_eq!(found, format!("`x.npy`: expected {huge} bytes of data, found 64"));
}

#[test]
fn headers_that_lie_about_themselves_are_malformed() {
    let malformed = |problem: &str| format!("`x.npy`: malformed header: {problem}");
    assert_eq!(message(b"\x93NUMPY".to_vec()), malformed("the file ends inside it"));
    assert_eq!(message(b"\x93NUMPY\x01\x00\xff\xff{}".to_vec()), malformed("the file ends inside it"));
    assert_eq!(message(b"\x93NUMPY\x02\x00\xff\xff".to_vec()), malformed("the file ends inside it"));
    let long = message(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec());
    assert_eq!(long, malformed("expected at most 65536 bytes, found 4294967295"));
    assert_eq!(
        message(b"\x93NUMPY\x09\x00\x02\x00{}".to_vec()),
        malformed("expected version 1, 2 or 3, found 9")
    );
    assert_eq!(message(b"\x93NUMPY\x01\x00\x02\x00\xff\xff".to_vec()), malformed("it is not text"));
    let structured = npy("[('a', '<f4'), ('b', '<i4')]", false, "(1,)", &[0; 8]);
    assert_eq!(message(structured), malformed("expected one number an element, found a structured type"));
    let nested = npy_with_header(&"(".repeat(60_000), &[]);
    assert!(message(nested).starts_with(&malformed("expected `{`")));
}

#[test]
fn versions_2_and_3_have_longer_lengths() {
    let header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }";
    for version in [2, 3] {
        let mut bytes = vec![
            0x93,
            b'N',
            b'U',
            b'M',
            b'P',
            b'Y',
            version,
            0,
            u8::try_from(header.len()).unwrap(),
            0,
            0,
            0,
        ];
        bytes.extend_from_slice(header);
        bytes.push(5);
        assert_eq!(parse(bytes).unwrap().to_indices(Base::Zero).unwrap(), [5]);
    }
}

fn sample() -> Vec<u8> {
    array(&[3, 4], &(0..12_u8).map(f32::from).collect::<Vec<_>>())
}

/// Reads everything that an array claims to have.
fn exhaust(array: &Array) -> f64 {
    let mut row = vec![0.0; array.dim()];
    for index in 0..array.count() {
        array.read(index, &mut row);
    }
    let _ = array.to_indices(Base::One);
    let turned = array.clone().transposed();
    array.to_matrix().sum() - turned.to_matrix().sum()
}

proptest! {
    #[test]
    fn changed_bytes_give_an_error_or_a_readable_array(changes in prop::collection::vec((0..176_usize, any::<u8>()), 1..6)) {
        let mut bytes = sample();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let size = bytes.len();
        if let Ok(array) = parse(bytes) {
            prop_assert!(array.rows() * array.columns() * array.element().size() <= size);
            exhaust(&array);
        }
    }

    #[test]
    fn headers_of_python_words_give_an_error_or_a_readable_array(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "(", ")", "[", ",", ":", "'descr'", "'shape'", "'fortran_order'", "'<f4'", "'>i2'", "True",
                "False", "3", "4", "0", "18446744073709551615", " ", "é", "'",
            ]),
            0..24,
        ),
    ) {
        if let Ok(array) = parse(npy_with_header(&words.concat(), &[0; 48])) {
            exhaust(&array);
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error(length in 0..176_usize) {
        prop_assert!(parse(sample()[..length].to_vec()).is_err());
    }

    #[test]
    fn bytes_after_the_array_do_not_matter(tail in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut bytes = sample();
        bytes.extend(tail);
        prop_assert_eq!(parse(bytes).unwrap().to_matrix(), parse(sample()).unwrap().to_matrix());
    }

    #[test]
    fn any_bytes_after_the_magic_give_no_panic(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend(tail);
        if let Ok(array) = parse(bytes) {
            exhaust(&array);
        }
    }
}
