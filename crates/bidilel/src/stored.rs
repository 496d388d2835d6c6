//! How a fitted method is stored in a model file: its arrays, and what the file's header records.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;

use crate::error::{ModelProblem, Result};
use crate::method::Method;
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

    /// The same with other classes, everything that was learned being fixed; `None` where it does not say what it would
    /// be for them, so that only another fit can.
    fn changed(&self, _change: &Change<'_>) -> Result<Option<Self>> {
        Ok(None)
    }
}

/// How the classes of a fitted method change. Known classes stay as they are.
pub(crate) struct Change<'a> {
    /// The method, with every setting in force.
    pub(crate) method: &'a Method,
    /// Of known, then unseen classes after the change, their indices before it; none of those that are new.
    pub(crate) before: &'a [Option<usize>],
    /// Descriptions after the change.
    pub(crate) semantics: &'a ClassSemantics,
}

impl Change<'_> {
    /// One column per class after the change: kept ones, and what `new` makes of the unit vectors of the known classes and
    /// of the new ones; `None` where it makes nothing.
    pub(crate) fn columns(
        &self,
        kept: &Mat<f64>,
        new: impl FnOnce(MatRef<'_, f64>, MatRef<'_, f64>) -> Result<Option<Mat<f64>>>,
    ) -> Result<Option<Mat<f64>>> {
        let arrived: Vec<usize> =
            (0..self.before.len()).filter(|&class| self.before[class].is_none()).collect();
        let made = match (arrived.as_slice(), self.semantics.vectors()) {
            ([], _) => Mat::zeros(kept.nrows(), 0),
            (arrived, Some(all)) => {
                let own = Mat::from_fn(all.nrows(), arrived.len(), |i, j| all[(i, arrived[j])]);
                let Some(made) = new(all.subcols(0, self.semantics.known), own.as_ref())? else {
                    return Ok(None);
                };
                made
            }
            (_, None) => return Ok(None),
        };
        let mut next = 0;
        let mut all = Mat::zeros(kept.nrows(), self.before.len());
        for (class, before) in self.before.iter().enumerate() {
            let from = before.map_or_else(
                || {
                    next += 1;
                    made.col(next - 1)
                },
                |before| kept.col(before),
            );
            all.col_mut(class).copy_from(from);
        }
        Ok(Some(all))
    }
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
