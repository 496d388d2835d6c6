//! Arguments of `bidilel describe` in a build without the feature `text`: any, all refused alike.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}
