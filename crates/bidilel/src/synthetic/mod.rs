//! Realistic zero-shot tasks from a seed, for tests, demonstrations and measurements without a download.
//!
//! A class $c$ has latent factors $z_c \in \mathbb{R}^K$, partly shared with the other classes of its
//! group, the strongest factors first. Its semantics are two imperfect readings of them:
//!
//! $$ \text{attributes}_c = 100\,(1 - e^{-\max(0,\, A z_c + b + \text{noise})}), \qquad
//!    \text{words}_c = R\,(\sqrt{1-\omega}\, z_c + \sqrt{\omega}\, n_c) + m. $$
//!
//! What a class looks like shares only a part of them (`semantic_gap` $\gamma$), and classes that are
//! unseen in the `standard` split look systematically different from what the known ones teach
//! (`domain_shift` $\delta$, with $d$ and $T$ common to all unseen classes):
//!
//! $$ a_c = \sqrt{1-\gamma}\, z_c + \sqrt{\gamma}\, e_c + \delta\,(d + T z_c)\,[c \text{ unseen}]. $$
//!
//! Instance $i$ of the class varies around it (`spread` $\sigma$) along a few directions that all classes
//! share, along every factor, and along pose factors that say nothing of the class; every view sees some
//! of the factors through a rectified random layer with a bias for the asked-for share of zeros:
//!
//! $$ h_i = [\,a_c + \sigma_c (L u_i + v_i);\ \sigma_c p_i\,], \qquad
//!    x_i^{(m)} = \max(0,\, W^{(m)} h_i - b^{(m)} + \text{noise})^{5/4}. $$
//!
//! ```
//! use bidilel::synthetic::Synthetic;
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

use crate::dataset::{Dataset, Metric, Semantic, Visual};
use crate::error::Result;

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
        self.validate()?;
        let classes = Classes::draw(self, seed);
        let instances = Instances::draw(self, &classes, seed);
        let visual = layer::features(self, &instances, seed)
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
        })
    }
}
