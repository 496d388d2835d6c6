//! The synthetic data that fits are measured on: AwA's classes, with any number of rows and dimensions.

use anyhow::Result;
use bidilel::dataset::Dataset;
use bidilel::synthetic::{Synthetic, View};

const KNOWN: usize = 40;
const UNSEEN: usize = 10;

/// A dataset with this many rows of known classes, all classes of one size.
#[expect(clippy::cast_precision_loss, reason = "a million rows at most")]
pub(crate) fn synthetic(rows: usize, dim: usize) -> Result<Dataset> {
    let made = Synthetic {
        known: KNOWN,
        unseen: UNSEEN,
        validation: 0,
        trials: 0,
        imbalance: 0.0,
        instances_per_class: rows as f64 / KNOWN as f64,
        views: vec![View { name: "cnn".to_owned(), dim }],
        ..Synthetic::preset("awa")?
    };
    Ok(made.generate(0)?)
}
