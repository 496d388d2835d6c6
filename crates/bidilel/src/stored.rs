//! How a fitted method is stored in a model file: its arrays, and what the file's header records.

use faer::Mat;
use safetensors::tensor::SafeTensors;

use crate::error::{ModelProblem, Result};
use crate::semantic::ClassSemantics;
use crate::tensors::{self, Tensor};
use crate::visual::{Report, Views};

/// What a header says that fitted methods need to read their arrays.
pub(crate) struct Recorded<'a> {
    /// The views, which have all visual dimensions together.
    pub(crate) views: &'a Views,
    /// Known classes.
    pub(crate) known: usize,
    /// Unseen classes.
    pub(crate) unseen: usize,
    /// Cost of the mapping at the embedding, where there is one.
    pub(crate) stress: Option<f64>,
    /// Whether the mapping converged, where it was recorded.
    pub(crate) converged: Option<bool>,
    /// How many latent spaces there are, where there are several.
    pub(crate) spaces: Option<usize>,
    /// How the views were joined, where they were.
    pub(crate) fusion: Option<&'a Report>,
}

/// Arrays of a fitted method in a model file.
pub(crate) trait Stored: Sized {
    /// The arrays to write.
    fn tensors(&self) -> Vec<Tensor<'_>>;

    /// The fitted method of a file, whose header and class descriptions have been read.
    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self>;
}

/// A matrix by its name, with as many rows and columns as are expected.
pub(crate) fn unpack(
    file: &SafeTensors<'_>,
    name: &str,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Result<Mat<f64>> {
    Ok(tensors::unpack(file, name, rows, columns).map_err(ModelProblem::from)?)
}
