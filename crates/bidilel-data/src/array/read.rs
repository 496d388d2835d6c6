//! From the bytes of an array to rows, matrices and indices.

use bidilel::dataset::Rows;
use faer::Mat;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::element::{ByteOrder, Element};
use super::{Array, Bytes};
use crate::error::{Error, Result};

/// The number that a file gives to the first of the things it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Counted from 0, as here.
    Zero,
    /// Counted from 1, as MATLAB does.
    One,
}

/// Feature rows, straight from the map.
impl Rows for Array {
    fn count(&self) -> usize {
        self.rows
    }
    fn dim(&self) -> usize {
        self.columns
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.read_row(index, into);
    }
    fn stored_row(&self, index: usize) -> Option<&[f32]> {
        let native = self.byte_order == ByteOrder::Little && cfg!(target_endian = "little");
        if !native || self.element != Element::F32 || self.column_stride != size_of::<f32>() {
            return None;
        }
        assert!(index < self.rows, "no such row in {self:?}");
        let start = self.offset + index * self.row_stride;
        // None where the file's header has an odd length.
        bytemuck::try_cast_slice(&bytes(&self.bytes)[start..][..self.columns * size_of::<f32>()]).ok()
    }
    fn element(&self) -> &'static str {
        self.element.name()
    }
    fn stored(&self, index: usize, column: usize) -> f64 {
        let one = self.clone().subrows(index..index + 1).subcolumns(column..column + 1);
        let mut value = [0.0_f64];
        one.read_row(0, &mut value);
        value[0]
    }
    fn vanished(&self, index: usize, row: &[f32]) -> usize {
        // No other type has numbers that are smaller than those of f32.
        if self.element != Element::F64 || !row.contains(&0.0) {
            return 0;
        }
        let mut wide = vec![0.0_f64; self.columns];
        self.read_row(index, &mut wide);
        wide.iter().zip(row).filter(|&(&wide, &narrow)| narrow == 0.0 && wide != 0.0).count()
    }
}

/// A float that rows are read into.
trait Real: Copy {
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
}

impl Real for f32 {
    fn from_f32(value: f32) -> Self {
        value
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "features are f32; what does not fit becomes infinite"
    )]
    fn from_f64(value: f64) -> Self {
        value as Self
    }
}

impl Real for f64 {
    fn from_f32(value: f32) -> Self {
        value.into()
    }
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Array {
    /// The whole array as `columns x rows`: a row of the file is a column of the matrix.
    pub fn to_matrix(&self) -> Mat<f64> {
        let mut matrix = Mat::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            self.read_row(row, matrix.col_as_slice_mut(row));
        }
        matrix
    }

    /// The elements of a vector as text: integers whole, whatever their size.
    #[cfg(feature = "parquet")]
    pub(crate) fn to_texts(&self) -> Vec<String> {
        let line = self.clone().turned();
        match self.element {
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64 => {
                let mut values = vec![0.0_f64; line.columns];
                line.read_row(0, &mut values);
                values.iter().map(f64::to_string).collect()
            }
            _ => {
                let mut values = vec![0_i128; line.columns];
                line.read_integers(&mut values);
                values.iter().map(i128::to_string).collect()
            }
        }
    }

    /// A vector (or a matrix with one row or column) of indices, as numbers from 0.
    pub fn to_indices(&self, base: Base) -> Result<Vec<usize>> {
        let expected = "a vector";
        let line = match (self.dimensions, self.rows, self.columns) {
            (1, ..) | (2, _, 1) => self.clone().turned(),
            (2, 1, _) => self.clone(),
            _ => {
                let shape = vec![self.rows, self.columns];
                return Err(Error::Dimensions { path: self.path.clone(), expected, shape });
            }
        };
        line.read_indices(base)
    }

    /// Exchanges rows and columns, of a vector too.
    fn turned(self) -> Self {
        Self { dimensions: 2, ..self }.transposed()
    }

    /// The indices in the first row.
    fn read_indices(&self, base: Base) -> Result<Vec<usize>> {
        let (first, expected) = match base {
            Base::Zero => (0, "an integer from 0"),
            Base::One => (1, "an integer from 1"),
        };
        let wrong = |row: usize, found: String| Error::Value {
            path: self.path.clone(),
            row,
            column: None,
            expected: expected.to_owned(),
            found,
        };
        let index = |row: usize, value: i128| {
            usize::try_from(value - first).map_err(|_| wrong(row, value.to_string()))
        };
        match self.element {
            Element::Bool => Err(Error::Element {
                path: self.path.clone(),
                expected: "integers",
                found: "bool".to_owned(),
            }),
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64 => {
                let mut values = vec![0.0_f64; self.columns];
                self.read_row(0, &mut values);
                // Above 2^53 not every integer is a float, so such a value is no count of anything.
                let whole = |value: f64| value.fract().abs() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
                let checked = values.iter().enumerate().map(|(row, &value)| {
                    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
                    if whole(value) { index(row, value as i128) } else { Err(wrong(row, value.to_string())) }
                });
                checked.collect()
            }
            _ => {
                let mut values = vec![0_i128; self.columns];
                self.read_integers(&mut values);
                values.iter().enumerate().map(|(row, &value)| index(row, value)).collect()
            }
        }
    }

    /// Copies one row, converted.
    fn read_row<T: Real>(&self, row: usize, into: &mut [T]) {
        match self.element {
            Element::F16 => self.read_half(row, into),
            Element::Bf16 => {
                self.fill(row, 0, into, |cell| T::from_f32(bf16::from_le_bytes(cell).to_f32()));
            }
            Element::F32 => self.fill(row, 0, into, |cell| T::from_f32(f32::from_le_bytes(cell))),
            Element::F64 => self.fill(row, 0, into, |cell| T::from_f64(f64::from_le_bytes(cell))),
            Element::I8 => self.fill(row, 0, into, |cell| T::from_f64(i8::from_le_bytes(cell).into())),
            Element::I16 => self.fill(row, 0, into, |cell| T::from_f64(i16::from_le_bytes(cell).into())),
            Element::I32 => self.fill(row, 0, into, |cell| T::from_f64(i32::from_le_bytes(cell).into())),
            Element::I64 => self.fill(row, 0, into, |cell| T::from_f64(i64::from_le_bytes(cell) as f64)),
            Element::U8 => self.fill(row, 0, into, |[byte]| T::from_f64(byte.into())),
            Element::U16 => self.fill(row, 0, into, |cell| T::from_f64(u16::from_le_bytes(cell).into())),
            Element::U32 => self.fill(row, 0, into, |cell| T::from_f64(u32::from_le_bytes(cell).into())),
            Element::U64 => self.fill(row, 0, into, |cell| T::from_f64(u64::from_le_bytes(cell) as f64)),
            Element::Bool => self.fill(row, 0, into, |[byte]| T::from_f64(f64::from(u8::from(byte != 0)))),
        }
    }

    /// Copies the first row of an array of integers; 128 bits hold all of them exactly.
    fn read_integers(&self, into: &mut [i128]) {
        match self.element {
            Element::I8 => self.fill(0, 0, into, |cell| i8::from_le_bytes(cell).into()),
            Element::I16 => self.fill(0, 0, into, |cell| i16::from_le_bytes(cell).into()),
            Element::I32 => self.fill(0, 0, into, |cell| i32::from_le_bytes(cell).into()),
            Element::I64 => self.fill(0, 0, into, |cell| i64::from_le_bytes(cell).into()),
            Element::U8 | Element::Bool => self.fill(0, 0, into, |[byte]| byte.into()),
            Element::U16 | Element::F16 | Element::Bf16 => {
                self.fill(0, 0, into, |cell| u16::from_le_bytes(cell).into());
            }
            Element::U32 | Element::F32 => self.fill(0, 0, into, |cell| u32::from_le_bytes(cell).into()),
            Element::U64 | Element::F64 => self.fill(0, 0, into, |cell| u64::from_le_bytes(cell).into()),
        }
    }

    /// Halves are widened in blocks, because processors have an instruction for several at once.
    fn read_half<T: Real>(&self, row: usize, into: &mut [T]) {
        const BLOCK: usize = 256;
        let mut halves = [f16::ZERO; BLOCK];
        let mut floats = [0.0_f32; BLOCK];
        for (block, into) in into.chunks_mut(BLOCK).enumerate() {
            let (halves, floats) = (&mut halves[..into.len()], &mut floats[..into.len()]);
            self.fill(row, block * BLOCK, halves, f16::from_le_bytes);
            halves.convert_to_f32_slice(floats);
            for (value, &float) in into.iter_mut().zip(&*floats) {
                *value = T::from_f32(float);
            }
        }
    }

    /// Decodes elements of one row, from column `first` on; `decode` gets little-endian bytes.
    fn fill<const N: usize, T>(
        &self,
        row: usize,
        first: usize,
        into: &mut [T],
        decode: impl Fn([u8; N]) -> T,
    ) {
        debug_assert_eq!(N, self.element.size());
        assert!(row < self.rows && first + into.len() <= self.columns, "no such elements in {self:?}");
        let start = self.offset + row * self.row_stride + first * self.column_stride;
        let bytes = &bytes(&self.bytes)[start..];
        let big = self.byte_order == ByteOrder::Big;
        let decode = |mut cell: [u8; N]| {
            if big {
                cell.reverse();
            }
            decode(cell)
        };
        if self.column_stride == N {
            for (value, &cell) in into.iter_mut().zip(bytes.as_chunks::<N>().0) {
                *value = decode(cell);
            }
        } else {
            for (value, bytes) in into.iter_mut().zip(bytes.chunks(self.column_stride)) {
                let cell =
                    bytes.first_chunk::<N>().expect("the constructor checked that all elements are there");
                *value = decode(*cell);
            }
        }
    }
}

fn bytes(bytes: &Bytes) -> &[u8] {
    (**bytes).as_ref()
}
