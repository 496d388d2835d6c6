//! A class that becomes known: labeled instances have arrived.
//!
//! Its landmark is the normalized mean of its projected instances (Wang & Chen 2017, eq. 6), in the latent space as it
//! is. The space was learned without the class: it separates the class from others only as well as directions do that
//! separate the old ones.

use faer::{Mat, MatRef};

use bidilel_math::{Observer, distance};

use super::ClassIndex;
use super::remove::columns;
use crate::error::{ClassProblem, Error, Result, Role};
use crate::landmarks::Landmarks;
use crate::latent_space::block_rows;
use crate::method::{AnyFitted, Method};
use crate::model::Model;
use crate::pipeline::require_finite;
use crate::top_down::{Embedding, joined};

/// A mean of unit vectors whose norm is below this has no direction but that of rounding errors.
const MIN_MEAN_NORM: f64 = 1e-9;

/// What becomes of the other unseen classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Others {
    /// They stay where they are: no answer among them changes.
    #[default]
    Stay,
    /// They are embedded anew among all landmarks, the new one included.
    EmbedAnew,
}

impl Model {
    /// Makes an unseen class known: its landmark is the normalized mean of `points`, its instances in the latent space as
    /// [`Self::project_views`] projects them. It comes after the other known classes. On failure the model is unchanged.
    ///
    /// # Errors
    /// [`Error::NoLatentSpace`], [`ClassProblem::Unknown`], [`ClassProblem::AlreadyKnown`], [`ClassProblem::Last`],
    /// [`ClassProblem::NoDirection`]; those of the embedder where others are embedded anew.
    pub fn promote_class(
        &mut self,
        name: &str,
        points: MatRef<'_, f64>,
        others: Others,
        watch: &dyn Observer,
    ) -> Result<()> {
        let class = match self.class(name)? {
            ClassIndex::Unseen(class) => class,
            ClassIndex::Known(_) => return Err(ClassProblem::AlreadyKnown { class: name.to_owned() }.into()),
        };
        if self.unseen.len() == 1 {
            return Err(ClassProblem::Last { class: name.to_owned(), role: Role::Unseen }.into());
        }
        let no_space = Error::NoLatentSpace { method: self.method.name() };
        let (Method::Bidilel(pipeline), AnyFitted::Bidilel(fitted)) = (&self.method, &mut self.fitted) else {
            return Err(no_space);
        };
        let landmark = landmark(points, fitted.space.spaces())
            .ok_or_else(|| ClassProblem::NoDirection { class: name.to_owned(), count: points.ncols() })?;
        let known = self.known.len();
        let rest: Vec<usize> = (0..self.unseen.len()).filter(|&other| other != class).collect();
        let order: Vec<usize> =
            (0..known).chain([known + class]).chain(rest.iter().map(|other| known + other)).collect();
        let semantics = self.semantics.select(&order, known + 1);
        let landmarks = Landmarks { points: joined(fitted.landmarks.points.as_ref(), landmark.as_ref()) };
        require_finite("landmarks", "the landmarks", landmarks.points.as_ref())?;
        let embedding = match others {
            Others::EmbedAnew => pipeline.embed_each(&landmarks, fitted.space.spaces(), &semantics, watch)?,
            Others::Stay => {
                let of = |points: &Mat<f64>| columns(points.as_ref(), &rest);
                let Embedding { points, converged, mapped } = &fitted.embedding;
                Embedding { points: of(points), converged: *converged, mapped: mapped.as_ref().map(of) }
            }
        };
        require_finite("top_down", "the embedding of the unseen classes", embedding.points.as_ref())?;
        fitted.landmarks = landmarks;
        fitted.replace_embedding(embedding, &semantics)?;
        self.semantics = semantics;
        let promoted = self.unseen.remove(class);
        self.known.push(promoted);
        self.instances += points.ncols();
        Ok(())
    }
}

/// The normalized mean of points, in every space by itself; none where they cancel.
fn landmark(points: MatRef<'_, f64>, spaces: usize) -> Option<Mat<f64>> {
    let mut sum = Mat::zeros(points.nrows(), 1);
    for point in points.col_iter() {
        sum.col_as_slice_mut(0).iter_mut().zip(point.iter()).for_each(|(sum, value)| *sum += value);
    }
    for rows in block_rows(points.nrows(), spaces) {
        let mut own = sum.as_mut().subrows_mut(rows.first, rows.count);
        let norm: f64 = own.norm_l2();
        if norm.is_nan() || norm <= MIN_MEAN_NORM * points.ncols() as f64 {
            return None;
        }
        distance::normalize_columns(own.as_mut());
    }
    Some(sum)
}
