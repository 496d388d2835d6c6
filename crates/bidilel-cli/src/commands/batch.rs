//! The whole batch of `predict`, for refiners: all instances in the latent space, or their scores.

use std::ops::Range;

use anyhow::Result;
use bidilel::model::Model;
use bidilel::post::Post;
use bidilel::{Recognition, Scores};
use faer::Mat;

use super::block::Block;
use super::features::Sources;
use super::row_scan::Scan;

/// What is recognized together.
pub(super) struct Batch<'a> {
    pub(super) model: &'a Model,
    /// Rows of the files.
    pub(super) count: usize,
    pub(super) skip_bad_rows: bool,
}

impl Batch<'_> {
    /// The recognition before refiners, and the numbers of its instances; `done` gets every block.
    pub(super) fn recognize(
        &self,
        sources: &mut Sources,
        blocks: &[Range<usize>],
        post: &[Post],
        found: &mut Scan,
        done: impl Fn(&Range<usize>),
    ) -> Result<(Recognition, Vec<usize>)> {
        let model = self.model;
        let mut kept = Vec::new();
        // Scores are larger than points where there are many classes, and latent refiners need points.
        if model.latent().is_ok() || !post.iter().all(Post::needs_scores_only) {
            let latent = model.latent()?;
            let mut points = Mat::<f64>::zeros(latent.space.dim(), self.count);
            for range in blocks {
                let (placed, rows) = Block::read(sources, range, self.skip_bad_rows, found)?
                    .with(|rows, range, _| model.project_views(rows, range))?;
                points.as_mut().subcols_mut(kept.len(), placed.ncols()).copy_from(&placed);
                kept.extend(rows);
                done(range);
            }
            points.truncate(latent.space.dim(), kept.len());
            return Ok((latent.nearest(points, model.candidates()), kept));
        }
        let classes = model.names(model.candidates()).len();
        let mut values = Mat::<f64>::zeros(classes, self.count);
        for range in blocks {
            let (scored, rows) =
                Block::read(sources, range, self.skip_bad_rows, found)?.with(|rows, range, _| {
                    model.uncalibrated_views(rows, range, |_, found| found.scores.values)
                })?;
            let mut first = kept.len();
            for part in scored {
                values.as_mut().subcols_mut(first, part.ncols()).copy_from(&part);
                first += part.ncols();
            }
            kept.extend(rows);
            done(range);
        }
        values.truncate(classes, kept.len());
        Ok((Scores { values }.into(), kept))
    }
}
