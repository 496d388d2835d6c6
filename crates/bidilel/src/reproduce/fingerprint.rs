//! Fingerprints of data: other numbers, names or divisions give others.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3;

use crate::dataset::{Dataset, Visual};
use crate::error::Result;
use crate::split::Trial;

/// Fingerprints of the parts of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFingerprint {
    /// Class names, and the label of every instance.
    pub labels: String,
    /// Visual representations, by name.
    pub visual: BTreeMap<String, String>,
    /// Semantic representations, by name.
    pub semantic: BTreeMap<String, String>,
}

impl DataFingerprint {
    /// Of some views and all semantic representations of a dataset.
    ///
    /// # Errors
    /// [`crate::Error::NotInDataset`] for a view that does not exist.
    pub fn of(dataset: &Dataset, views: &[String]) -> Result<Self> {
        let mut visual = BTreeMap::new();
        for name in views {
            visual.insert(name.clone(), features(dataset.visual(Some(name))?));
        }
        let mut hash = Xxh3::new();
        for class in &dataset.classes {
            hash.update(class.as_bytes());
            hash.update(&[0]);
        }
        dataset.labels.iter().for_each(|&label| hash.update(&(label as u64).to_le_bytes()));
        let semantic = dataset.semantic.iter().map(|semantic| {
            let mut hash = Xxh3::new();
            hash.update(format!("{:?}", semantic.metric).as_bytes());
            for column in semantic.vectors.col_iter() {
                column.iter().for_each(|value| hash.update(&value.to_le_bytes()));
            }
            (semantic.name.clone(), written(&hash))
        });
        Ok(Self { labels: written(&hash), visual, semantic: semantic.collect() })
    }
}

fn features(visual: &Visual) -> String {
    let mut hash = Xxh3::new();
    let mut row = vec![0.0_f32; visual.rows.dim()];
    hash.update(&(visual.rows.dim() as u64).to_le_bytes());
    for instance in 0..visual.rows.count() {
        visual.rows.read(instance, &mut row);
        hash.update(bytemuck::cast_slice(&row));
    }
    written(&hash)
}

/// The classes and instances of a trial, by name and number.
pub(super) fn trial(dataset: &Dataset, trial: &Trial) -> String {
    let mut hash = Xxh3::new();
    for classes in [&trial.known, &trial.unseen, &trial.validation] {
        for &class in classes {
            hash.update(dataset.classes[class].as_bytes());
            hash.update(&[0]);
        }
        hash.update(&[1]);
    }
    for instances in [&trial.train, &trial.test] {
        instances.iter().for_each(|&instance| hash.update(&(instance as u64).to_le_bytes()));
        hash.update(&[2]);
    }
    written(&hash)
}

/// A short name for any text.
pub fn of_text(text: &str) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

fn written(hash: &Xxh3) -> String {
    format!("{:032x}", hash.digest128())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;

    #[test]
    fn every_part_has_its_own_fingerprint() {
        let data = Synthetic { scale: 0.1, ..Synthetic::default() }.generate(0).unwrap();
        let views = ["cnn".to_owned(), "motion".to_owned()];
        let first = DataFingerprint::of(&data, &views).unwrap();
        assert_eq!(first, DataFingerprint::of(&data, &views).unwrap());
        let mut changed = data.clone();
        changed.semantic[0].vectors[(0, 0)] += 1e-9;
        let second = DataFingerprint::of(&changed, &views).unwrap();
        assert_ne!(first.semantic["attributes"], second.semantic["attributes"]);
        assert_eq!((&first.labels, &first.visual), (&second.labels, &second.visual));
        changed.labels[0] = (changed.labels[0] + 1) % changed.classes.len();
        assert_ne!(first.labels, DataFingerprint::of(&changed, &views).unwrap().labels);
        assert!(DataFingerprint::of(&data, &["cnm".to_owned()]).is_err());
        let trials = data.trials(Some("random")).unwrap();
        assert_ne!(trial(&data, &trials[0]), trial(&data, &trials[1]));
    }
}
