//! Arrays of NumPy as feature rows, read where they are.
//!
//! Any element type and any strides are read without a copy of the array: rows of contiguous `float32` are lent as they
//! are, others are converted one row at a time, and numbers that `float32` cannot hold are refused by the library.

use bidilel::{Mat, Rows};
use half::f16;
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A number that features may be given as.
trait Number: Copy + Send + Sync {
    /// NumPy's name of its type.
    const NAME: &'static str;

    /// Rounded to single precision.
    fn narrow(self) -> f32;

    /// In double precision.
    fn wide(self) -> f64;

    /// Numbers that are single precision already.
    fn lent(_: &[Self]) -> Option<&[f32]> {
        None
    }
}

macro_rules! numbers {
    ($($type:ty = $name:literal: $narrow:expr, $wide:expr $(, lent $lent:ident)?;)+) => {
        $(impl Number for $type {
            const NAME: &'static str = $name;

            #[expect(clippy::allow_attributes, reason = "for some types only")]
            #[allow(clippy::cast_possible_truncation, reason = "rounded on purpose; what overflows is found afterwards")]
            fn narrow(self) -> f32 {
                ($narrow)(self)
            }

            fn wide(self) -> f64 {
                ($wide)(self)
            }

            $(fn lent(row: &[Self]) -> Option<&[f32]> {
                let $lent = row;
                Some($lent)
            })?
        })+
    };
}

numbers! {
    f16 = "float16": f16::to_f32, f16::to_f64;
    f32 = "float32": |value| value, f64::from, lent row;
    f64 = "float64": |value| value as f32, |value| value;
    i8 = "int8": f32::from, f64::from;
    i16 = "int16": f32::from, f64::from;
    i32 = "int32": |value| value as f32, f64::from;
    i64 = "int64": |value| value as f32, |value| value as f64;
    u8 = "uint8": f32::from, f64::from;
    u16 = "uint16": f32::from, f64::from;
    u32 = "uint32": |value| value as f32, f64::from;
    u64 = "uint64": |value| value as f32, |value| value as f64;
}

/// A view of an array: one row per instance.
struct View<'a, T>(ArrayView2<'a, T>);

impl<T: Number> Rows for View<'_, T> {
    fn count(&self) -> usize {
        self.0.nrows()
    }

    fn dim(&self) -> usize {
        self.0.ncols()
    }

    fn read(&self, index: usize, into: &mut [f32]) {
        into.iter_mut().zip(self.0.row(index)).for_each(|(into, value)| *into = value.narrow());
    }

    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        self.0.row(index).to_slice().and_then(T::lent)
    }

    fn element(&self) -> &'static str {
        T::NAME
    }

    fn stored(&self, index: usize, column: usize) -> f64 {
        self.0[(index, column)].wide()
    }

    fn vanished(&self, index: usize, row: &[f32]) -> usize {
        let stored = self.0.row(index);
        row.iter().zip(stored).filter(|(read, stored)| **read == 0.0 && stored.wide() != 0.0).count()
    }
}

/// Some features of every row: one of several views that stand side by side in an array.
pub(crate) struct Part<'a> {
    rows: &'a dyn Rows,
    first: usize,
    dim: usize,
}

impl<'a> Part<'a> {
    /// The features of a view that begins at `first`.
    pub(crate) fn new(rows: &'a dyn Rows, first: usize, dim: usize) -> Self {
        Self { rows, first, dim }
    }
}

impl Rows for Part<'_> {
    fn count(&self) -> usize {
        self.rows.count()
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn read(&self, index: usize, into: &mut [f32]) {
        if let Some(row) = self.stored_row(index) {
            return into.copy_from_slice(row);
        }
        let mut row = vec![0.0; self.rows.dim()];
        self.rows.read(index, &mut row);
        into.copy_from_slice(&row[self.first..][..self.dim]);
    }

    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        Some(&self.rows.stored_row(index)?[self.first..][..self.dim])
    }

    fn element(&self) -> &'static str {
        self.rows.element()
    }

    fn stored(&self, index: usize, column: usize) -> f64 {
        self.rows.stored(index, self.first + column)
    }
}

macro_rules! features {
    ($($variant:ident($type:ty),)+) => {
        /// A two-dimensional array of numbers, borrowed from Python.
        pub(crate) enum Features<'py> { $(
            $variant(PyReadonlyArray2<'py, $type>),
        )+ }

        impl<'py> FromPyObject<'_, 'py> for Features<'py> {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = object.cast::<PyArray2<$type>>() {
                    return Ok(Self::$variant(array.try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?));
                })+
                let found = match object.cast::<numpy::PyUntypedArray>() {
                    Ok(array) => format!("{} in {} dimensions", array.dtype(), array.ndim()),
                    Err(_) => format!("{}", object.get_type().name()?),
                };
                Err(PyValueError::new_err(format!("expected an array of numbers in 2 dimensions, found {found}")))
            }
        }

        impl Features<'_> {
            /// Lends the rows, to be read without the GIL.
            pub(crate) fn with<R>(&self, use_rows: impl FnOnce(&(dyn Rows + '_)) -> R) -> R {
                match self { $(Self::$variant(array) => use_rows(&View(array.as_array())),)+ }
            }
        }
    };
}

features! {
    F32(f32),
    F64(f64),
    F16(f16),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
}

/// A matrix with one column per row of an array: the same bytes, copied.
pub(crate) fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Mat<f64> {
    matrix_of(array.as_array())
}

/// The same of a view, which needs no GIL.
pub(crate) fn matrix_of(view: ArrayView2<'_, f64>) -> Mat<f64> {
    Mat::from_fn(view.ncols(), view.nrows(), |i, j| view[(j, i)])
}

/// An array with one row per column of a matrix.
pub(crate) fn rows_of<'py>(py: Python<'py>, matrix: &Mat<f64>) -> Bound<'py, PyArray2<f64>> {
    let mut values = Vec::with_capacity(matrix.nrows() * matrix.ncols());
    (0..matrix.ncols()).for_each(|column| values.extend_from_slice(matrix.col_as_slice(column)));
    array_of(py, matrix.ncols(), matrix.nrows(), values)
}

/// An array of these numbers, row after row.
pub(crate) fn array_of<T: numpy::Element>(
    py: Python<'_>,
    rows: usize,
    columns: usize,
    values: Vec<T>,
) -> Bound<'_, PyArray2<T>> {
    Array2::from_shape_vec((rows, columns), values)
        .expect("as many numbers as the shape has")
        .into_pyarray(py)
}
