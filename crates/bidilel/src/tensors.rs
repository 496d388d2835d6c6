//! Matrices in safetensors files, which hold models and encoders.
//!
//! Whatever is wrong with a file is told as a phrase; the caller knows what kind of file it is.

use std::collections::HashMap;

use faer::Mat;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use bidilel_math::Scalar;

/// A tensor to be written.
pub(crate) struct Tensor {
    name: String,
    element: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// A column-major matrix as a row-major tensor of the transposed shape: the same bytes.
pub(crate) fn pack(name: &str, matrix: &Mat<f64>) -> Tensor {
    let mut bytes = Vec::with_capacity(8 * matrix.nrows() * matrix.ncols());
    for column in 0..matrix.ncols() {
        matrix.col_as_slice(column).iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
    let shape = vec![matrix.ncols(), matrix.nrows()];
    Tensor { name: name.to_owned(), element: Dtype::F64, shape, bytes }
}

/// The same of single precision, which stays as narrow as it was.
pub(crate) fn pack_narrow(name: &str, matrix: &Mat<f32>) -> Tensor {
    let mut bytes = Vec::with_capacity(4 * matrix.nrows() * matrix.ncols());
    for column in 0..matrix.ncols() {
        matrix.col_as_slice(column).iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
    let shape = vec![matrix.ncols(), matrix.nrows()];
    Tensor { name: name.to_owned(), element: Dtype::F32, shape, bytes }
}

/// A matrix by its name, with as many rows and columns as are expected.
pub(crate) fn unpack(
    file: &SafeTensors<'_>,
    name: &str,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<Mat<f64>, String> {
    let (data, (found_rows, found_columns)) = shaped(file, name, Dtype::F64, rows, columns)?;
    let numbers = data.chunks_exact(8).map(|bytes| bytes.try_into().expect("chunks of eight bytes"));
    fill(name, found_rows, found_columns, numbers.map(f64::from_le_bytes), f64::is_finite)
}

/// A matrix of single precision.
pub(crate) fn unpack_narrow(
    file: &SafeTensors<'_>,
    name: &str,
    rows: usize,
    columns: usize,
) -> Result<Mat<f32>, String> {
    let (data, _) = shaped(file, name, Dtype::F32, Some(rows), Some(columns))?;
    let numbers = data.chunks_exact(4).map(|bytes| bytes.try_into().expect("chunks of four bytes"));
    fill(name, rows, columns, numbers.map(f32::from_le_bytes), f32::is_finite)
}

/// A tensor's bytes with its rows and columns, checked against what is expected.
fn shaped<'a>(
    file: &SafeTensors<'a>,
    name: &str,
    element: Dtype,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<(&'a [u8], (usize, usize)), String> {
    let tensor = file.tensor(name).map_err(|error| error.to_string())?;
    let problem = |problem: String| format!("tensor `{name}` {problem}");
    let &[found_columns, found_rows] = tensor.shape() else {
        return Err(problem(format!("has {} dimensions instead of 2", tensor.shape().len())));
    };
    if tensor.dtype() != element {
        return Err(problem(format!("holds {:?} instead of {element:?}", tensor.dtype())));
    }
    if rows.is_some_and(|rows| rows != found_rows) || columns.is_some_and(|columns| columns != found_columns)
    {
        let side = |expected: Option<usize>| expected.map_or("any".to_owned(), |count| count.to_string());
        return Err(problem(format!(
            "has the shape {found_columns} x {found_rows}, expected {} x {}",
            side(columns),
            side(rows)
        )));
    }
    Ok((tensor.data(), (found_rows, found_columns)))
}

fn fill<T: Scalar>(
    name: &str,
    rows: usize,
    columns: usize,
    mut numbers: impl Iterator<Item = T>,
    is_finite: fn(T) -> bool,
) -> Result<Mat<T>, String> {
    let mut matrix = Mat::zeros(rows, columns);
    for column in 0..columns {
        // The tensor's length was checked against its shape when the file was opened.
        for (value, number) in matrix.col_as_slice_mut(column).iter_mut().zip(&mut numbers) {
            *value = number;
            if !is_finite(number) {
                return Err(format!("tensor `{name}` has a number that is not finite"));
            }
        }
    }
    Ok(matrix)
}

/// The bytes of a file with these tensors, and a header under a key of its metadata.
pub(crate) fn serialize(tensors: &[Tensor], key: &str, header: String) -> Result<Vec<u8>, String> {
    let views = tensors
        .iter()
        .map(|Tensor { name, element, shape, bytes }| {
            Ok((name.as_str(), TensorView::new(*element, shape.clone(), bytes)?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(|error| error.to_string())?;
    let metadata = HashMap::from([(key.to_owned(), header)]);
    safetensors::tensor::serialize(views, Some(metadata)).map_err(|error| error.to_string())
}
