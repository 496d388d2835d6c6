//! Text tables in a dataset folder, and text tables that are damaged.

use std::path::Path;
use std::sync::Arc;

use bidilel_data::container::Container;
use proptest::prelude::*;

use crate::support::{Sample, container};

#[test]
fn a_dataset_can_be_all_text() {
    let sample = Sample::new();
    sample.put("labels.npy", "id,label,name\na,1,dog\nb,2,wolf\nc,2,wolf\nd,0,cat\n");
    sample.put("zoom.npy", "1 2\n3 4\n5 6\n7 8\n");
    sample.put("area.npy", "1,2,3,4\n");
    sample.edit("\"labels.npy\"", "{ file = \"labels.npy\", key = \"label\" }");
    assert_eq!(sample.open().dataset.labels, [1, 2, 2, 0]);
    sample.edit("\"labels.npy\"", "{ file = \"labels.npy\", key = \"name\" }");
    assert_eq!(sample.open().dataset.labels, [1, 2, 2, 0]);
    let mut row = vec![0.0; 2];
    sample.open().dataset.visual[0].rows.read(3, &mut row);
    assert_eq!(row, [7.0, 8.0]);
    sample.put("dataset.toml", crate::support::MANIFEST);
    sample.put("labels.npy", "1\n0\n2\n2\n");
    assert_eq!(sample.open().dataset.labels, [1, 0, 2, 2]);
}

#[test]
fn a_ragged_table_names_its_line() {
    let sample = Sample::new();
    sample.put("zoom.npy", "1 2\n3 4\n5\n7 8\n");
    assert_eq!(sample.error().0, "`zoom.npy`: line 3: expected 2 fields, found 1");
    sample.put("zoom.npy", "1,2;3\n3,4;5\n");
    assert_eq!(sample.error().1, "write decimal points, not commas");
}

fn exhaust(bytes: Vec<u8>) {
    let size = bytes.len();
    let Ok(container) = container(bytes) else { return };
    for entry in container.entries().unwrap_or_default() {
        if let Ok(array) = container.array(Some(&entry.key)) {
            assert!(array.rows() * array.columns() <= size);
        }
        let _ = container.strings(&entry.key);
    }
    let _ = container.array(None);
}

#[test]
fn marks_of_the_byte_order_alone_are_an_empty_file() {
    for marks in 1..4 {
        exhaust("\u{feff}".repeat(marks).into_bytes());
    }
}

proptest! {
    #[test]
    fn any_text_gives_an_error_or_a_readable_table(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "1", "-2.5e3", "nan", "a", "é", ",", ",", ";", "\t", " ", "\n", "\n", "\r\n", "\r", "\"", "NA", "\u{feff}",
            ]),
            0..60,
        ),
    ) {
        exhaust(pieces.concat().into_bytes());
    }

    #[test]
    fn any_bytes_give_an_error_or_a_readable_table(bytes in prop::collection::vec(1..=255_u8, 0..200)) {
        exhaust(bytes);
    }

    #[test]
    fn numbers_come_back(values in prop::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 4)) {
        for between in [",", ";", "\t", "  "] {
            let text = format!(
                "{:?}{between}{:e}\n{}{between}{:?}",
                values[0], values[1], values[2], values[3]
            );
            let container = Container::from_bytes(Path::new("x"), Arc::new(text)).unwrap();
            let matrix = container.array(None).unwrap().to_matrix();
            prop_assert_eq!([matrix.col_as_slice(0), matrix.col_as_slice(1)].concat(), &values[..]);
        }
    }
}
