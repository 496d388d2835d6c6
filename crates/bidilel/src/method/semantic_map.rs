//! A linear map from features to descriptions: an instance is compared with classes in the semantic space, by cosine.
//!
//! What `rr` and `sae` learn. Unit vectors are compared by their Euclidean distance, which orders classes as the cosine
//! does and gives refiners points to work with.

use std::sync::Arc;

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;

use super::FittedMethod;
use super::linear::vectors;
use crate::error::Result;
use crate::latent_space::{LatentSpace, Map};
use crate::recognize::{Candidates, Recognition};
use crate::semantic::ClassSemantics;
use crate::stored::{Change, Recorded, Stored, unpack};
use crate::task::Prepared;
use crate::tensors::Tensor;

/// A learned map into the semantic space, with the classes in it.
#[derive(Debug, Clone, PartialEq)]
pub struct SemanticMap {
    /// Semantic coordinates of an instance are the map of its features minus an offset.
    space: LatentSpace,
    /// $W$ again, as it is stored.
    map: Mat<f64>,
    /// Unit vectors of known, then unseen classes.
    classes: Mat<f64>,
    known: usize,
}

impl SemanticMap {
    pub(super) fn new(map: Mat<f64>, offset: Vec<f64>, classes: MatRef<'_, f64>, known: usize) -> Self {
        let mut classes = classes.to_owned();
        bidilel_math::distance::normalize_columns(classes.as_mut());
        Self { space: LatentSpace { map: Map::Linear(map.clone()), mean: offset }, map, classes, known }
    }
}

impl FittedMethod for SemanticMap {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let points = self.space.project(instances.features())?;
        let range = candidates.range(self.known, self.classes.ncols() - self.known);
        let classes = self.classes.subcols(range.start, range.len()).to_owned();
        Ok(Recognition::nearest(Arc::new(points), classes))
    }
}

impl Stored for SemanticMap {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("semantic_from_visual", &self.map),
            Tensor::vector("semantic_offset", &self.space.mean),
        ]
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let classes = vectors(semantics, "this method")?;
        let map = unpack(file, "semantic_from_visual", Some(recorded.views.dim()), Some(classes.nrows()))?;
        let offset = unpack(file, "semantic_offset", Some(classes.nrows()), Some(1))?;
        Ok(Self::new(map, offset.col_as_slice(0).to_vec(), classes, recorded.known))
    }

    fn changed(&self, change: &Change<'_>) -> Result<Option<Self>> {
        let classes = vectors(change.semantics, "this method")?;
        Ok(Some(Self::new(self.map.clone(), self.space.mean.clone(), classes, self.known)))
    }
}
