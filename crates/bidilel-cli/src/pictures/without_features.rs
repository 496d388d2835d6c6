//! Instances in a build without the feature `vision`: feature rows, as they are.

use std::borrow::Cow;
use std::path::PathBuf;

use anyhow::Result;
use bidilel::Model;

use crate::args::InputArgs;
use crate::progress::Progress;

/// What is to be recognized.
pub(crate) struct Instances<'a> {
    /// Where feature rows are.
    pub(crate) input: Cow<'a, InputArgs>,
    /// The pictures of the rows; none for feature rows.
    pub(crate) files: Option<Vec<PathBuf>>,
    /// Pictures that could not be read, and why.
    pub(crate) skipped: Vec<(String, String)>,
}

pub(crate) fn instances<'a>(args: &'a InputArgs, _: &Model, _: bool, _: &Progress) -> Result<Instances<'a>> {
    if args.features.iter().any(|path| std::path::Path::new(path).is_dir()) {
        return Err(crate::failure::left_out("readers of pictures and videos", "vision"));
    }
    Ok(Instances { input: Cow::Borrowed(args), files: None, skipped: Vec::new() })
}
