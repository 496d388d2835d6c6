//! A dataset from matrices in memory.

use std::sync::Arc;

use faer::Mat;

use super::{Dataset, Metric, Rows, Semantic, Split, SplitKind, Visual};
use crate::error::{Error, Part, Result};
use crate::networks::Networks;

/// The origin of what was given in memory, for messages.
const ORIGIN: &str = "memory";

/// Builds a dataset from its parts and checks it at the end.
///
/// ```
/// use bidilel::{Dataset, Mat, Metric};
///
/// // Two features of four instances: one column per instance.
/// let features = Mat::<f32>::from_fn(2, 4, |i, j| (i + j) as f32);
/// // Three attributes of three classes: one column per class.
/// let attributes = Mat::from_fn(3, 3, |i, j| if i == j { 0.2 } else { 1.0 });
/// let dataset = Dataset::builder("zoo")
///     .classes(["horse", "tiger", "zebra"])
///     .labels_by_name(["horse", "horse", "tiger", "tiger"])
///     .visual("cnn", features)
///     .semantic("attributes", Metric::Euclidean, attributes)
///     .unseen("standard", ["zebra"])
///     .build()?;
/// assert_eq!(dataset.trials(None)?[0].unseen, [2]);
/// # Ok::<(), bidilel::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a dataset is made by `build`"]
pub struct DatasetBuilder {
    dataset: Dataset,
    labels: Vec<String>,
    unseen: Vec<(String, Vec<String>)>,
}

impl Dataset {
    /// An empty dataset to be filled with matrices.
    pub fn builder(name: &str) -> DatasetBuilder {
        let dataset = Self {
            name: name.to_owned(),
            classes: Vec::new(),
            labels: Vec::new(),
            visual: Vec::new(),
            semantic: Vec::new(),
            splits: Vec::new(),
            networks: Networks::default(),
        };
        DatasetBuilder { dataset, labels: Vec::new(), unseen: Vec::new() }
    }
}

impl DatasetBuilder {
    /// Names of all classes, known and unseen; a class's index is its position here.
    pub fn classes<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.dataset.classes = names.into_iter().map(Into::into).collect();
        self
    }

    /// The class of every instance, as an index.
    pub fn labels(mut self, labels: impl Into<Vec<usize>>) -> Self {
        self.dataset.labels = labels.into();
        self
    }

    /// The class of every instance, by name.
    pub fn labels_by_name<S: Into<String>>(mut self, labels: impl IntoIterator<Item = S>) -> Self {
        self.labels = labels.into_iter().map(Into::into).collect();
        self
    }

    /// A visual representation: features x instances (a NumPy array of instances x features has the same bytes), or any
    /// other [`Rows`].
    pub fn visual(mut self, name: &str, rows: impl Rows + 'static) -> Self {
        let (name, origin) = (name.to_owned(), ORIGIN.to_owned());
        self.dataset.visual.push(Visual { name, origin, rows: Arc::new(rows) });
        self
    }

    /// A semantic representation: dimensions x classes, or classes x classes for [`Metric::Precomputed`].
    pub fn semantic(mut self, name: &str, metric: Metric, vectors: Mat<f64>) -> Self {
        let (name, origin) = (name.to_owned(), ORIGIN.to_owned());
        self.dataset.semantic.push(Semantic { name, origin, metric, vectors, dimension_names: None });
        self
    }

    /// A split that has these classes unseen and all others known.
    pub fn unseen<S: Into<String>>(mut self, split: &str, names: impl IntoIterator<Item = S>) -> Self {
        self.unseen.push((split.to_owned(), names.into_iter().map(Into::into).collect()));
        self
    }

    /// A split of any kind, by indices.
    pub fn split(mut self, name: &str, kind: SplitKind) -> Self {
        self.dataset.splits.push(Split { name: name.to_owned(), origin: ORIGIN.to_owned(), kind });
        self
    }

    /// The dataset.
    ///
    /// # Errors
    /// Names that are unknown or given twice, labels that name no class, and matrices of other sizes than classes and
    /// labels have. Numbers are checked when a [`crate::Task`] is made.
    pub fn build(self) -> Result<Dataset> {
        let Self { mut dataset, labels, unseen } = self;
        unique("class", dataset.classes.iter())?;
        unique("visual representation", dataset.visual.iter().map(|one| &one.name))?;
        unique("semantic representation", dataset.semantic.iter().map(|one| &one.name))?;
        let index = |name: &String| {
            dataset.classes.iter().position(|class| class == name).ok_or_else(|| Error::NotInDataset {
                what: Part::Class,
                name: Some(name.clone()),
                available: dataset.classes.clone(),
            })
        };
        let named = labels.iter().map(index).collect::<Result<Vec<usize>>>()?;
        let mut splits = Vec::new();
        for (name, names) in unseen {
            let mut unseen = names.iter().map(index).collect::<Result<Vec<usize>>>()?;
            unseen.sort_unstable();
            unseen.dedup();
            let kind = SplitKind::Classes { unseen, validation: Vec::new() };
            splits.push(Split { name, origin: ORIGIN.to_owned(), kind });
        }
        if !named.is_empty() {
            dataset.labels = named;
        }
        dataset.splits.extend(splits);
        unique("split", dataset.splits.iter().map(|one| &one.name))?;
        let classes = dataset.classes.len();
        if let Some(instance) = dataset.labels.iter().position(|&label| label >= classes) {
            return Err(Error::LabelOutOfRange { label: dataset.labels[instance], instance, classes });
        }
        for Visual { name, rows, .. } in &dataset.visual {
            same(name, "instances, as many as labels", dataset.labels.len(), rows.count())?;
        }
        for Semantic { name, vectors, .. } in &dataset.semantic {
            same(name, "classes", classes, vectors.ncols())?;
        }
        Ok(dataset)
    }
}

fn same(name: &str, what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Mismatch { origin: format!("`{name}`"), what, expected, found })
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::Duplicate { what, name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zoo() -> DatasetBuilder {
        Dataset::builder("zoo")
            .classes(["horse", "tiger", "zebra"])
            .labels([0, 1])
            .visual("cnn", Mat::<f32>::from_fn(2, 2, |i, j| (i + j) as f32))
            .semantic("attributes", Metric::Euclidean, Mat::from_fn(3, 3, |i, j| (1 + i * j) as f64))
            .unseen("standard", ["zebra"])
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        zoo().build().expect("it fits");
        let error = |builder: DatasetBuilder| builder.build().expect_err("it does not fit").to_string();
        assert!(error(zoo().classes(["horse", "horse", "zebra"])).contains("twice"));
        assert!(error(zoo().labels([0, 3])).contains("label 3"));
        assert!(error(zoo().labels([0, 1, 1])).contains("expected 3 instances"));
        assert!(error(zoo().labels_by_name(["horse", "lion"])).contains("`lion`"));
        assert!(error(zoo().unseen("other", ["lion"])).contains("`lion`"));
        assert!(error(zoo().unseen("standard", ["tiger"])).contains("split"));
        let narrow = Mat::from_fn(3, 2, |_, _| 1.0);
        assert!(error(zoo().semantic("words", Metric::Cosine, narrow)).contains("expected 3 classes"));
    }
}
