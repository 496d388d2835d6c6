//! Arguments of `bidilel extract` in a build without the feature `vision`: any, all refused alike.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}
