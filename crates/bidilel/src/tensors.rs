//! Matrices in safetensors files, which hold models and encoders.
//!
//! What is wrong with a file is a [`FileProblem`]; the caller knows what kind of file it is.

use std::io::{self, Write};

use faer::Mat;
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::json;

use bidilel_math::Scalar;

use crate::error::FileProblem;

/// Numbers that are turned into bytes at a time.
const CHUNK_NUMBERS: usize = 1 << 16;

/// A tensor to be written, from where its numbers are stored.
pub(crate) struct Tensor<'a> {
    name: String,
    shape: [usize; 2],
    numbers: Numbers<'a>,
}

enum Numbers<'a> {
    Wide(&'a Mat<f64>),
    Narrow(&'a Mat<f32>),
    Vector(&'a [f64]),
    Bytes(&'a [u8]),
}

impl<'a> Tensor<'a> {
    /// A column-major matrix as a row-major tensor of the transposed shape: the same bytes.
    pub(crate) fn new(name: &str, matrix: &'a Mat<f64>) -> Self {
        let shape = [matrix.ncols(), matrix.nrows()];
        Self { name: name.to_owned(), shape, numbers: Numbers::Wide(matrix) }
    }

    /// The same in single precision.
    pub(crate) fn narrow(name: &str, matrix: &'a Mat<f32>) -> Self {
        let shape = [matrix.ncols(), matrix.nrows()];
        Self { name: name.to_owned(), shape, numbers: Numbers::Narrow(matrix) }
    }

    /// Numbers in one row.
    pub(crate) fn vector(name: &str, numbers: &'a [f64]) -> Self {
        Self { name: name.to_owned(), shape: [1, numbers.len()], numbers: Numbers::Vector(numbers) }
    }

    /// The bytes of a file, in one row.
    pub(crate) fn file(name: &str, bytes: &'a [u8]) -> Self {
        Self { name: name.to_owned(), shape: [1, bytes.len()], numbers: Numbers::Bytes(bytes) }
    }

    fn element(&self) -> Dtype {
        match self.numbers {
            Numbers::Wide(_) | Numbers::Vector(_) => Dtype::F64,
            Numbers::Narrow(_) => Dtype::F32,
            Numbers::Bytes(_) => Dtype::U8,
        }
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.element().bitsize() / 8
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.numbers {
            Numbers::Vector(numbers) => write_wide(numbers, out),
            Numbers::Bytes(bytes) => out.write_all(bytes),
            Numbers::Wide(matrix) => {
                (0..matrix.ncols()).try_for_each(|column| write_wide(matrix.col_as_slice(column), out))
            }
            Numbers::Narrow(matrix) => (0..matrix.ncols()).try_for_each(|column| {
                let bytes: Vec<u8> =
                    matrix.col_as_slice(column).iter().flat_map(|value| value.to_le_bytes()).collect();
                out.write_all(&bytes)
            }),
        }
    }
}

fn write_wide(numbers: &[f64], out: &mut dyn Write) -> io::Result<()> {
    // In chunks: what is written may be larger than the memory that is free.
    numbers.chunks(CHUNK_NUMBERS).try_for_each(|chunk| {
        let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
        out.write_all(&bytes)
    })
}

/// A matrix by its name, with as many rows and columns as are expected.
pub(crate) fn unpack(
    file: &SafeTensors<'_>,
    name: &str,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<Mat<f64>, FileProblem> {
    let (data, (found_rows, found_columns)) = shaped(file, name, Dtype::F64, rows, columns)?;
    let numbers = data.chunks_exact(8).map(|bytes| bytes.try_into().expect("chunks of eight bytes"));
    fill(name, found_rows, found_columns, numbers.map(f64::from_le_bytes), f64::is_finite)
}

/// Numbers in one row, `count` of them.
pub(crate) fn unpack_vector(
    file: &SafeTensors<'_>,
    name: &str,
    count: usize,
) -> Result<Vec<f64>, FileProblem> {
    let (data, _) = shaped(file, name, Dtype::F64, Some(count), Some(1))?;
    let numbers: Vec<f64> = data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    if numbers.iter().all(|number| number.is_finite()) {
        Ok(numbers)
    } else {
        Err(FileProblem::NotFinite { name: name.to_owned() })
    }
}

/// A matrix of single precision.
pub(crate) fn unpack_narrow(
    file: &SafeTensors<'_>,
    name: &str,
    rows: usize,
    columns: usize,
) -> Result<Mat<f32>, FileProblem> {
    let (data, _) = shaped(file, name, Dtype::F32, Some(rows), Some(columns))?;
    let numbers = data.chunks_exact(4).map(|bytes| bytes.try_into().expect("chunks of four bytes"));
    fill(name, rows, columns, numbers.map(f32::from_le_bytes), f32::is_finite)
}

/// The bytes of a file.
pub(crate) fn unpack_file(file: &SafeTensors<'_>, name: &str) -> Result<Vec<u8>, FileProblem> {
    let (data, _) = shaped(file, name, Dtype::U8, None, Some(1))?;
    Ok(data.to_vec())
}

/// A tensor's bytes with its rows and columns, checked against what is expected.
fn shaped<'a>(
    file: &SafeTensors<'a>,
    name: &str,
    element: Dtype,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<(&'a [u8], (usize, usize)), FileProblem> {
    let tensor = file.tensor(name).map_err(|cause| FileProblem::Tensors { cause })?;
    let name = || name.to_owned();
    let &[found_columns, found_rows] = tensor.shape() else {
        return Err(FileProblem::NotMatrix { name: name(), found: tensor.shape().len() });
    };
    if tensor.dtype() != element {
        return Err(FileProblem::Element { name: name(), expected: element, found: tensor.dtype() });
    }
    if rows.is_some_and(|rows| rows != found_rows) || columns.is_some_and(|columns| columns != found_columns)
    {
        let (expected, found) = ([columns, rows], [found_columns, found_rows]);
        return Err(FileProblem::Shape { name: name(), expected, found });
    }
    Ok((tensor.data(), (found_rows, found_columns)))
}

fn fill<T: Scalar>(
    name: &str,
    rows: usize,
    columns: usize,
    mut numbers: impl Iterator<Item = T>,
    is_finite: fn(T) -> bool,
) -> Result<Mat<T>, FileProblem> {
    let mut matrix = Mat::zeros(rows, columns);
    for column in 0..columns {
        // The number of bytes was checked against the shape when the file was opened.
        for (value, number) in matrix.col_as_slice_mut(column).iter_mut().zip(&mut numbers) {
            *value = number;
            if !is_finite(number) {
                return Err(FileProblem::NotFinite { name: name.to_owned() });
            }
        }
    }
    Ok(matrix)
}

/// Writes a file with these tensors, and a header under a key of its metadata, without copying any of them.
///
/// The format: the length of a JSON object in eight bytes, the object, padded so that numbers are aligned, and the
/// numbers. The widest come first.
pub(crate) fn write(tensors: &[Tensor<'_>], key: &str, header: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut ordered: Vec<&Tensor<'_>> = tensors.iter().collect();
    ordered.sort_by_key(|tensor| (std::cmp::Reverse(tensor.element().bitsize()), &tensor.name));
    let mut object = serde_json::Map::new();
    object.insert("__metadata__".to_owned(), json!({ key: header }));
    let mut offset = 0;
    for tensor in &ordered {
        let end = offset + tensor.bytes();
        let (dtype, shape) = (tensor.element(), tensor.shape);
        object.insert(
            tensor.name.clone(),
            json!({"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}),
        );
        offset = end;
    }
    let mut text = serde_json::to_vec(&object)?;
    text.resize(text.len().next_multiple_of(8), b' ');
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(&text)?;
    ordered.iter().try_for_each(|tensor| tensor.write(out))
}
