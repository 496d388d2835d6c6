//! Explanations of rows that Python lends.

use bidilel::explain::{Explainer, Explanation, Extent};
use bidilel::{Candidates, Error, Mat, Model, Observer, Rows};

use crate::failure::Failure;
use crate::recognize::polled_rows;

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
    let (mut all, block) = (Vec::new(), EXPLAINED_ROWS.min(polled_rows(model)));
    for first in (0..rows.count()).step_by(block) {
        let count = block.min(rows.count() - first);
        watch.progress(first, rows.count());
        let mut raw = Mat::zeros(rows.dim(), count);
        (0..count).for_each(|i| rows.read(first + i, raw.col_as_slice_mut(i)));
        let recognition = model.recognize(raw.as_ref(), Candidates::All)?;
        all.extend((0..count).map(|instance| explainer.explain(&recognition, instance)));
        if watch.poll().is_break() {
            return Err(Error::Cancelled.into());
        }
    }
    Ok(all)
}
