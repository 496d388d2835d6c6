//! MATLAB files that lie: an error that says so, soon, and without memory for what is not there.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::support::{container, message};

pub(crate) fn element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), u32::try_from(data.len()).unwrap().to_le_bytes()].concat();
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub(crate) fn matrix(class: u32, shape: &[u32], name: &str, content: &[u8]) -> Vec<u8> {
    let body = [
        element(6, &words(&[class, 0])),
        element(5, &words(shape)),
        element(1, name.as_bytes()),
        content.to_vec(),
    ];
    element(14, &body.concat())
}

pub(crate) fn matlab(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
    bytes.resize(124, b' ');
    bytes.extend_from_slice(b"\x00\x01IM");
    bytes.extend(elements.concat());
    bytes
}

pub(crate) fn compressed(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    let data = encoder.finish().unwrap();
    let mut bytes = words(&[15, u32::try_from(data.len()).unwrap()]);
    bytes.extend(data);
    bytes
}

#[test]
fn matlab_sizes_that_lie_are_errors() {
    let huge = i32::MAX.unsigned_abs();
    let numbers = element(9, &[0; 16]);
    for (shape, problem) in [
        (&[1, 3][..], "`x:a`: expected 24 bytes of data, found 16"),
        (&[huge, huge], "elements is too large"),
        (&[huge, 1], "`x:a`: expected 17179869176 bytes of data, found 16"),
        (&[1, u32::MAX], "`x`: a matrix has a negative size"),
        (&[1; 40], "`x`: a matrix claims 40 dimensions"),
        (&[huge; 5], "found an array of 2147483647 x 2147483647 x 2147483647 x 2147483647 x 2147483647"),
    ] {
        let found = message(matlab(&[matrix(6, shape, "a", &numbers)]), "a");
        assert!(found.ends_with(problem), "{found}");
    }
    let long = matlab(&[words(&[14, u32::MAX])]);
    assert_eq!(message(long, "a"), "`x`: expected 4294967295 bytes of data, found 8");
    let small = matlab(&[words(&[0x0005_000e, 0])]);
    assert_eq!(message(small, "a"), "`x`: a small element claims 5 bytes");
    let cells = matlab(&[matrix(1, &[huge, huge], "a", &[])]);
    assert!(message(cells, "a").contains("expected 8 bytes of data, found 0"));
    let twice = matlab(&[matrix(6, &[1, 2], "a", &numbers), matrix(6, &[1, 2], "a", &numbers)]);
    assert_eq!(message(twice, "a"), "`x`: several variables are called `a`");
    let name = matlab(&[matrix(6, &[1, 2], &"n".repeat(200), &numbers)]);
    assert_eq!(message(name, "a"), "`x`: a name has 200 bytes");
}

#[test]
fn matlab_structures_without_fields_and_sparse_giants_end_soon() {
    let huge = i32::MAX.unsigned_abs();
    let fields = [element(5, &words(&[32])), element(1, &[])].concat();
    let structures = container(matlab(&[matrix(2, &[huge, huge], "s", &fields)])).unwrap();
    assert_eq!(structures.entries().unwrap().len(), 1);
    let lengths = [element(5, &words(&[huge])), element(1, &[])].concat();
    let structures = container(matlab(&[matrix(2, &[1, 1], "s", &lengths)])).unwrap();
    assert!(structures.entries().unwrap_err().to_string().ends_with("field names claim 2147483647 bytes"));

    let sparse = |shape: &[u32], rows: &[u32], starts: &[u32]| {
        let content =
            [element(5, &words(rows)), element(5, &words(starts)), element(9, &1.5_f64.to_le_bytes())];
        matlab(&[matrix(5, shape, "s", &content.concat())])
    };
    let giant = message(sparse(&[huge, huge], &[0], &[0, 1]), "s");
    assert_eq!(giant, "`x:s`: a sparse matrix of 2147483647 x 2147483647 with 1 values cannot be read");
    for (rows, starts) in [(&[9][..], &[0, 1][..]), (&[0], &[0, 7]), (&[0], &[1, 0]), (&[], &[0, 1])] {
        assert!(
            message(sparse(&[2, 1], rows, starts), "s").contains("sparse column 0 has values that are not")
        );
    }
    assert!(message(sparse(&[2, 1], &[0], &[0]), "s").ends_with("1 sparse columns have 1 starts"));
}

#[test]
fn matlab_nesting_has_an_end() {
    let mut nested = matrix(4, &[1, 1], "", &element(16, b"x"));
    for _ in 0..15 {
        nested = matrix(1, &[1, 1], "", &nested);
    }
    let shallow =
        container(matlab(&[matrix(1, &[2, 1], "a", &[nested.clone(), nested.clone()].concat())])).unwrap();
    assert_eq!(shallow.strings("a").unwrap(), ["x", "x"]);
    for _ in 0..3000 {
        nested = matrix(1, &[1, 1], "", &nested);
    }
    let deep = message(matlab(&[matrix(1, &[1, 1], "a", &nested)]), "a");
    assert_eq!(deep, "`x:a`: is nested more than 16 deep");
    let deep = container(matlab(&[matrix(1, &[2, 1], "a", &[nested.clone(), nested].concat())])).unwrap();
    assert!(deep.entries().unwrap_err().to_string().ends_with("is nested more than 16 deep"));
    let key = "a".to_owned() + &"{1}".repeat(5000);
    assert!(!deep.has(&key));
}

#[test]
fn compressed_matlab_variables_cannot_claim_more_than_they_hold() {
    let body = matrix(6, &[1, 2], "a", &element(9, &[0; 16]));
    let good = container(matlab(&[compressed(&body)])).unwrap();
    assert_eq!(good.array(None).unwrap().columns(), 2);
    // Claims four gigabytes.
    let mut bomb = body.clone();
    bomb[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let found = message(matlab(&[compressed(&bomb)]), "a");
    assert!(found.starts_with("`x`: claims 4294967303 bytes, but its "), "{found}");
    // Claims a little more, and a little less.
    for (claim, problem) in [(2000_u32, "expected 2008 bytes of data, found 80"), (64, "hold more")] {
        let mut body = body.clone();
        body[4..8].copy_from_slice(&claim.to_le_bytes());
        let found = message(matlab(&[compressed(&body)]), "a");
        assert!(found.ends_with(problem), "{found}");
    }
    let mut damaged = compressed(&body);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    assert_eq!(message(matlab(&[damaged]), "a"), "`x`: its compressed data is damaged");
}

#[test]
fn every_key_that_is_listed_can_be_asked_for() {
    // Structures of two, nested ten times: a key has a step for which one, and a step for its field.
    let words = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let element = |kind: u32, content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap();
        [&words(&[kind, length]), content].concat()
    };
    let matrix = |class: u32, rows: u32, rest: &[u8]| {
        let head =
            [element(6, &words(&[class, 0])), element(5, &words(&[rows, 1])), element(1, b"a\0\0\0\0\0\0\0")];
        element(14, &[&head.concat(), rest].concat())
    };
    let mut inner = matrix(6, 1, &element(9, &1.5_f64.to_le_bytes()));
    for _ in 0..10 {
        let names = [element(5, &words(&[8, 0])), element(1, b"field\0\0\0")].concat();
        inner = matrix(2, 2, &[names, inner.clone(), inner].concat());
    }
    let mut file = vec![b' '; 124];
    file.extend(b"\x00\x01IM");
    file.extend(inner);
    let container = crate::support::container(file).unwrap();
    let entries = container.entries().unwrap();
    let deepest = entries.iter().max_by_key(|entry| entry.key.len()).unwrap();
    assert_eq!(deepest.key.matches('.').count(), 10, "{}", deepest.key);
    assert_eq!(container.array(Some(&deepest.key)).unwrap().to_matrix().col_as_slice(0), [1.5]);
}
