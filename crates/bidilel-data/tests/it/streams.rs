//! Rows that are decoded block by block are those of the whole file.

use std::fs;
use std::path::Path;

use bidilel_data::table::{self, Choice, Columns, Wanted};
use flate2::Crc;

use crate::hostile_archives::{archive_with, deflated};
use crate::hostile_matlab::{compressed, element, matlab, matrix};
use crate::support::{fixture, npy};

/// Every way to cut the rows of a file gives the rows of the whole.
fn assert_streams(path: &Path, key: Option<&str>, columns: Option<&str>) {
    let wanted = Wanted { key, ..Wanted::default() };
    assert_streams_as(path, wanted, columns, &[1, 3, 4, 100]);
}

fn assert_streams_as(path: &Path, wanted: Wanted<'_>, columns: Option<&str>, steps: &[usize]) {
    let choice = Choice { columns: columns.map(|one| Columns(vec![one.to_owned()])), ..Choice::default() };
    let whole = table::open(path, &choice, wanted).unwrap().features.array.to_matrix();
    let mut stream = table::stream(path, &choice, wanted).unwrap().expect("it is streamed").stream;
    assert_eq!((stream.rows(), stream.columns()), (whole.ncols(), whole.nrows()));
    for &step in steps {
        for first in (0..stream.rows()).step_by(step) {
            let block = first..(first + step).min(stream.rows());
            let found = stream.read(block.clone()).unwrap().to_matrix();
            assert_eq!(found, whole.subcols(first, block.len()), "{} {block:?}", path.display());
        }
    }
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_streams_are_the_whole_table() {
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"] {
        assert_streams(&fixture(&format!("wide-{codec}.parquet")), None, Some("f*"));
    }
    for key in ["features", "fixed", "label", "small", "half", "flag"] {
        assert_streams(&fixture("table.parquet"), Some(key), None);
    }
    let wanted = |key| Wanted { key: Some(key), ..Wanted::default() };
    for (key, problem) in [
        ("number", "row 1: expected a value, found none"),
        ("list", "expected a list of 2, as in the rows before, found one of 1"),
        ("hole", "row 1: expected a list of numbers, found one that is empty or has gaps"),
    ] {
        let mut streamed =
            table::stream(&fixture("gaps.parquet"), &Choice::default(), wanted(key)).unwrap().unwrap();
        let error = streamed.stream.read(0..3).unwrap_err().to_string();
        assert!(error.contains(problem), "{key}: {error}");
    }
}

#[test]
#[cfg(feature = "parquet")]
fn row_groups_that_hold_other_rows_than_they_claim_are_refused_whole_and_streamed() {
    // Two row groups of 6 and 4 rows, and where the footer says so: numbers are doubled, negative ones are odd.
    let mut good = fs::read(fixture("wide-none.parquet")).unwrap();
    // A column called `id` would be read at once, also for a stream.
    while let Some(place) = good.windows(3).position(|bytes| bytes == b"\x02id") {
        good[place + 1..place + 3].copy_from_slice(b"zz");
    }
    let footer = good.len() - 8 - 1439;
    let (all, first, second) = (footer + 69, footer + 507, footer + 951);
    assert_eq!([good[all], good[first], good[second]], [20, 12, 8], "the fixture has another footer");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    for (counts, problem) in [
        ([20, 4, 8], "it says that it has 10 rows, but its row groups have 6"),
        // Six rows were streamed: two of the first group, four of the second.
        ([12, 4, 8], "row group 0 says that it has 2 rows, but this column has more"),
        ([18, 12, 6], "row group 1 says that it has 3 rows, but this column has more"),
        ([12, 13, 26], "it has a negative count of rows"),
    ] {
        let mut bytes = good.clone();
        (bytes[all], bytes[first], bytes[second]) = (counts[0], counts[1], counts[2]);
        fs::write(&path, bytes).unwrap();
        let (choice, wanted) = (Choice::default(), Wanted::default());
        let whole = table::open(&path, &choice, wanted).unwrap_err().to_string();
        assert!(whole.ends_with(problem), "{whole}");
        let read = |mut streamed: table::Streamed| {
            let rows = streamed.stream.rows();
            (0..rows).try_for_each(|row| streamed.stream.read(row..row + 1).map(drop))
        };
        let streamed = table::stream(&path, &choice, wanted).and_then(|streamed| read(streamed.unwrap()));
        let streamed = streamed.unwrap_err().to_string();
        assert!(streamed.ends_with(problem), "{streamed}");
    }
}

#[test]
#[cfg(feature = "hdf5")]
fn chunks_of_hdf5_are_streamed_and_what_is_mapped_is_not() {
    for (file, key) in
        [("plain.h5", "packed/deep/features"), ("latest.h5", "packed"), ("latest.h5", "growing")]
    {
        assert_streams(&fixture(file), Some(key), None);
    }
    // MATLAB's columns are rows of the file.
    let wanted = Wanted { key: Some("features"), transpose: true, ..Wanted::default() };
    if table::stream(&fixture("v73.mat"), &Choice::default(), wanted).unwrap().is_some() {
        assert_streams_as(&fixture("v73.mat"), wanted, None, &[1, 3, 100]);
    }
    for (file, key) in [("plain.h5", "contiguous"), ("v73.mat", "features")] {
        let wanted = Wanted { key: Some(key), ..Wanted::default() };
        assert!(table::stream(&fixture(file), &Choice::default(), wanted).unwrap().is_none(), "{file}");
    }
}

#[test]
fn csv_streams_are_the_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |separator: &str, end: &str| {
        let row = |row: usize| format!("{row}.5{separator}{}{separator}-{row}e-3{end}", row * row);
        (0..23).map(row).collect::<String>()
    };
    let texts = [
        ("plain", rows(",", "\n")),
        ("windows", format!("a,b,c\r\n{}", rows(",", "\r\n"))),
        ("old-mac", format!("a,b,c\r{}", rows(",", "\r"))),
        ("marked", format!("\u{feff}a;b;c\n{}\n\n", rows(";", "\n"))),
        ("blanks", rows("  ", "\n")),
        (
            "quoted",
            format!(
                "name,a,b,c\n\"x,\n\"\"y\",1,2,3\n{}",
                rows(",", "\n").replace('\n', "\nz,").trim_end_matches("z,").replacen("0.5", "z,0.5", 1)
            ),
        ),
    ];
    for (name, text) in texts {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        assert_streams(&path, None, None);
    }
    let wrong = folder.path().join("wrong.csv");
    let stream = |text: String| {
        fs::write(&wrong, text).unwrap();
        // Columns that are chosen are not looked at before they are read.
        let choice = Choice { columns: Some(Columns(vec!["*".to_owned()])), ..Choice::default() };
        let mut stream =
            table::stream(&wrong, &choice, Wanted::default()).unwrap().expect("it is streamed").stream;
        let first = stream.read(0..20).map(drop);
        assert!(first.is_ok(), "{first:?}");
        stream.read(20..stream.rows()).unwrap_err().to_string()
    };
    let good = rows(",", "\n");
    for (last, problem) in [
        ("1,2,x\n", "line 24, column 3: expected a number, found `x`"),
        ("1,2\n", "line 24: expected 3 fields, found 2"),
        ("\n1,2,3\n", "line 24 is blank"),
    ] {
        let error = stream(format!("{good}{last}"));
        assert!(error.ends_with(problem), "{error}");
    }
}

#[test]
fn a_column_that_only_begins_to_count_is_a_feature() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    for (last, columns) in [("5000", 2), ("7", 3)] {
        let rows: Vec<String> = (0..5000).map(|row| format!("{row},{}.5,1\n", row % 7)).collect();
        let rows = rows.concat();
        fs::write(&path, format!("n,a,b\n{rows}{last},1,2\n")).unwrap();
        let streamed = table::stream(&path, &Choice::default(), Wanted::default()).unwrap().unwrap();
        assert_eq!(streamed.stream.columns(), columns, "{:?}", streamed.notes);
    }
}

/// 2,100 rows of 1,024 numbers: more than is decompressed at once.
fn numbers() -> Vec<u8> {
    (0..2100 * 1024_u32).flat_map(|index| f64::from(index % 1000).to_le_bytes()).collect()
}

#[test]
fn deflated_arrays_are_streamed_where_rows_lie_one_after_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    for (fortran, shape) in [(false, "(2100, 1024)"), (true, "(1024, 2100)")] {
        let array = npy("'<f8'", fortran, shape, &numbers());
        let mut crc = Crc::new();
        crc.update(&array);
        let size = u32::try_from(array.len()).unwrap();
        let packed = deflated(&array);
        fs::write(&path, archive_with(&[("x.npy", &packed, size, 8)], crc.sum())).unwrap();
        let wanted = Wanted { transpose: fortran, ..Wanted::default() };
        assert_streams_as(&path, wanted, None, &[499, 2100]);
        // Rows that are spread over the whole file are read whole.
        let other = Wanted { transpose: !fortran, ..Wanted::default() };
        assert!(table::stream(&path, &Choice::default(), other).unwrap().is_none());
        // What is damaged is found where it is, or at the end.
        fs::write(&path, archive_with(&[("x.npy", &packed, size, 8)], crc.sum() ^ 1)).unwrap();
        let mut stream = table::stream(&path, &Choice::default(), wanted).unwrap().unwrap().stream;
        assert!(stream.read(0..2099).is_ok());
        let error = stream.read(2099..2100).unwrap_err().to_string();
        assert!(error.ends_with("its checksum does not fit its bytes"), "{error}");
    }
}

#[test]
fn columns_of_compressed_matlab_matrices_are_streamed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mat");
    let body = matrix(6, &[1024, 2100], "features", &element(9, &numbers()));
    let other = matrix(6, &[1, 1], "other", &element(9, &[0; 8]));
    fs::write(&path, matlab(&[compressed(&other), compressed(&body)])).unwrap();
    let wanted = Wanted { key: Some("features"), transpose: true, ..Wanted::default() };
    assert_streams_as(&path, wanted, None, &[499, 2100]);
    let rows = Wanted { transpose: false, ..wanted };
    assert!(table::stream(&path, &Choice::default(), rows).unwrap().is_none());
    let mut cut = compressed(&body);
    let middle = cut.len() / 2;
    cut[middle] ^= 0x55;
    fs::write(&path, matlab(&[cut])).unwrap();
    let mut stream = table::stream(&path, &Choice::default(), wanted).unwrap().unwrap().stream;
    assert!(stream.read(0..2100).is_err());
}

#[test]
fn a_table_of_one_line_is_one_row_unless_it_is_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, "a.jpg,0.5,0.25\n").unwrap();
    assert_streams(&path, None, None);
    let streamed = table::stream(&path, &Choice::default(), Wanted::default()).unwrap().unwrap();
    assert_eq!((streamed.stream.rows(), streamed.stream.columns()), (1, 2));
    for header in ["name,a,b\n", "name,0,1\n"] {
        fs::write(&path, header).unwrap();
        let error = table::stream(&path, &Choice::default(), Wanted::default()).err().unwrap().to_string();
        assert!(error.ends_with("has no column of features, only text"), "{header}: {error}");
    }
}
