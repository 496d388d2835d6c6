//! Realistic zero-shot tasks from a seed, for tests, demonstrations and measurements without a download.
//!
//! A class `c` has latent factors `z_c`, partly shared with the other classes of its group, the strongest
//! factors first. Its semantics are two imperfect readings of them:
//!
//! ```text
//! attributes_c = 100 (1 - exp(-max(0, A z_c + b + noise)))            A: attributes x factors, sparse
//! words_c      = R (sqrt(1 - w) z_c + sqrt(w) n_c) + m                R: word_dim x factors
//! ```
//!
//! What a class looks like agrees with them only in part (`semantic_gap` is `g`), and the unseen classes of
//! the `standard` split look systematically different from what the known ones teach (`domain_shift` is
//! `s`; `d` and `T` are common to all unseen classes):
//!
//! ```text
//! a_c = sqrt(1 - g) z_c + sqrt(g) e_c                                 if c is known
//! a_c = (sqrt(1 - g) z_c + sqrt(g) e_c + s T z_c) / sqrt(1 + s^2) + s d   if c is unseen
//! ```
//!
//! Instance `i` of the class varies around it (`spread` is the mean of `r_c`) along a few directions `L`
//! that all classes share, along every factor, and along pose factors `p_i` that say nothing of the class.
//! A view sees some of the factors through a rectified random layer with a bias for the asked-for share of
//! zeros:
//!
//! ```text
//! h_i = [a_c + r_c (L u_i + v_i); r_c p_i]
//! x_i = max(0, W h_i - b + noise)^(5/4)                               W: features x factors
//! ```
//!
//! ```
//! use bidilel::Synthetic;
//!
//! let task = Synthetic { scale: 0.01, ..Synthetic::preset("awa")? };
//! let dataset = task.generate(7)?;
//! assert_eq!(dataset.classes.len(), 50);
//! assert_eq!(dataset.visual(Some("motion"))?.rows.dim(), 512);
//! assert_eq!(dataset.semantic(Some("attributes"))?.vectors.nrows(), 85);
//! # Ok::<(), bidilel::Error>(())
//! ```

mod classes;
mod instances;
mod layer;
mod names;
mod random;
mod settings;
mod splits;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bidilel_math::{Observer, Silent};

use crate::dataset::{Dataset, Metric, Semantic, Visual};
use crate::error::Result;
use crate::networks::Networks;

use self::classes::Classes;
use self::instances::Instances;

pub use self::settings::{PRESETS, Synthetic, View};

/// What is said of where every part of a synthetic dataset came from.
const ORIGIN: &str = "synthetic";

impl Synthetic {
    /// Draws the task that belongs to the seed.
    ///
    /// The seed decides every byte, whatever the number of threads. Each part draws from its own stream,
    /// so that two tasks which differ in one knob are otherwise the same task.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Setting`] names the first setting that is out of its range.
    pub fn generate(&self, seed: u64) -> Result<Dataset> {
        self.generate_watched(seed, &Silent)
    }

    /// The same, which an observer can cancel.
    ///
    /// # Errors
    ///
    /// As [`Synthetic::generate`]; [`crate::Error::Cancelled`].
    pub fn generate_watched(&self, seed: u64, watch: &dyn Observer) -> Result<Dataset> {
        self.validate()?;
        let classes = Classes::draw(self, seed);
        let instances = Instances::draw(self, &classes, seed, watch)?;
        let visual = layer::features(self, &instances, seed, watch)?
            .into_iter()
            .zip(&self.views)
            .map(|(rows, view)| Visual {
                name: view.name.clone(),
                origin: ORIGIN.to_owned(),
                rows: Arc::new(rows),
            })
            .collect();
        let attribute_names = (1..=self.attributes).map(|a| format!("attribute_{a}")).collect();
        let semantic = vec![
            Semantic {
                name: "attributes".to_owned(),
                origin: ORIGIN.to_owned(),
                metric: Metric::Euclidean,
                vectors: classes.attributes(self, seed),
                dimension_names: Some(attribute_names),
            },
            Semantic {
                name: "words".to_owned(),
                origin: ORIGIN.to_owned(),
                metric: Metric::Cosine,
                vectors: classes.words(self, seed),
                dimension_names: None,
            },
        ];
        let splits = splits::draw(self, &classes, seed);
        Ok(Dataset {
            name: self.name.clone(),
            classes: classes.names,
            labels: instances.labels,
            visual,
            semantic,
            splits,
            networks: Networks::default(),
        })
    }
}
