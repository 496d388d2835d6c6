//! Classes that leave a model, and classes that get another name.

use faer::{Mat, MatRef};

use super::ClassIndex;
use crate::error::{ClassProblem, Result, Role};
use crate::landmarks::Landmarks;
use crate::method::{AnyFitted, Method};
use crate::model::Model;
use crate::stored::Change;
use crate::top_down::Embedding;

impl Model {
    /// Removes classes; everything else stays as it is. On failure the model is unchanged.
    ///
    /// A known class is no landmark any more; what was learned from its instances stays learned.
    ///
    /// # Errors
    /// [`ClassProblem::Unknown`], [`ClassProblem::Last`], and [`ClassProblem::NeedsFit`] for known classes of methods
    /// without a latent space.
    pub fn remove_classes(&mut self, names: &[&str]) -> Result<()> {
        let mut kept = vec![true; self.known.len() + self.unseen.len()];
        for name in names {
            let class = self.class(name)?;
            kept[self.position(class)] = false;
        }
        let order: Vec<usize> = (0..kept.len()).filter(|&class| kept[class]).collect();
        let known = order.iter().filter(|&&class| class < self.known.len()).count();
        for (left, role) in [(known, Role::Known), (order.len() - known, Role::Unseen)] {
            // A model that never had an unseen class needs none.
            if left == 0 && !(role == Role::Unseen && self.unseen.is_empty()) {
                let class = names.last().map_or(String::new(), |name| (*name).to_owned());
                return Err(ClassProblem::Last { class, role }.into());
            }
        }
        let semantics = self.semantics.select(&order, known);
        let first = self.known.len();
        match (&self.method, &mut self.fitted) {
            (Method::Bidilel(_), AnyFitted::Bidilel(fitted)) => {
                let unseen: Vec<usize> = order[known..].iter().map(|class| class - first).collect();
                let landmarks = columns(fitted.landmarks.points.as_ref(), &order[..known]);
                let of = |points: &Mat<f64>| columns(points.as_ref(), &unseen);
                let before = &fitted.embedding;
                let embedding = Embedding {
                    points: of(&before.points),
                    converged: before.converged,
                    mapped: before.mapped.as_ref().map(of),
                };
                fitted.landmarks = Landmarks { points: landmarks };
                fitted.replace_embedding(embedding, &semantics)?;
            }
            (method, fitted) => {
                let needs_fit =
                    |reason| ClassProblem::NeedsFit { method: method.name(), what: "remove a class", reason };
                if known < first {
                    return Err(needs_fit("what it has learned goes by the known classes").into());
                }
                let before: Vec<Option<usize>> = order.iter().copied().map(Some).collect();
                let changed = fitted.changed(&Change { method, before: &before, semantics: &semantics })?;
                *fitted =
                    changed.ok_or_else(|| needs_fit("its attributes are cut at means over all classes"))?;
            }
        }
        let name =
            |class: &usize| self.known.get(*class).unwrap_or_else(|| &self.unseen[*class - first]).clone();
        let (before, after) = order.split_at(known);
        (self.known, self.unseen) = (before.iter().map(name).collect(), after.iter().map(name).collect());
        self.semantics = semantics;
        let mut after = vec![None; first];
        before.iter().enumerate().for_each(|(now, &class)| after[class] = Some(now));
        self.kept = self.kept.take().map(|kept| if known < first { kept.relabeled(&after) } else { kept });
        Ok(())
    }

    /// Gives a class another name, and changes nothing else.
    ///
    /// # Errors
    /// [`ClassProblem::Unknown`], [`ClassProblem::Exists`], [`ClassProblem::Name`].
    pub fn rename_class(&mut self, old: &str, new: &str) -> Result<()> {
        let class = self.class(old)?;
        if old != new {
            self.require_free(new)?;
        }
        let slot = match class {
            ClassIndex::Known(class) => &mut self.known[class],
            ClassIndex::Unseen(class) => &mut self.unseen[class],
        };
        new.clone_into(slot);
        Ok(())
    }
}

/// Some columns, in this order.
pub(super) fn columns(points: MatRef<'_, f64>, order: &[usize]) -> Mat<f64> {
    Mat::from_fn(points.nrows(), order.len(), |i, j| points[(i, order[j])])
}
