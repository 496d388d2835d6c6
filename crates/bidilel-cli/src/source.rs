//! From the DATASET argument to a dataset: a folder, `builtin:NAME` or `synthetic:PRESET`.

use std::path::Path;

use anyhow::{Result, bail};
use bidilel::dataset::Dataset;
use bidilel::synthetic::Synthetic;
use bidilel_emoji::Collection;
use bidilel_math::Observer;

/// Opens what the user named; `seed` is that of a synthetic dataset.
pub(crate) fn open(dataset: &str, seed: u64, watch: &dyn Observer) -> Result<Dataset> {
    watch.stage("open");
    if let Some(preset) = dataset.strip_prefix("synthetic:") {
        return Ok(Synthetic::preset(preset)?.generate(seed)?);
    }
    if let Some(name) = dataset.strip_prefix("builtin:") {
        return Ok(builtin(name)?.dataset);
    }
    let opened = bidilel_data::open(Path::new(dataset))?;
    opened.notes.iter().for_each(|note| watch.note(note));
    Ok(opened.dataset)
}

/// What ships inside the program under a name.
pub(crate) fn builtin(name: &str) -> Result<Collection> {
    if !bidilel_emoji::NAMES.contains(&name) {
        let names = bidilel_emoji::NAMES.map(|name| format!("builtin:{name}"));
        bail!("there is no `builtin:{name}` inside the program, only {}", names.join(" and "));
    }
    Ok(bidilel_emoji::open(name)?)
}
