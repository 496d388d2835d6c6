//! What can be typed after `bidilel extract` in a build without the feature `vision`: anything, to the same answer.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}
