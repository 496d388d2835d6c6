//! Rows that are read block by block, as `predict` reads them, against the same rows read at once.

use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs, process, thread};

use bidilel_data::array::Array;
use bidilel_data::table::{self, Choice, Streamed, Wanted};

/// Rows of a block: few, so that short files have several.
const BLOCK_ROWS: usize = 5;
/// Rows that are compared; more of them say nothing new.
const MAX_ROWS: usize = 2000;

/// Both ways to read give the same numbers, for every key and, without one, for the file as a table.
pub fn compare(bytes: &[u8], keys: &[String]) {
    // Streams open their file by its path: it may be larger than memory.
    let path = temporary();
    fs::write(&path, bytes).expect("a temporary file");
    let wanted = |key, transpose| Wanted { key, transpose, ..Wanted::default() };
    let keys = keys.iter().map(|key| Some(key.as_str()));
    for wanted in keys.chain([None]).flat_map(|key| [wanted(key, false), wanted(key, true)]) {
        let choice = Choice::default();
        let Ok(Some(streamed)) = table::stream(&path, &choice, wanted) else { continue };
        let whole = table::from_bytes(&path, Arc::new(bytes.to_vec()), &choice, wanted);
        compare_one(streamed, whole.map(|read| read.features.array), wanted);
    }
    fs::remove_file(&path).expect("the temporary file is still there");
}

fn compare_one(mut streamed: Streamed, whole: bidilel_data::Result<Array>, wanted: Wanted<'_>) {
    let (rows, columns) = (streamed.stream.rows(), streamed.stream.columns());
    if let Ok(whole) = &whole {
        assert_eq!((whole.rows(), whole.columns()), (rows, columns), "{wanted:?}");
    }
    let whole = whole.map(|array| array.to_matrix());
    let mut start = 0;
    while start < rows.min(MAX_ROWS) {
        let end = rows.min(start + BLOCK_ROWS);
        match (streamed.stream.read(start..end), &whole) {
            // Points are columns of a matrix.
            (Ok(block), Ok(whole)) => {
                let block = block.to_matrix();
                for (place, row) in (start..end).enumerate() {
                    for column in 0..columns {
                        let (one, other): (f64, f64) = (block[(column, place)], whole[(column, row)]);
                        let same = one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan());
                        assert!(same, "{one} != {other}, row {row} of {rows}, column {column}, {wanted:?}");
                    }
                }
            }
            (Err(error), Ok(_)) => panic!("only a block cannot be read: {error}, {wanted:?}"),
            (Err(_), Err(_)) => return,
            (Ok(_), Err(_)) => {}
        }
        start = end;
    }
    // A Parquet table without rows is a stream of none, and no array.
    if let (Err(error), true) = (whole, (1..=MAX_ROWS).contains(&rows)) {
        panic!("only all rows at once cannot be read: {error}, {wanted:?}");
    }
}

/// Tests run on several threads.
fn temporary() -> PathBuf {
    env::temp_dir().join(format!("bidilel-fuzz-{}-{:?}", process::id(), thread::current().id()))
}
