//! What methods compute of the training instances alone, kept for the next method on the same task.
//!
//! Most compared methods begin with $X X^\top$, which costs more than the rest of their fits.

use std::sync::{Arc, Mutex, PoisonError};

use faer::{Mat, MatRef};
use xxhash_rust::xxh3::Xxh3;

use crate::error::Result;

/// A fingerprint, and what was computed.
type Entry = (u128, Arc<Mat<f64>>);

/// Results of earlier methods, each with a fingerprint of what it was computed from: a task whose features were changed
/// in between gets new ones.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    gram: Arc<Mutex<Option<Entry>>>,
}

impl Shared {
    /// $X X^\top$ of these features, by `compute` unless an earlier method has done it.
    pub(crate) fn gram(
        &self,
        features: MatRef<'_, f32>,
        compute: impl FnOnce() -> Result<Mat<f64>>,
    ) -> Result<Arc<Mat<f64>>> {
        let key = fingerprint(features);
        // A panic of another thread leaves the entry as it was: there is nothing half-written.
        let mut kept = self.gram.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, gram)) = &*kept
            && *found == key
        {
            return Ok(gram.clone());
        }
        let gram = Arc::new(compute()?);
        *kept = Some((key, gram.clone()));
        Ok(gram)
    }
}

fn fingerprint(features: MatRef<'_, f32>) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&(features.nrows() as u64).to_le_bytes());
    for column in features.col_iter() {
        match column.try_as_col_major() {
            Some(column) => hash.update(bytemuck::cast_slice(column.as_slice())),
            None => column.iter().for_each(|value| hash.update(&value.to_le_bytes())),
        }
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_computed_is_used_again_until_the_features_change() {
        let (shared, mut features) = (Shared::default(), Mat::<f32>::from_fn(2, 3, |i, j| (i + j) as f32));
        // Told apart by their sizes.
        let gram = |features: &Mat<f32>, size| {
            shared.gram(features.as_ref(), || Ok(Mat::zeros(size, size))).expect("a matrix").nrows()
        };
        assert_eq!(gram(&features, 1), 1);
        assert_eq!(gram(&features, 2), 1);
        features[(1, 2)] += 0.5;
        assert_eq!(gram(&features, 3), 3);
    }
}
