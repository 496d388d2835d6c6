//! From the DATASET argument to a dataset: a folder, or `synthetic:PRESET`.

use std::path::Path;

use anyhow::Result;
use bidilel::dataset::Dataset;
use bidilel::synthetic::Synthetic;
use bidilel_math::Observer;

/// Opens what the user named; `seed` is that of a synthetic dataset.
pub(crate) fn open(dataset: &str, seed: u64, watch: &dyn Observer) -> Result<Dataset> {
    watch.stage("open");
    if let Some(preset) = dataset.strip_prefix("synthetic:") {
        return Ok(Synthetic::preset(preset)?.generate(seed)?);
    }
    let opened = bidilel_data::open(Path::new(dataset))?;
    opened.notes.iter().for_each(|note| watch.note(note));
    Ok(opened.dataset)
}
