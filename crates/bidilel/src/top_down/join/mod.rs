//! Classes that join an embedding: they move, all others stay where they are.
//!
//! The landmarks $l_i$ and the classes $S$ that were embedded before are fixed. The joining classes $J$ minimize their
//! part of the cost of the mapping (Wang & Chen 2017, eq. 7): the sum over all pairs that have one of them,
//! `$$E_J(B^J) = \frac{1}{|C^l||C^u|} \sum_{i \in C^l,\, j \in J} \frac{(d_{ij} - \delta_{ij})^2}{\delta_{ij}} +
//! \frac{2}{|C^u|(|C^u|-1)} \Big(\sum_{k \in S,\, j \in J} + \sum_{j < j' \in J}\Big)
//! \frac{(d_{kj} - \delta_{kj})^2}{\delta_{kj}}, \quad C^u = S \cup J.$$`
//! A regression has no such coupling: a class that joins is where it would have been from the start.
//!
//! Several classes that join at once are embedded jointly. One by one, each is fitted to those before it, which stay: the
//! first ones do not follow the later ones, and the order matters a little.

mod cost;
#[cfg(test)]
mod laws;

use faer::{Mat, MatRef};

use bidilel_math::lbfgs::Minimum;
use bidilel_math::{Observer, distance};

use super::lsm::MAX_MAJORIZED_CLASSES;
use super::span::Hull;
use super::{ClassEmbedder, Embedding, Lsm, Sammon, TopDown, ensemble, stress_from, verify};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::semantic::ClassSemantics;
use cost::Joining;

impl Lsm {
    /// Maps the unseen classes after the settled ones, which stay where they are.
    fn join(
        &self,
        landmarks: &Landmarks,
        settled: MatRef<'_, f64>,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        self.check()?;
        watch.stage("top_down");
        let arrived = semantics.arrived(settled.ncols());
        let alone = Sammon::new(landmarks.points.as_ref(), &arrived.distances);
        let cost = Joining::new(landmarks.points.as_ref(), settled, semantics);
        let mut start = self.init.points(&alone, landmarks, &arrived, watch)?;
        cost.leave_settled(&mut start);
        verify::gradient(&cost, landmarks.points.nrows(), &start, watch)?;
        let found = self.minimum_joining(&cost, start, watch)?;
        if !found.converged {
            watch.note(&format!("the mapping had not settled after {} iterations", found.iterations));
        }
        let (dim, count) = (settled.nrows(), cost.count());
        let mut points = MatRef::from_column_major_slice(&found.point, dim, count).to_owned();
        let all = joined(settled, points.as_ref());
        let stress =
            stress_from(landmarks.points.as_ref(), all.as_ref(), &semantics.distances, settled.ncols());
        verify::compare(&alone, stress, found.value, watch)?;
        if self.unit_embedding {
            distance::normalize_columns(points.as_mut());
        }
        Ok(Embedding { points, converged: found.converged, mapped: None })
    }

    fn minimum_joining(&self, cost: &Joining, start: Vec<f64>, watch: &dyn Observer) -> Result<Minimum> {
        let stiff = cost.floored > 0 && cost.count() <= MAX_MAJORIZED_CLASSES;
        if let Some(hull) = Hull::of(cost.landmarks())
            && let Some((smaller, start)) = cost.within(&hull, &start)
        {
            let found = self.minimum_of(&smaller, stiff, start, watch)?;
            return Ok(Minimum { point: hull.lift(&found.point), ..found });
        }
        self.minimum_of(cost, stiff, start, watch)
    }
}

/// Columns next to each other.
pub(crate) fn joined(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let first = left.ncols();
    Mat::from_fn(left.nrows(), first + right.ncols(), |i, j| {
        if j < first { left[(i, j)] } else { right[(i, j - first)] }
    })
}

impl TopDown {
    /// Embeds the unseen classes that come after the settled ones; `semantics` describe all, and the settled ones stay.
    ///
    /// # Errors
    /// Those of [`ClassEmbedder::embed`].
    pub(crate) fn join(
        &self,
        landmarks: &Landmarks,
        settled: &Embedding,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Embedding> {
        let before = settled.points.ncols();
        let mapped = settled.mapped.as_ref().unwrap_or(&settled.points).as_ref();
        let arrived = semantics.arrived(before);
        match self {
            Self::Lsm(lsm) => lsm.join(landmarks, settled.points.as_ref(), semantics, watch),
            Self::Svr(svr) => svr.embed(landmarks, &arrived, watch),
            Self::Krr(krr) => krr.embed(landmarks, &arrived, watch),
            Self::LsmSvr(both) => {
                let found = both.lsm.join(landmarks, mapped, semantics, watch)?;
                let regressed = both.svr.embed(landmarks, &arrived, watch)?;
                Ok(ensemble::mean(found, &regressed, both.svr.unit_embedding))
            }
            Self::LsmKrr(both) => {
                let found = both.lsm.join(landmarks, mapped, semantics, watch)?;
                let regressed = both.krr.embed(landmarks, &arrived, watch)?;
                Ok(ensemble::mean(found, &regressed, both.krr.unit_embedding))
            }
        }
    }

    /// The points of the mapping behind an embedding that has only its means with a regression, as files before version 5
    /// have it: the same mapping again gives the same points.
    pub(crate) fn mapped_again(
        &self,
        landmarks: &Landmarks,
        semantics: &ClassSemantics,
        watch: &dyn Observer,
    ) -> Result<Option<Mat<f64>>> {
        let lsm = match self {
            Self::LsmSvr(both) => &both.lsm,
            Self::LsmKrr(both) => &both.lsm,
            Self::Lsm(_) | Self::Svr(_) | Self::Krr(_) => return Ok(None),
        };
        Ok(Some(lsm.embed(landmarks, semantics, watch)?.points))
    }
}
