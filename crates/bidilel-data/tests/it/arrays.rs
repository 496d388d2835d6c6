//! Every element type, both orders of elements, both orders of bytes.

use std::path::Path;
use std::sync::Arc;

use bidilel::dataset::Rows;
use bidilel_data::array::{Array, Base, from_bytes};
use half::f16;

use crate::support::{Sample, array, npy};

fn parse(bytes: Vec<u8>) -> Array {
    from_bytes(Path::new("x.npy"), Arc::new(bytes), None).unwrap()
}

fn message(bytes: Vec<u8>) -> String {
    from_bytes(Path::new("x.npy"), Arc::new(bytes), None).unwrap_err().to_string()
}

fn rows(array: &Array) -> Vec<Vec<f32>> {
    let read = |index| {
        let mut row = vec![0.0; array.dim()];
        array.read(index, &mut row);
        row
    };
    (0..array.count()).map(read).collect()
}

type Encode = fn(u8) -> Vec<u8>;

/// How a small number is written in every type and in both orders of bytes.
macro_rules! encodings {
    ($($code:literal: $number:ty, $convert:expr);* $(;)?) => {
        [$(
            (concat!("'<", $code, "'"), |value: u8| { let value: $number = $convert(value); value.to_le_bytes().to_vec() }),
            (concat!("'>", $code, "'"), |value: u8| { let value: $number = $convert(value); value.to_be_bytes().to_vec() }),
        )*]
    };
}

#[test]
fn every_type_order_and_byte_order_reads_the_same() {
    let encodings: [(&str, Encode); 22] = encodings![
        "f2": f16, |v| f16::from_f32(f32::from(v)); "f4": f32, f32::from; "f8": f64, f64::from;
        "i1": i8, |v| i8::try_from(v).unwrap(); "i2": i16, i16::from; "i4": i32, i32::from; "i8": i64, i64::from;
        "u1": u8, |v| v; "u2": u16, u16::from; "u4": u32, u32::from; "u8": u64, u64::from;
    ];
    let wanted = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]];
    for (descr, encode) in encodings {
        for (fortran, order) in [(false, [0, 1, 2, 3, 4, 5]), (true, [0, 3, 1, 4, 2, 5])] {
            let data: Vec<u8> = order.into_iter().flat_map(encode).collect();
            let array = parse(npy(descr, fortran, "(2, 3)", &data));
            assert_eq!((array.rows(), array.columns(), array.dimensions()), (2, 3, 2));
            assert_eq!(rows(&array), wanted, "{descr} {fortran}");
            let matrix = array.to_matrix();
            for (row, wanted) in wanted.iter().enumerate() {
                for (column, &wanted) in wanted.iter().enumerate() {
                    assert!((matrix[(column, row)] - f64::from(wanted)).abs() < 1e-12);
                }
            }
            let turned = array.transposed();
            assert_eq!(rows(&turned), [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], "{descr} {fortran}");
            let array = turned.transposed();
            assert!(array.stored_row(1).is_none_or(|row| row == wanted[1] && !fortran), "{descr} {fortran}");
        }
        let data: Vec<u8> = (0..6).flat_map(encode).collect();
        for shape in ["(6,)", "(6, 1)", "(1, 6)"] {
            for fortran in [false, true] {
                let vector = parse(npy(descr, fortran, shape, &data));
                assert_eq!(vector.to_indices(Base::Zero).unwrap(), [0, 1, 2, 3, 4, 5], "{descr} {shape}");
            }
        }
    }
}

#[test]
fn rows_are_there_without_a_copy_where_they_lie_side_by_side_in_single_precision() {
    let values = [0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let single = parse(array(&[2, 3], &values));
    assert_eq!(single.stored_row(1), cfg!(target_endian = "little").then_some(&values[3..]));
    assert_eq!(single.transposed().stored_row(1), None);
    assert_eq!(parse(array(&[2, 3], &values.map(f64::from))).stored_row(1), None);
    // A header of odd length: rows are not where single precision may lie.
    let odd =
        npy("'<f4' ", false, "(2, 3)", &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
    let padded =
        npy("'<f4'", false, "(2, 3)", &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
    assert!([odd, padded].into_iter().any(|bytes| parse(bytes).stored_row(0).is_none()));
}

#[test]
fn halves_are_widened_across_blocks() {
    let values: Vec<f16> = (0..600_u16).map(|v| f16::from_f32(f32::from(v) - 0.5)).collect();
    let wanted: Vec<f32> = values.iter().map(|v| v.to_f32()).collect();
    assert_eq!(rows(&parse(array(&[1, 600], &values)))[0], wanted);
    assert_eq!(rows(&parse(array(&[600, 1], &values)).transposed())[0], wanted);
    assert_eq!(rows(&parse(array(&[2, 300], &values)))[1], wanted[300..]);
}

#[test]
fn booleans_are_numbers_but_not_indices() {
    let mask = npy("'|b1'", false, "(3,)", &[1, 0, 7]);
    assert_eq!(rows(&parse(mask.clone())), [[1.0], [0.0], [1.0]]);
    let error = parse(mask).to_indices(Base::Zero).unwrap_err();
    assert_eq!(error.to_string(), "`x.npy`: expected integers, found elements of type `bool`");
    assert!(error.hint().unwrap().contains("flatnonzero"));
}

#[test]
fn indices_are_whole_numbers_from_the_base() {
    let indices = |bytes, base| parse(bytes).to_indices(base);
    assert_eq!(indices(array(&[2], &[1.0_f64, 3.0]), Base::One).unwrap(), [0, 2]);
    assert_eq!(indices(array::<i64>(&[0], &[]), Base::Zero).unwrap(), [0_usize; 0]);
    for (bytes, base, problem) in [
        (array(&[2], &[0_i64, -1]), Base::Zero, "row 1: expected an integer from 0, found -1"),
        (array(&[2], &[1_i64, 0]), Base::One, "row 1: expected an integer from 1, found 0"),
        (array(&[2], &[1.0_f32, 1.5]), Base::Zero, "row 1: expected an integer from 0, found 1.5"),
        (array(&[1], &[f64::NAN]), Base::Zero, "row 0: expected an integer from 0, found NaN"),
        (array(&[1], &[1e300]), Base::One, "row 0: expected an integer from 1, found 1000"),
        (array(&[2, 2], &[0_i64; 4]), Base::Zero, "expected a vector, found an array of 2 x 2"),
    ] {
        let error = indices(bytes, base).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`x.npy`: {problem}")), "{error}");
    }
    let largest = npy("'<u8'", false, "(1,)", &u64::MAX.to_le_bytes());
    assert_eq!(indices(largest, Base::Zero).unwrap(), [usize::MAX]);
    let smallest = npy("'<i8'", false, "(1,)", &i64::MIN.to_le_bytes());
    assert!(indices(smallest, Base::One).is_err());
}

#[test]
fn other_elements_and_shapes_are_refused_by_name() {
    for (descr, found) in
        [("'|O'", "|O"), ("'<c8'", "<c8"), ("'<U5'", "<U5"), ("'<M8[ns]'", "<M8[ns]"), ("''", "")]
    {
        let wanted = format!("`x.npy`: expected numbers, found elements of type `{found}`");
        assert_eq!(message(npy(descr, false, "(1,)", &[0; 64])), wanted);
    }
    for (shape, found) in [
        ("()", "0 dimensions"),
        ("(1, 2, 3)", "1 x 2 x 3"),
        ("(0, 3)", "0 x 3"),
        ("(3, 0)", "3 x 0"),
        ("(1,1,1,1,1,1,1,1,1)", "9 dimensions"),
    ] {
        let wanted = format!("`x.npy`: expected numbers in 1 or 2 dimensions, found an array of {found}");
        assert_eq!(message(npy("'<f4'", false, shape, &[0; 64])), wanted);
    }
}

#[test]
fn a_file_is_told_by_its_content_and_has_no_keys() {
    let sample = Sample::new();
    let path = sample.put("features.mat", array(&[1, 1], &[2.5_f32]));
    assert_eq!(rows(&bidilel_data::array::open(&path, None).unwrap()), [[2.5]]);
    let error = bidilel_data::array::open(&path, Some("features")).unwrap_err();
    assert!(error.to_string().ends_with("features.mat`: has no keys, so key `features` is not in it"));
    assert_eq!(
        message(b"a\0b\n".to_vec()),
        "`x.npy`: expected an array (.npy, .npz, .mat, .h5, .safetensors, .parquet, .csv), found something else"
    );
    assert_eq!(message(b"a,b\n".to_vec()), "`x.npy`: expected one entry of numbers, found none");
    assert!(message(b"PAR1".to_vec()).starts_with("`x.npy`: not readable as Parquet: "));
    assert!(message(b"\x89HDF\r\n\x1a\n".to_vec()).starts_with("`x.npy`: not readable as HDF5: "));
}
