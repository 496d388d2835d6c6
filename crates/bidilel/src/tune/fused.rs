//! Scores of settings that differ in how views are weighed, or in the form in which their kernels are solved for.
//!
//! Neighbour lists are the same for all of them. What depends on weights and kernels is computed once for all settings
//! that share these.

use faer::MatRef;

use bidilel_math::{Observer, Scalar};

use super::common::groups;
use super::pool::{Lists, Pool};
use super::shared::View;
use super::spaces::{Job, Report, fail};
use crate::error::Result;
use crate::semantic::ClassSemantics;
use crate::visual::{Fusion, Method, Views};

/// One fold, its training instances at the front of the pool.
pub(crate) struct Fused<'a, T> {
    pub(crate) pool: &'a Pool<T>,
    /// Neighbours of the training instances.
    pub(crate) lists: &'a Lists,
    pub(crate) labels: &'a [usize],
    pub(crate) test_labels: &'a [usize],
    pub(crate) semantics: &'a [ClassSemantics],
    /// The ways to weigh the views, and their kernels.
    pub(crate) views: &'a [Views],
}

impl<T: Scalar> Fused<'_, T> {
    /// Scores every job that is wanted.
    pub(crate) fn score(&self, jobs: &[Job], report: Report<'_>, watch: &dyn Observer) {
        let all: Vec<usize> = (0..jobs.len()).collect();
        let key = |job: usize| {
            let Job { pipeline, views, .. } = &jobs[job];
            (*views, pipeline.fusion.clone(), pipeline.bottom_up.is_direct())
        };
        for ((views, fusion, direct), among) in groups(&all, key) {
            if !among.iter().any(|&job| jobs[job].wanted) {
                continue;
            }
            let way = fusion.choose(&self.views[views], self.labels.len(), direct);
            let going = match way {
                Err(failure) => Ok(fail(jobs, &among, failure, report)),
                Ok((Method::Primal, _)) => {
                    let (train, test) = self.pool.split(self.labels.len());
                    let views = &self.views[views];
                    let view = self.view(train, test, views, views);
                    Ok(view.score(jobs, &among, self.lists, report, watch))
                }
                Ok((method, _)) => {
                    let views = &self.views[views];
                    self.by_kernel(&fusion, method, direct, views, jobs, &among, report, watch)
                }
            };
            let going = going.unwrap_or_else(|failure| fail(jobs, &among, failure, report));
            if !going {
                return;
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all of a group's parts, from one call")]
    fn by_kernel(
        &self,
        fusion: &Fusion,
        method: Method,
        direct: bool,
        views: &Views,
        jobs: &[Job],
        among: &[usize],
        report: Report<'_>,
        watch: &dyn Observer,
    ) -> Result<bool> {
        let (train, test) = self.pool.split(self.labels.len());
        let mapped = fusion.mapped(method, direct, views, train, watch)?;
        let test = mapped.map(test);
        let inner = Views::single("kernel", mapped.train.nrows());
        let over = |job: &Job| {
            let mut pipeline = job.pipeline.clone();
            if method == Method::NSpace {
                pipeline.bottom_up = pipeline.bottom_up.over_kernel(direct);
            }
            Job { pipeline, ..*job }
        };
        let over: Vec<Job> = jobs.iter().map(over).collect();
        let view = self.view(mapped.train.as_ref(), test.as_ref(), &inner, views);
        Ok(view.score(&over, among, self.lists, report, watch))
    }

    fn view<'v, F>(
        &'v self,
        train: MatRef<'v, F>,
        test: MatRef<'v, F>,
        views: &'v Views,
        graph_views: &'v Views,
    ) -> View<'v, F> {
        let Self { labels, test_labels, semantics, .. } = self;
        View { train, test, views, graph_views, labels, test_labels, semantics }
    }
}
