//! Tables of pyarrow hold what was put there.

use bidilel_data::array::{Array, Base, Element};
use bidilel_data::container::{Container, EntryKind};

use crate::support::{features, fixture};

fn open(name: &str) -> Container {
    Container::open(&fixture(name)).unwrap()
}

fn numbers(container: &Container, key: &str) -> Array {
    container.array(Some(key)).unwrap()
}

fn message(container: &Container, key: Option<&str>) -> String {
    let message = container.array(key).unwrap_err().to_string();
    message[message.find("`: ").unwrap() + 3..].to_owned()
}

#[test]
fn columns_of_every_type() {
    let container = open("table.parquet");
    for key in ["features", "fixed"] {
        let array = numbers(&container, key);
        assert_eq!((array.element(), array.to_matrix()), (Element::F32, features(10, 4)), "{key}");
        assert_eq!(container.entry(Some(key), &[EntryKind::Numbers]).unwrap().shape, [10, 4]);
    }
    for key in ["label", "small"] {
        let labels = numbers(&container, key).to_indices(Base::Zero).unwrap();
        assert_eq!(labels, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0], "{key}");
    }
    assert_eq!(numbers(&container, "half").to_matrix().col_as_slice(9), [9.125]);
    assert_eq!(numbers(&container, "flag").element(), Element::Bool);
    for key in ["name", "kind"] {
        assert_eq!(container.strings(key).unwrap()[8..], ["class 2", "class 0"], "{key}");
    }
    for key in ["when", "price"] {
        assert_eq!(
            message(&container, Some(key)),
            format!("key `{key}`: expected numbers, found something else")
        );
    }
    let missing = message(&container, Some("labels"));
    assert!(missing.starts_with("has no key `labels`: it has `features`, `fixed`, "), "{missing}");
    let wide = message(&open("wide-none.parquet"), Some("x"));
    assert_eq!(wide, "has no key `x`: it has `id`, `f0`, `f1`, `f2`, `f3`");
    assert!(
        message(&container, None).starts_with("expected one entry of numbers, found `features`, `fixed`")
    );
}

#[test]
fn many_columns_are_one_matrix_whatever_packs_them() {
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"] {
        let container = open(&format!("wide-{codec}.parquet"));
        assert_eq!(container.array(None).unwrap().to_matrix(), features(10, 4), "{codec}");
        assert_eq!(container.strings("id").unwrap().len(), 10);
    }
    let brotli = message(&open("wide-brotli.parquet"), None);
    assert!(brotli.contains("brotli"), "{brotli}");
}

#[test]
fn gaps_are_errors_with_their_row() {
    let container = open("gaps.parquet");
    for (key, problem) in [
        ("number", "row 1: expected a value, found none"),
        ("list", "row 1: expected a list of 2, as in the rows before, found one of 1"),
        ("hole", "row 1: expected a list of numbers, found one that is empty or has gaps"),
        ("inner", "row 1: expected a list of numbers, found one that is empty or has gaps"),
        ("empty", "row 1: expected a list of numbers, found one that is empty or has gaps"),
        ("nested", "key `nested`: expected numbers, found something else"),
    ] {
        assert_eq!(message(&container, Some(key)), problem, "{key}");
    }
    let text = container.strings("text").unwrap_err().to_string();
    assert!(text.ends_with("row 1: expected a value, found none"), "{text}");
}
