//! Options for pictures in a build without the feature `vision`: none.

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct PictureArgs {}
