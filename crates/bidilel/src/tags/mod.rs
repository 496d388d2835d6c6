//! Several labels per instance: tagging with labels that no training instance has.
//!
//! [`Tags`] has the labels of every instance, [`Tagged`] a dataset with them. A split divides the labels. An instance with an
//! unseen label is tested, whatever else it has; one with known labels only is learned from, once for each of its labels, so
//! that every method for single labels learns from it: a class has all instances that carry it. Nothing that carries an
//! unseen label is ever learned from.
//!
//! The scores of a method rank the labels of an instance and the instances of a label. Tags are the labels whose score reaches
//! a threshold ([`Thresholds`]), found on known labels alone: one for all unseen labels, by folds in which known labels play
//! the unseen ones; one for each known label, on instances that are held out.
//!
//! # References
//! The setting, which Wang & Chen 2017 name as future work: Y. Zhang, B. Gong and M. Shah, *Fast zero-shot image tagging*, 2016.
//!
//! ```
//! use bidilel::tags::{TagExperiment, Tagged, evaluate};
//! use bidilel::{Silent, Synthetic};
//!
//! let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
//! // Features of up to three instances, averaged, with the labels of all.
//! let tagged = Tagged::collage(&dataset, 3, 0)?;
//! let evaluated = evaluate(&tagged, &TagExperiment::default(), &Silent)?;
//! println!("mean average precision {:.3}", evaluated.runs[0].mean_average_precision.per_class);
//! # Ok::<(), bidilel::Error>(())
//! ```

mod collage;
mod evaluate;
mod metrics;
mod thresholds;
mod trial;

pub use evaluate::{TagClass, TagEvaluated, TagExperiment, TagFit, TagRun, evaluate};
pub use metrics::{
    MeanPrecision, PrecisionRecall, Relevance, at_threshold, average_precision, f1_at, macro_f1,
    mean_average_precision,
};
pub use thresholds::{Thresholds, best_threshold};
pub use trial::TagTrial;

use crate::dataset::Dataset;
use crate::error::{Error, Result};

/// The labels of every instance: class indices, ascending and different; none for an instance without labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags(Vec<Vec<usize>>);

impl Tags {
    /// Sorts the labels of every instance and drops those that are named twice.
    pub fn new(mut tags: Vec<Vec<usize>>) -> Self {
        for own in &mut tags {
            own.sort_unstable();
            own.dedup();
        }
        Self(tags)
    }

    /// The labels of an instance.
    pub fn of(&self, instance: usize) -> &[usize] {
        &self.0[instance]
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pairs of an instance and a label, by instance.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().enumerate().flat_map(|(instance, own)| own.iter().map(move |&tag| (instance, tag)))
    }

    /// Whether an instance has a label.
    pub fn has(&self, instance: usize, class: usize) -> bool {
        self.0[instance].binary_search(&class).is_ok()
    }
}

/// A dataset whose instances have several labels.
#[derive(Debug, Clone)]
pub struct Tagged {
    /// Features by instance, classes, descriptions and splits; its own `labels` are empty.
    pub(crate) dataset: Dataset,
    /// The labels.
    pub tags: Tags,
}

impl Tagged {
    /// Joins a dataset, whose own labels are dropped, with the labels of its instances.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of instances than the features have, and for a label that is no class.
    pub fn new(mut dataset: Dataset, tags: Vec<Vec<usize>>) -> Result<Self> {
        let wrong = |origin: &str, what, expected, found| {
            Err(Error::Mismatch { origin: origin.to_owned(), what, expected, found })
        };
        for visual in &dataset.visual {
            if visual.rows.count() != tags.len() {
                return wrong(
                    &visual.origin,
                    "rows, as instances with tags",
                    tags.len(),
                    visual.rows.count(),
                );
            }
        }
        if let Some(largest) =
            tags.iter().flatten().copied().max().filter(|&tag| tag >= dataset.classes.len())
        {
            return wrong("the tags", "classes at least", largest + 1, dataset.classes.len());
        }
        dataset.labels = Vec::new();
        Ok(Self { dataset, tags: Tags::new(tags) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.dataset.name
    }

    /// Names of all labels.
    pub fn classes(&self) -> &[String] {
        &self.dataset.classes
    }

    /// The dataset with one instance per pair of an instance and a label: what splits are drawn from and representations
    /// chosen of.
    pub fn flat(&self) -> Dataset {
        let (rows, labels) = self.tags.pairs().unzip();
        trial::repeated(&self.dataset, rows, labels)
    }
}
