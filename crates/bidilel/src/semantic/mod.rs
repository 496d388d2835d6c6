//! Descriptions of classes, and how far apart they say that classes are.
//!
//! Several representations are combined by a convex combination of their distances,
//! $\Delta = \sum_m w_m \Delta^{(m)}$ with $w_m \ge 0$, $\sum_m w_m = 1$; for two,
//! $w = (1 - \gamma, \gamma)$. Distances are used as they come, without rescaling: the latent space has
//! the scale of unit vectors, and so have they.
//!
//! ```
//! use bidilel::{ClassSemantics, Mat, Metric, Representation};
//!
//! // Two attributes of a horse and a tiger, which are known, and of a zebra: one column per class.
//! let attributes = Mat::from_fn(2, 3, |i, j| [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]][i][j]);
//! let representation = Representation::new("attributes", 1.0, Metric::Cosine, attributes);
//! let semantics = ClassSemantics::from_representations(vec![representation], 2);
//! let distances = &semantics.distances.known_unseen;
//! assert_eq!(distances.shape(), (2, 1));
//! // One minus the cosine of 45 degrees, to both.
//! assert!((distances[(0, 0)] - (1.0 - 0.5_f64.sqrt())).abs() < 1e-12);
//! assert!((distances[(1, 0)] - distances[(0, 0)]).abs() < 1e-12);
//! ```

mod change;
mod distance;

use faer::{Mat, MatRef};
use xxhash_rust::xxh3::Xxh3;

pub use distance::SemanticDistances;

use crate::dataset::{Dataset, Metric, Semantic};
use crate::error::{Error, Result, SemanticProblem};

/// The largest precomputed distance: the sum of the squares of larger ones would overflow.
pub(crate) const MAX_DISTANCE: f64 = 1e100;

/// The classes of one task as one semantic representation describes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Representation {
    /// Its name in the dataset.
    pub name: String,
    /// Its weight in the combination.
    pub weight: f64,
    /// Its distance.
    pub metric: Metric,
    /// Vectors of known then unseen classes, dimensions x classes, with unit norm; or the distances
    /// between all these classes where they are precomputed.
    pub values: Mat<f64>,
    /// The same as the dataset has them, before normalization: attributes are probabilities, counts or bits there.
    pub raw: Mat<f64>,
    /// Names of the dimensions, where the dataset has them.
    pub dimension_names: Option<Vec<String>>,
}

impl Representation {
    /// A representation of known then unseen classes as the dataset has it: vectors get unit norm, precomputed
    /// distances stay.
    ///
    /// Vectors must be finite and not zero.
    pub fn new(name: &str, weight: f64, metric: Metric, raw: Mat<f64>) -> Self {
        let mut values = raw.clone();
        if metric != Metric::Precomputed {
            for class in 0..values.ncols() {
                let norm = values.col(class).norm_l2();
                values.col_as_slice_mut(class).iter_mut().for_each(|value| *value /= norm);
            }
        }
        Self { name: name.to_owned(), weight, metric, values, raw, dimension_names: None }
    }

    /// The same with names of its dimensions.
    #[must_use]
    pub fn with_names(self, dimension_names: Option<Vec<String>>) -> Self {
        Self { dimension_names, ..self }
    }

    pub(crate) fn hash(&self, hash: &mut Xxh3) {
        hash.update(&self.weight.to_le_bytes());
        hash.update(&[self.metric as u8]);
        for column in 0..self.values.ncols() {
            for value in self.values.col_as_slice(column) {
                hash.update(&value.to_le_bytes());
            }
        }
    }
}

/// Everything that is known of the classes without seeing them.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSemantics {
    /// How many of the classes are known; they come first.
    pub known: usize,
    /// The representations with their weights.
    pub representations: Vec<Representation>,
    /// Combined distances.
    pub distances: SemanticDistances,
    /// Unit vectors of all classes, each representation scaled by the root of its weight and stacked, so
    /// that squared distances add up with the weights; `None` where a representation has no vectors.
    vectors: Option<Mat<f64>>,
}

impl ClassSemantics {
    /// Takes the chosen representations (the dataset's first if none) of a task's classes.
    ///
    /// # Errors
    /// Representations that do not exist or that cannot be used, and weights that are not shares.
    pub fn new(
        dataset: &Dataset,
        chosen: &[(String, f64)],
        known: &[usize],
        unseen: &[usize],
    ) -> Result<Self> {
        let first = [(dataset.semantic(None)?.name.clone(), 1.0)];
        let chosen = if chosen.is_empty() { &first[..] } else { chosen };
        check_weights(chosen)?;
        let classes: Vec<usize> = known.iter().chain(unseen).copied().collect();
        let representations = chosen
            .iter()
            .map(|(name, weight)| {
                let semantic = dataset.semantic(Some(name))?;
                let raw = take(dataset, semantic, &classes)?;
                Ok(Representation::new(name, *weight, semantic.metric, raw)
                    .with_names(semantic.dimension_names.clone()))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self::from_representations(representations, known.len()))
    }

    /// Combines representations whose first `known` classes are the known ones.
    pub fn from_representations(representations: Vec<Representation>, known: usize) -> Self {
        let distances = SemanticDistances::combine(&representations, known);
        Self::with_distances(representations, known, distances)
    }

    /// The same with distances that are there already.
    pub(crate) fn with_distances(
        representations: Vec<Representation>,
        known: usize,
        distances: SemanticDistances,
    ) -> Self {
        let vectors = stack(&representations);
        Self { known, representations, distances, vectors }
    }

    /// The same descriptions of some of the classes, by their index: those of another task.
    pub(crate) fn among(&self, known: &[usize], unseen: &[usize]) -> Self {
        let classes: Vec<usize> = known.iter().chain(unseen).copied().collect();
        let part = |one: &Representation| {
            let row = |i: usize| if one.metric == Metric::Precomputed { classes[i] } else { i };
            let rows = if one.metric == Metric::Precomputed { classes.len() } else { one.raw.nrows() };
            let of = |all: &Mat<f64>| Mat::from_fn(rows, classes.len(), |i, j| all[(row(i), classes[j])]);
            let (name, weight, metric) = (one.name.clone(), one.weight, one.metric);
            let dimension_names = one.dimension_names.clone();
            Representation {
                name,
                weight,
                metric,
                values: of(&one.values),
                raw: of(&one.raw),
                dimension_names,
            }
        };
        Self::from_representations(self.representations.iter().map(part).collect(), known.len())
    }

    /// Unit vectors of all classes, known ones first, where there are vectors.
    pub fn vectors(&self) -> Option<MatRef<'_, f64>> {
        self.vectors.as_ref().map(Mat::as_ref)
    }

    /// Unit vectors of the known classes, where there are vectors.
    pub fn known_vectors(&self) -> Option<MatRef<'_, f64>> {
        self.vectors.as_ref().map(|vectors| vectors.subcols(0, self.known))
    }

    /// Unit vectors of the unseen classes, where there are vectors.
    pub fn unseen_vectors(&self) -> Option<MatRef<'_, f64>> {
        self.vectors.as_ref().map(|vectors| vectors.subcols(self.known, vectors.ncols() - self.known))
    }
}

/// The vectors of some classes, or the distances between them: checked, as the dataset has them.
fn take(dataset: &Dataset, semantic: &Semantic, classes: &[usize]) -> Result<Mat<f64>> {
    let found = semantic.vectors.ncols();
    if found != dataset.classes.len() {
        let expected = dataset.classes.len();
        return Err(Error::Mismatch {
            origin: semantic.origin.clone(),
            what: "rows (one per class)",
            expected,
            found,
        });
    }
    for &class in classes {
        let column = semantic.vectors.col_as_slice(class);
        if let Some(bad) = column.iter().position(|value| !value.is_finite()) {
            let origin = semantic.origin.clone();
            return Err(Error::NotFinite { origin, row: class, column: bad, value: column[bad] });
        }
    }
    if semantic.metric == Metric::Precomputed {
        for &class in classes {
            let column = semantic.vectors.col_as_slice(class);
            if let Some(&other) = classes.iter().find(|&&other| column[other] > MAX_DISTANCE) {
                let problem = SemanticProblem::DistanceTooLarge {
                    classes: [dataset.classes[class].clone(), dataset.classes[other].clone()],
                    distance: column[other],
                    most: MAX_DISTANCE,
                };
                return Err(Error::Semantic { origin: semantic.origin.clone(), problem });
            }
        }
        return Ok(Mat::from_fn(classes.len(), classes.len(), |i, j| {
            semantic.vectors[(classes[i], classes[j])]
        }));
    }
    let vectors =
        Mat::from_fn(semantic.vectors.nrows(), classes.len(), |i, j| semantic.vectors[(i, classes[j])]);
    for (index, &class) in classes.iter().enumerate() {
        let norm = vectors.col(index).norm_l2();
        let class = || dataset.classes[class].clone();
        let problem = match norm {
            0.0 => SemanticProblem::ZeroVector { class: class() },
            norm if norm.is_finite() => continue,
            _ => SemanticProblem::NormOverflow { class: class() },
        };
        return Err(Error::Semantic { origin: semantic.origin.clone(), problem });
    }
    Ok(vectors)
}

fn check_weights(chosen: &[(String, f64)]) -> Result<()> {
    let sum: f64 = chosen.iter().map(|(_, weight)| weight).sum();
    let convex = chosen.iter().all(|&(_, weight)| weight >= 0.0) && (sum - 1.0).abs() < 1e-9;
    if !convex {
        let (names, weights) = chosen.iter().cloned().unzip();
        return Err(Error::Weights { setting: "semantic_weights", names, weights });
    }
    for (index, (name, _)) in chosen.iter().enumerate() {
        if chosen[..index].iter().any(|(earlier, _)| earlier == name) {
            let expected = "different from each other".into();
            return Err(Error::Setting {
                setting: "semantic representations",
                expected,
                found: format!("`{name}` twice"),
            });
        }
    }
    Ok(())
}

fn stack(representations: &[Representation]) -> Option<Mat<f64>> {
    if representations.iter().any(|one| one.metric == Metric::Precomputed) {
        return None;
    }
    let classes = representations.first()?.values.ncols();
    let mut stacked = Mat::zeros(representations.iter().map(|one| one.values.nrows()).sum(), classes);
    let mut first = 0;
    for one in representations {
        for class in 0..classes {
            for row in 0..one.values.nrows() {
                stacked[(first + row, class)] = one.weight.sqrt() * one.values[(row, class)];
            }
        }
        first += one.values.nrows();
    }
    Some(stacked)
}
