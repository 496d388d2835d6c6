//! Explanations of rows that Python lends.

use bidilel::explain::{Explainer, Explanation, Extent};
use bidilel::{Candidates, Error, Model, Observer, Recognition, Rows};

use crate::failure::Failure;
use crate::recognize::{polled_rows, with_views};

/// Rows whose explanations are made at a time, at most.
const EXPLAINED_ROWS: usize = 256;

/// Why rows are taken for what they are taken for.
pub(crate) fn explain(
    model: &Model,
    rows: &dyn Rows,
    candidates: Candidates,
    extent: Extent,
    watch: &dyn Observer,
) -> Result<Vec<Explanation>, Failure> {
    let explainer = Explainer::new(model, candidates, extent);
    explainer.gaps().iter().for_each(|gap| watch.note(gap));
    watch.stage("recognize");
    let each = |_: usize, found: Recognition| -> Vec<Explanation> {
        (0..found.scores.instances()).map(|instance| explainer.explain(&found, instance)).collect()
    };
    // The rows themselves, no copies of blocks: the library names their places and what is stored there.
    with_views(model, rows, |views| {
        let (mut all, block) = (Vec::new(), EXPLAINED_ROWS.min(polled_rows(model)));
        for first in (0..rows.count()).step_by(block) {
            let range = first..rows.count().min(first + block);
            watch.progress(first, rows.count());
            all.extend(model.recognize_among(views, range, Candidates::All, each)?.into_iter().flatten());
            if watch.poll().is_break() {
                return Err(Error::Cancelled.into());
            }
        }
        Ok(all)
    })
}
