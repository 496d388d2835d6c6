//! Arguments in a build without the feature `text`: any of `bidilel describe`, all refused alike, and none of `bidilel class add`.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct SentenceArgs {}
