//! Numbers: mapped in the type that they are stored in, which may be smaller than the one that MATLAB shows.

use std::path::Path;
use std::sync::Arc;

use super::element::{Element, INT32, MATRIX, Source, UINT32, number_from_kind};
use super::matrix::{Class, Matrix};
use crate::array::{Array, ByteOrder, Element as Number, Layout, Order};
use crate::container::inflated::WHOLE_BYTES;
use crate::error::{Error, Result};
use crate::room;

/// A sparse matrix is made dense up to this many elements, whatever the file holds.
const DENSE_ALWAYS: usize = 1 << 20;

/// Beyond that, a dense matrix may have this many elements for every one that is stored.
const DENSE_FACTOR: usize = 64;

/// The numbers of a matrix; `path` is their name in messages.
pub(super) fn array(path: &Path, source: &Source, matrix: &Matrix) -> Result<Array> {
    match matrix.class {
        Class::Numeric { logical } => {
            let shape = vector_if_empty(&matrix.shape);
            if matrix.content.is_done() && shape == [0] {
                return Array::new(path, Arc::new([]), &layout(source, 0, shape, Number::F64));
            }
            let element = matrix.content.clone().next(source)?;
            let number = number(source, element)?;
            let number = if logical && number.size() == 1 { Number::Bool } else { number };
            let layout = layout(source, element.start, shape, number);
            Array::within(path, source.bytes.clone(), &layout, element.end)
        }
        Class::Sparse => dense(path, source, matrix),
        _ => Err(Error::Element { path: path.to_owned(), expected: "numbers", found: "MATLAB".to_owned() }),
    }
}

/// Where the numbers of a large matrix begin, from the first of its `declared` bytes; none for anything else.
pub(super) fn layout_from_start(file: &Source, start: Vec<u8>, declared: usize) -> Result<Option<Layout>> {
    if declared <= WHOLE_BYTES || start.len() < 8 {
        return Ok(None);
    }
    let source = Source { bytes: Arc::new(start), ..file.clone() };
    let element = Element { kind: MATRIX, start: 8, end: source.content().len() };
    let matrix = Matrix::parse(&source, element)?;
    let Class::Numeric { logical } = matrix.class else { return Ok(None) };
    // The numbers themselves go on beyond these bytes, so only their tag can be read.
    let at = matrix.content.at;
    let tag = Element { kind: 0, start: at, end: (at + 8).min(source.content().len()) };
    let mut words = source.words(tag);
    let (Some(kind), Some(size)) = (words.next(), words.next()) else { return Ok(None) };
    let Some(number) = number_from_kind(kind) else { return Ok(None) };
    let count = matrix.count(&source)?;
    if count.checked_mul(number.size()) != Some(size as usize) {
        return Ok(None);
    }
    let number = if logical && number.size() == 1 { Number::Bool } else { number };
    Ok(Some(layout(&source, at + 8, matrix.shape, number)))
}

fn layout(source: &Source, offset: usize, shape: Vec<usize>, element: Number) -> Layout {
    Layout { offset, shape, order: Order::Fortran, element, byte_order: source.order }
}

fn number(source: &Source, element: Element) -> Result<Number> {
    number_from_kind(element.kind).ok_or_else(|| {
        source.malformed(format!("expected numbers, found an element of type {}", element.kind))
    })
}

/// MATLAB has no vectors: an empty one is a matrix of 0 x 0, 0 x 1 or 1 x 0.
fn vector_if_empty(shape: &[usize]) -> Vec<usize> {
    if matches!(shape, [0, 0 | 1] | [1, 0]) { vec![0] } else { shape.to_owned() }
}

/// A sparse matrix with all its zeros: row numbers, where each column begins among them, and the values.
fn dense(path: &Path, source: &Source, matrix: &Matrix) -> Result<Array> {
    let &[rows, columns] = &matrix.shape[..] else {
        return Err(Error::Dimensions {
            path: path.to_owned(),
            expected: "a sparse matrix",
            shape: matrix.shape.clone(),
        });
    };
    let mut content = matrix.content;
    let row_numbers = content.expect(source, &[INT32, UINT32], "the rows of a sparse matrix")?;
    let starts = content.expect(source, &[INT32, UINT32], "the columns of a sparse matrix")?;
    let element = content.next(source)?;
    let number = number(source, element)?;
    let stored = element.size() / number.size();
    let values = layout(source, element.start, vec![stored], number);
    let values = Array::within(path, source.bytes.clone(), &values, element.end)?.to_matrix();

    let count = matrix.count(source)?;
    if count > DENSE_ALWAYS.max(stored.saturating_mul(DENSE_FACTOR)) {
        let what = format!("a sparse matrix of {rows} x {columns} with {stored} values");
        return Err(Error::Unsupported { path: path.to_owned(), what });
    }
    let row_numbers: Vec<usize> = source.words(row_numbers).map(|row| row as usize).collect();
    let starts: Vec<usize> = source.words(starts).map(|start| start as usize).collect();
    if starts.len() != columns + 1 {
        return Err(source.malformed(format!("{columns} sparse columns have {} starts", starts.len())));
    }
    let mut bytes = room::zeros(path, count * size_of::<f64>())?;
    for column in 0..columns {
        let inside = starts[column]..starts[column + 1];
        let misplaced = || source.malformed(format!("sparse column {column} has values that are not there"));
        if inside.end > stored {
            return Err(misplaced());
        }
        let lines = row_numbers.get(inside.clone()).ok_or_else(misplaced)?;
        for (&row, value) in lines.iter().zip(inside) {
            if row >= rows {
                return Err(misplaced());
            }
            let at = (column * rows + row) * size_of::<f64>();
            bytes[at..at + size_of::<f64>()].copy_from_slice(&values[(0, value)].to_le_bytes());
        }
    }
    let layout = Layout {
        offset: 0,
        shape: vector_if_empty(&matrix.shape),
        order: Order::Fortran,
        element: Number::F64,
        byte_order: ByteOrder::Little,
    };
    Array::new(path, Arc::new(bytes), &layout)
}
