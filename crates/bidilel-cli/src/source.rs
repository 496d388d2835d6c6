//! From the DATASET argument to a dataset: a folder, `builtin:NAME` or `synthetic:PRESET`.

use std::path::Path;

use anyhow::Result;
#[cfg(feature = "emoji")]
use anyhow::bail;
use bidilel::dataset::Dataset;
use bidilel::synthetic::Synthetic;
use bidilel_data::{Inspection, check};
#[cfg(feature = "emoji")]
use bidilel_emoji::Collection;
use bidilel_math::Observer;

/// Opens what the user named; `seed` is that of a synthetic dataset.
pub(crate) fn open(dataset: &str, seed: u64, watch: &dyn Observer) -> Result<Dataset> {
    watch.stage("open");
    if let Some(preset) = dataset.strip_prefix("synthetic:") {
        return Ok(Synthetic::preset(preset)?.generate_watched(seed, watch)?);
    }
    if let Some(name) = dataset.strip_prefix("builtin:") {
        return builtin(name);
    }
    let opened = crate::texts::dataset::open(Path::new(dataset), watch)?;
    opened.notes.iter().for_each(|note| watch.note(note));
    Ok(opened.dataset)
}

/// Describes what the user named, and what is wrong with it.
pub(crate) fn inspect(dataset: &str, watch: &dyn Observer) -> Result<Inspection> {
    Ok(match dataset.split_once(':') {
        Some(("synthetic", preset)) => {
            check::inspect_dataset(&Synthetic::preset(preset)?.generate_watched(0, watch)?, watch)?
        }
        Some(("builtin", name)) => check::inspect_dataset(&builtin(name)?, watch)?,
        _ => crate::texts::dataset::inspect(Path::new(dataset), watch)?,
    })
}

/// A dataset that ships inside the program.
#[cfg(feature = "emoji")]
pub(crate) fn builtin(name: &str) -> Result<Dataset> {
    Ok(collection(name)?.dataset)
}

#[cfg(not(feature = "emoji"))]
pub(crate) fn builtin(name: &str) -> Result<Dataset> {
    Err(crate::failure::left_out(&format!("`builtin:{name}`"), "emoji"))
}

/// What ships inside the program under a name, with characters and pictures.
#[cfg(feature = "emoji")]
pub(crate) fn collection(name: &str) -> Result<Collection> {
    if !bidilel_emoji::NAMES.contains(&name) {
        let names = bidilel_emoji::NAMES.map(|name| format!("builtin:{name}"));
        bail!("there is no `builtin:{name}` inside the program, only {}", names.join(" and "));
    }
    Ok(bidilel_emoji::open(name)?)
}
