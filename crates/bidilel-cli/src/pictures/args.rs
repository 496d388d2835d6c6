//! Options for pictures instead of feature rows.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::extraction::args::RuntimeArgs;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pictures and videos")]
pub(crate) struct PictureArgs {
    /// Where the network of the model is now, if it was moved; another one is refused (may be repeated)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) network: Vec<PathBuf>,
    /// The program that takes videos apart
    #[arg(long, value_name = "FILE", default_value = "ffmpeg", value_hint = ValueHint::FilePath)]
    pub(crate) ffmpeg: PathBuf,
    #[command(flatten)]
    pub(crate) runtime: RuntimeArgs,
}
