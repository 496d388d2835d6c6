//! Classes that join a model, by their descriptions alone.

use faer::Mat;

use bidilel_math::Observer;

use super::NewClass;
use crate::dataset::Metric;
use crate::error::{ClassProblem, Error, Result, SemanticProblem};
use crate::landmarks::Landmarks;
use crate::latent_space::block_rows;
use crate::method::{AnyFitted, Method};
use crate::model::Model;
use crate::pipeline::{Fitted, Pipeline, mean_stress, require_finite};
use crate::semantic::{ClassSemantics, MAX_DISTANCE, Representation};
use crate::stored::Change;
use crate::top_down::{Embedding, joined};

impl Model {
    /// Adds unseen classes, jointly; everything else stays as it is. On failure the model is unchanged.
    ///
    /// # Errors
    /// [`Error::Classes`] for names that are taken and descriptions that are missing, of another length or not finite, and
    /// for methods that would have to be fitted again; those of the embedder.
    pub fn add_classes(&mut self, new: &[NewClass], watch: &dyn Observer) -> Result<()> {
        self.check_names(new)?;
        if new.is_empty() {
            return Ok(());
        }
        if self.semantics.representations.is_empty() {
            return Err(ClassProblem::NoDescriptions.into());
        }
        let columns = self.semantics.representations.iter().map(|one| Self::columns(one, new));
        let semantics = self.semantics.extended(&columns.collect::<Result<Vec<_>>>()?);
        match (&self.method, &mut self.fitted) {
            (Method::Bidilel(pipeline), AnyFitted::Bidilel(fitted)) => {
                let embedding = join(pipeline, fitted, &self.semantics, &semantics, watch)?;
                fitted.replace_embedding(embedding, &semantics)?;
            }
            (method, fitted) => {
                let classes = self.known.len() + self.unseen.len();
                let before: Vec<Option<usize>> =
                    (0..classes).map(Some).chain(new.iter().map(|_| None)).collect();
                let changed = fitted.changed(&Change { method, before: &before, semantics: &semantics })?;
                *fitted = changed.ok_or_else(|| ClassProblem::NeedsFit {
                    method: method.name(),
                    what: "add a class",
                    reason: "what it keeps of the known classes does not say what another class would be",
                })?;
            }
        }
        self.semantics = semantics;
        self.unseen.extend(new.iter().map(|class| class.name.clone()));
        Ok(())
    }

    fn check_names(&self, new: &[NewClass]) -> Result<()> {
        let names = || self.semantics.representations.iter().map(|one| one.name.clone());
        for (index, class) in new.iter().enumerate() {
            self.require_free(&class.name)?;
            if new[..index].iter().any(|earlier| earlier.name == class.name) {
                return Err(Error::Duplicate { what: "class", name: class.name.clone() });
            }
            if let Some(found) = class.semantics.keys().find(|key| !names().any(|name| name == **key)) {
                let (found, available) = (found.clone(), names().collect());
                return Err(ClassProblem::NoRepresentation { found, available }.into());
            }
        }
        Ok(())
    }

    /// The columns of new classes in one representation, checked as those of a dataset are.
    fn columns(one: &Representation, new: &[NewClass]) -> Result<Mat<f64>> {
        let (precomputed, before) = (one.metric == Metric::Precomputed, one.raw.ncols());
        let rows = if precomputed { before + new.len() } else { one.raw.nrows() };
        let mut columns = Mat::zeros(rows, new.len());
        for (j, class) in new.iter().enumerate() {
            let (name, representation) = (|| class.name.clone(), || one.name.clone());
            let vector = class.semantics.get(&one.name).ok_or_else(|| ClassProblem::NotDescribed {
                class: name(),
                representation: representation(),
            })?;
            let expected = if precomputed { before + j } else { rows };
            if vector.len() != expected {
                let (class, representation, found) = (name(), representation(), vector.len());
                return Err(ClassProblem::Length { class, representation, expected, found }.into());
            }
            let wrong =
                |value: f64| !value.is_finite() || precomputed && !(0.0..=MAX_DISTANCE).contains(&value);
            if let Some(index) = vector.iter().position(|&value| wrong(value)) {
                let (class, representation, value) = (name(), representation(), vector[index]);
                return Err(ClassProblem::Value { class, representation, index, value }.into());
            }
            columns.col_as_slice_mut(j)[..expected].copy_from_slice(vector);
            if precomputed {
                continue;
            }
            let problem = match columns.col(j).norm_l2() {
                0.0 => SemanticProblem::ZeroVector { class: name() },
                norm if norm.is_finite() => continue,
                _ => SemanticProblem::NormOverflow { class: name() },
            };
            return Err(Error::Semantic { origin: format!("`{}`", one.name), problem });
        }
        Ok(columns)
    }
}

impl Fitted {
    /// Another embedding of the unseen classes in the same space.
    pub(super) fn replace_embedding(
        &mut self,
        embedding: Embedding,
        semantics: &ClassSemantics,
    ) -> Result<()> {
        let (known, unseen) = (self.landmarks.points.as_ref(), embedding.points.as_ref());
        require_finite("top_down", "the embedding of the unseen classes", unseen)?;
        self.stress = mean_stress(known, unseen, self.space.spaces(), &semantics.distances);
        self.embedding = embedding;
        Ok(())
    }
}

/// The embedding with the classes that `after` describes in addition to `before`: in every space by itself.
fn join(
    pipeline: &Pipeline,
    fitted: &Fitted,
    before: &ClassSemantics,
    after: &ClassSemantics,
    watch: &dyn Observer,
) -> Result<Embedding> {
    let (settled, dim) = (&fitted.embedding, fitted.space.dim());
    let each = block_rows(dim, fitted.space.spaces()).map(|rows| {
        let own = |points: &Mat<f64>| rows.of(points.as_ref()).to_owned();
        let landmarks = Landmarks { points: own(&fitted.landmarks.points) };
        let mapped = match &settled.mapped {
            Some(mapped) => Some(own(mapped)),
            None => pipeline.top_down.mapped_again(&landmarks, before, watch)?,
        };
        let part = Embedding { points: own(&settled.points), converged: settled.converged, mapped };
        let found = pipeline.top_down.join(&landmarks, &part, after, watch)?;
        Ok(Embedding {
            points: joined(part.points.as_ref(), found.points.as_ref()),
            converged: part.converged && found.converged,
            mapped: part.mapped.zip(found.mapped).map(|(old, new)| joined(old.as_ref(), new.as_ref())),
        })
    });
    Ok(Embedding::stacked(each.collect::<Result<Vec<_>>>()?))
}
