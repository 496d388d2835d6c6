//! Room for what a file holds, or an error that says how much is missing.
//!
//! A vector that grows by itself ends the program where memory ends.

use std::path::Path;

use crate::error::{Error, Result};

/// Makes room for more elements in a vector.
pub(crate) fn reserve<T>(path: &Path, vector: &mut Vec<T>, more: usize) -> Result<()> {
    vector.try_reserve(more).map_err(|_| no_memory::<T>(path, vector.len().saturating_add(more)))
}

/// Fails if there is no room for what a library is about to allocate: it would end the program.
#[cfg(feature = "hdf5")]
pub(crate) fn check(path: &Path, bytes: usize) -> Result<()> {
    reserve(path, &mut Vec::<u8>::new(), bytes)
}

/// That many zeros.
pub(crate) fn zeros(path: &Path, count: usize) -> Result<Vec<u8>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(count).map_err(|_| no_memory::<u8>(path, count))?;
    zeros.resize(count, 0);
    Ok(zeros)
}

fn no_memory<T>(path: &Path, count: usize) -> Error {
    Error::NoMemory { path: path.to_owned(), bytes: count.saturating_mul(size_of::<T>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_an_error_and_no_abort() {
        let path = Path::new("x.csv");
        let error = reserve(path, &mut Vec::<f64>::new(), usize::MAX / 32).unwrap_err();
        assert!(error.to_string().starts_with("`x.csv`: not enough memory: "), "{error}");
        assert!(error.hint().is_some());
        assert!(zeros(path, usize::MAX / 4).is_err());
        assert_eq!(zeros(path, 3).unwrap(), [0; 3]);
    }
}
