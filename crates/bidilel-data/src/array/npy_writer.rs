//! Writes `.npy` files row by row.

use std::io::{self, Write};
use std::marker::PhantomData;

use half::f16;

/// A number that can be written.
pub trait NpyElement: Copy + sealed::Sealed {
    /// NumPy's code of the type, little-endian.
    const DESCR: &'static str;
    /// Appends the little-endian bytes.
    fn append(self, bytes: &mut Vec<u8>);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! npy_element {
    ($($number:ty => $descr:literal),*) => {$(
        impl sealed::Sealed for $number {}
        impl NpyElement for $number {
            const DESCR: &'static str = $descr;
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

npy_element!(f16 => "<f2", f32 => "<f4", f64 => "<f8", i64 => "<i8", u8 => "|u1");

/// A `.npy` file in the making: the header first, then the elements in C order.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let mut writer = bidilel_data::array::NpyWriter::new(Vec::new(), &[2, 3])?;
/// writer.write(&[1.0_f32, 2.0, 3.0])?;
/// writer.write(&[4.0, 5.0, 6.0])?;
/// let bytes = writer.finish()?;
/// assert_eq!(bytes.len(), 128 + 6 * 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct NpyWriter<W, T> {
    out: W,
    left: usize,
    buffer: Vec<u8>,
    element: PhantomData<T>,
}

impl<W: Write, T: NpyElement> NpyWriter<W, T> {
    /// Writes the header for an array of that shape.
    pub fn new(mut out: W, shape: &[usize]) -> io::Result<Self> {
        let left = shape
            .iter()
            .try_fold(1_usize, |count, &size| count.checked_mul(size))
            .ok_or_else(|| invalid("an array is too large"))?;
        out.write_all(&header(T::DESCR, shape)?)?;
        Ok(Self { out, left, buffer: Vec::new(), element: PhantomData })
    }

    /// Appends elements: a row, several, or a part of one.
    pub fn write(&mut self, values: &[T]) -> io::Result<()> {
        self.left = self
            .left
            .checked_sub(values.len())
            .ok_or_else(|| invalid("more elements were written than the shape has"))?;
        self.buffer.clear();
        for value in values {
            value.append(&mut self.buffer);
        }
        self.out.write_all(&self.buffer)
    }

    /// Checks that the array is complete, and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        if self.left > 0 {
            return Err(invalid("fewer elements were written than the shape has"));
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

fn header(descr: &str, shape: &[usize]) -> io::Result<Vec<u8>> {
    let mut sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 {
        // A Python tuple of one element needs its comma.
        sizes.push(',');
    }
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Elements start at a multiple of 64 bytes, so that a map of the file is aligned for any processor.
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    let stored = u16::try_from(length).map_err(|_| invalid("an array has too many dimensions"))?;
    header.extend_from_slice(&stored.to_le_bytes());
    header.extend_from_slice(format!("{dictionary:<width$}\n", width = length - 1).as_bytes());
    Ok(header)
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_header_that_numpy_writes() {
        let bytes = NpyWriter::<_, i64>::new(Vec::new(), &[0]).unwrap().finish().unwrap();
        assert_eq!(bytes.len(), 128);
        assert!(bytes.starts_with(
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (0,), } "
        ));
        assert!(bytes.ends_with(b" \n"));
        let bytes = NpyWriter::<_, u8>::new(Vec::new(), &[2, 0]).unwrap().finish().unwrap();
        assert!(String::from_utf8_lossy(&bytes).contains("'shape': (2, 0), }"));
    }

    #[test]
    fn counts_elements() {
        let mut writer = NpyWriter::new(Vec::new(), &[1, 2]).unwrap();
        assert!(writer.write(&[1.0, 2.0, 3.0]).is_err());
        writer.write(&[1.0]).unwrap();
        assert!(writer.finish().is_err());
        assert!(NpyWriter::<_, u8>::new(Vec::new(), &[usize::MAX, 2]).is_err());
    }
}
