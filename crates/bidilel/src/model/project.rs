//! Recognition of stored feature rows by a model, in blocks of bounded size.

use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use bidilel_math::Silent;

use super::Model;
use crate::dataset::Rows;
use crate::error::{Error, Result};
use crate::latent_space::{LatentProjector, LatentSpace};
use crate::method::FittedMethod;
use crate::recognize::{Candidates, Recognition};
use crate::task::{Prepared, gather_views, read_views};

/// Least and most rows that one thread recognizes at a time.
const BLOCK_ROWS: Range<usize> = 192..960;
/// Distances that one thread computes at a time, within the bounds on rows.
const BLOCK_DISTANCES: usize = 4 << 20;

/// One representation per view, each with its name for messages.
type ViewRows<'a> = [(&'a dyn Rows, &'a str)];

impl Model {
    /// Some rows of `rows` in the latent space, checked and normalized as the training rows were: of a model with one
    /// view.
    pub fn project_rows(&self, rows: &dyn Rows, range: Range<usize>, origin: &str) -> Result<Mat<f64>> {
        self.project_views(&[(rows, origin)], range)
    }

    /// Some rows of every view in the latent space, checked and normalized as the training rows were; the views, each
    /// with its name for messages, are in the model's order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of views, and for views of other sizes; [`Error::NoLatentSpace`].
    pub fn project_views(&self, rows: &ViewRows<'_>, range: Range<usize>) -> Result<Mat<f64>> {
        let space = &self.latent()?.space;
        self.project_by(space, &space.projector(), rows, range)
    }

    /// [`Self::project_views`] for points that are centered but not normalized.
    ///
    /// # Errors
    /// As there.
    pub fn project_views_unnormalized(&self, rows: &ViewRows<'_>, range: Range<usize>) -> Result<Mat<f64>> {
        self.centered_by(&self.latent()?.space.projector(), rows, range)
    }

    fn project_by(
        &self,
        space: &LatentSpace,
        projector: &LatentProjector<'_>,
        rows: &ViewRows<'_>,
        range: Range<usize>,
    ) -> Result<Mat<f64>> {
        let mut points = self.centered_by(projector, rows, range)?;
        space.normalize(points.as_mut());
        Ok(points)
    }

    fn centered_by(
        &self,
        projector: &LatentProjector<'_>,
        rows: &ViewRows<'_>,
        range: Range<usize>,
    ) -> Result<Mat<f64>> {
        self.check_views(rows)?;
        if projector.needs_stored() {
            return projector.project(self.gathered(rows, range)?.as_ref());
        }
        projector.project_blocks(range.len(), |first, into| {
            read_views(rows, range.start + first, self.normalize, into)
        })
    }

    fn check_views(&self, rows: &ViewRows<'_>) -> Result<()> {
        let parts = &self.views.parts;
        let wrong = |origin: &str, what, expected, found| {
            Err(Error::Mismatch { origin: origin.to_owned(), what, expected, found })
        };
        if rows.len() != parts.len() {
            return wrong("the features", "arrays, one per view", parts.len(), rows.len());
        }
        for ((one, origin), view) in rows.iter().zip(parts) {
            if one.dim() != view.dim {
                return wrong(origin, "dimensions, as in the training features", view.dim, one.dim());
            }
            if one.count() != rows[0].0.count() {
                return wrong(origin, "rows, as in the first view", rows[0].0.count(), one.count());
            }
        }
        Ok(())
    }

    fn gathered(&self, rows: &ViewRows<'_>, range: Range<usize>) -> Result<Mat<f32>> {
        let instances: Vec<usize> = range.collect();
        Ok(gather_views(rows.iter().copied(), &instances, self.normalize, &Silent)?.0)
    }

    /// Recognizes some rows of every view among the model's candidates, in blocks in parallel; `report` gets each block with its
    /// first row, and its results are returned in the order of the rows. Without refiners, which need all rows at once.
    ///
    /// # Errors
    /// Those of [`Self::project_views`], of the first block that has one.
    pub fn recognize_views<R: Send>(
        &self,
        rows: &ViewRows<'_>,
        range: Range<usize>,
        report: impl Fn(usize, Recognition) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.uncalibrated_views(rows, range, |first, found| report(first, self.inductive(found)))
    }

    /// [`Self::recognize_views`] without the bias of a generalized model: what its refiners begin with.
    ///
    /// # Errors
    /// As there.
    pub fn uncalibrated_views<R: Send>(
        &self,
        rows: &ViewRows<'_>,
        range: Range<usize>,
        report: impl Fn(usize, Recognition) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.recognize_among(rows, range, self.candidates(), report)
    }

    /// [`Self::uncalibrated_views`] among any candidates: known classes, unseen ones or all, whichever the model was
    /// fitted for.
    ///
    /// # Errors
    /// As there.
    pub fn recognize_among<R: Send>(
        &self,
        rows: &ViewRows<'_>,
        range: Range<usize>,
        candidates: Candidates,
        report: impl Fn(usize, Recognition) -> R + Sync,
    ) -> Result<Vec<R>> {
        let classes = candidates.range(self.known.len(), self.unseen.len()).len();
        let block = (BLOCK_DISTANCES / classes.max(1)).clamp(BLOCK_ROWS.start, BLOCK_ROWS.end);
        let firsts: Vec<usize> = range.clone().step_by(block).collect();
        let end = |first: usize| range.end.min(first + block);
        let outcomes: Vec<Result<R>> = if let Ok(fitted) = self.latent() {
            // The map is packed once for all blocks.
            let projector = fitted.space.projector();
            let recognize = |&first: &usize| {
                let points = self.project_by(&fitted.space, &projector, rows, first..end(first))?;
                Ok(report(first, fitted.nearest(points, candidates)))
            };
            firsts.par_iter().map(recognize).collect()
        } else {
            self.check_views(rows)?;
            let recognize = |&first: &usize| {
                let features = self.gathered(rows, first..end(first))?;
                let prepared = Prepared { features: features.as_ref() };
                Ok(report(first, self.fitted.recognize(prepared, candidates)?))
            };
            firsts.par_iter().map(recognize).collect()
        };
        outcomes.into_iter().collect()
    }

    /// Recognizes raw features, those of all views stacked.
    pub(super) fn recognize_raw(&self, raw: MatRef<'_, f32>, candidates: Candidates) -> Result<Recognition> {
        let expected = self.views.dim();
        if raw.nrows() != expected {
            let (origin, what) = ("the features".to_owned(), "dimensions, as in the training features");
            return Err(Error::Mismatch { origin, what, expected, found: raw.nrows() });
        }
        let mut first = 0;
        let mut parts = Vec::new();
        for view in &self.views.parts {
            parts.push(raw.subrows(first, view.dim).to_owned());
            first += view.dim;
        }
        let rows: Vec<(&dyn Rows, &str)> = parts
            .iter()
            .zip(&self.views.parts)
            .map(|(part, view)| (part as &dyn Rows, view.name.as_str()))
            .collect();
        let features = self.gathered(&rows, 0..raw.ncols())?;
        self.fitted.recognize(Prepared { features: features.as_ref() }, candidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{MethodName, Settings};
    use crate::synthetic::Synthetic;

    /// Normalized or not, points are those of all rows in one matrix, whatever the map.
    #[test]
    fn points_of_a_block_are_those_of_the_whole() {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(3).expect("a dataset");
        let rows = dataset.visual(None).expect("features").rows.as_ref();
        let views: &ViewRows<'_> = &[(rows, "rows")];
        for kernel in ["linear", "rbf"] {
            let settings = Settings { kernel: Some(vec![kernel.to_owned()]), ..Settings::default() };
            let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a fit");
            let space = &model.latent().expect("a space").space;
            let whole = model.gathered(views, 0..rows.count()).expect("features");
            let expected = space.project_unnormalized(whole.as_ref()).expect("points");
            let mut found = model.project_views_unnormalized(views, 3..50).expect("points");
            assert!((&found - expected.subcols(3, 47)).norm_max() < 1e-6 * expected.norm_max());
            space.normalize(found.as_mut());
            assert_eq!(found, model.project_views(views, 3..50).expect("points"));
        }
    }

    /// Blocks give what one call over everything gives, for methods with and without a latent space.
    #[test]
    fn rows_are_recognized_among_any_candidates() {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(3).expect("a dataset");
        let rows = dataset.visual(None).expect("features").rows.as_ref();
        let mut raw = Mat::zeros(rows.dim(), rows.count());
        (0..rows.count()).for_each(|i| rows.read(i, raw.col_as_slice_mut(i)));
        for method in [MethodName::Bidilel, MethodName::Eszsl] {
            let settings = Settings { method: Some(method), ..Settings::default() };
            let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a fit");
            for candidates in [Candidates::Known, Candidates::Unseen, Candidates::All] {
                let whole = model.recognize(raw.as_ref(), candidates).expect("scores").scores;
                let report = |first: usize, found: Recognition| (first, found.scores);
                let blocks = model.recognize_among(&[(rows, "rows")], 0..rows.count(), candidates, report);
                for (first, part) in blocks.expect("scores") {
                    assert_eq!(part.classes(), model.names(candidates).len());
                    let same = whole.values.subcols(first, part.instances());
                    assert!((&part.values - same).norm_max() < 1e-9);
                }
            }
        }
    }
}
