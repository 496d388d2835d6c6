//! Datasets in a build without the feature `text`: one that names a text network is refused by its reader.

use std::path::Path;

use bidilel_data::{Inspection, Opened};
use bidilel_math::Observer;

/// Opens a dataset folder.
pub(crate) fn open(path: &Path, _: &dyn Observer) -> bidilel_data::Result<Opened> {
    bidilel_data::open(path)
}

/// Describes a dataset folder and what is wrong with it.
pub(crate) fn inspect(path: &Path, watch: &dyn Observer) -> bidilel_data::Result<Inspection> {
    bidilel_data::inspect(path, watch)
}
