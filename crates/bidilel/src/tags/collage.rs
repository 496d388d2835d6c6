//! Tagged instances from a dataset of single labels: features of several instances, averaged.
//!
//! What a picture of several things shows, a network averages over its places; so does this, over instances. It makes data for
//! trials of tagging where there are none, and says nothing about real pictures of several things.

use std::sync::Arc;

use faer::Mat;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Tagged;
use crate::dataset::{Dataset, Rows, Visual};
use crate::error::{Error, Result};

/// Keeps the draw apart from others of the same seed.
const STREAM: u64 = 0x434f_4c4c_4147;

impl Tagged {
    /// As many instances as the dataset has: each with up to `most - 1` others, drawn by `seed`, whose features, with unit
    /// norm, are averaged with its own, and with the labels of all of them.
    ///
    /// # Errors
    /// [`Error::Setting`] for a `most` of 0.
    pub fn collage(dataset: &Dataset, most: usize, seed: u64) -> Result<Self> {
        if most == 0 {
            return Err(Error::Setting {
                setting: "collage",
                expected: "at least 1".to_owned().into(),
                found: most.to_string(),
            });
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let all: Vec<usize> = (0..dataset.labels.len()).collect();
        let draw = |&own: &usize| {
            let others = rng.random_range(0..most);
            let drawn = (0..others).filter_map(|_| all.choose(&mut rng).copied());
            std::iter::once(own).chain(drawn).collect::<Vec<usize>>()
        };
        let parts: Vec<Vec<usize>> = all.iter().map(draw).collect();
        let visual = |visual: &Visual| Visual {
            rows: Arc::new(averaged(&*visual.rows, &parts)),
            origin: format!("a collage of {}", visual.origin),
            ..visual.clone()
        };
        let tags = parts.iter().map(|own| own.iter().map(|&one| dataset.labels[one]).collect()).collect();
        Self::new(Dataset { visual: dataset.visual.iter().map(visual).collect(), ..dataset.clone() }, tags)
    }
}

/// The mean of some rows, each with unit norm, for every set of them.
fn averaged(rows: &dyn Rows, parts: &[Vec<usize>]) -> Mat<f32> {
    let mut features = Mat::zeros(rows.dim(), parts.len());
    let mut row = vec![0.0; rows.dim()];
    for (instance, own) in parts.iter().enumerate() {
        let sum = features.col_as_slice_mut(instance);
        for &one in own {
            rows.read(one, &mut row);
            let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
            let scale = if norm > 0.0 { 1.0 / (norm * own.len() as f32) } else { 0.0 };
            sum.iter_mut().zip(&row).for_each(|(sum, value)| *sum += scale * value);
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;

    #[test]
    fn a_collage_has_the_labels_of_its_parts_and_is_the_same_for_the_same_seed() {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(1).expect("data");
        let [one, same, other] = [0, 0, 1].map(|seed| Tagged::collage(&dataset, 3, seed).expect("a collage"));
        assert_eq!(one.tags, same.tags);
        assert_ne!(one.tags, other.tags);
        let counts: Vec<usize> = (0..one.tags.len()).map(|i| one.tags.of(i).len()).collect();
        assert!(counts.iter().all(|count| (1..=3).contains(count)) && counts.contains(&3));
        assert!((0..counts.len()).all(|i| one.tags.has(i, dataset.labels[i])));
        // Alone, an instance has the direction of its own features.
        let alone = Tagged::collage(&dataset, 1, 0).expect("a collage");
        let rows = |dataset: &Dataset| Arc::clone(&dataset.visual[0].rows);
        let dim = rows(&dataset).dim();
        let (mut found, mut own) = (vec![0.0; dim], vec![0.0; dim]);
        rows(&alone.dataset).read(5, &mut found);
        rows(&dataset).read(5, &mut own);
        let norm = own.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!(found.iter().zip(&own).all(|(found, own)| (found - own / norm).abs() < 1e-6));
        assert!(matches!(Tagged::collage(&dataset, 0, 0), Err(Error::Setting { .. })));
    }
}
