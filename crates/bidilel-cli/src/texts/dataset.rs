//! Datasets whose `dataset.toml` names a text network.

use std::path::Path;

use bidilel_data::{Inspection, Opened, inspect_with, open_with};
use bidilel_math::Observer;
use bidilel_text::Texts;
use bidilel_vision::NetworkOptions;

/// Texts that go through a network at a time.
pub(crate) const BATCH: usize = 32;

/// Opens a dataset folder.
pub(crate) fn open(path: &Path, watch: &dyn Observer) -> bidilel_data::Result<Opened> {
    open_with(
        path,
        &Texts { options: options(), batch: BATCH, progress: &|done, all| watch.progress(done, all) },
    )
}

/// Describes a dataset folder and what is wrong with it.
pub(crate) fn inspect(path: &Path, watch: &dyn Observer) -> bidilel_data::Result<Inspection> {
    let progress = |done: usize, all: usize| watch.progress(done, all);
    inspect_with(path, &Texts { options: options(), batch: BATCH, progress: &progress }, watch)
}

/// How text networks are run where no option says so.
pub(crate) fn options() -> NetworkOptions {
    NetworkOptions { threads: rayon::current_num_threads(), ..NetworkOptions::default() }
}
