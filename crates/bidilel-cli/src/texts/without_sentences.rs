//! New classes in words, in a build without the feature `text`: there are none.

use std::path::Path;

use anyhow::Result;
use bidilel::Model;
use bidilel_math::Observer;
use faer::Mat;

use super::args::SentenceArgs;

/// There is none.
pub(crate) enum Sentences {}

impl Sentences {
    /// Nothing.
    #[expect(clippy::unnecessary_wraps, reason = "with the feature it can fail")]
    pub(crate) fn read(_: &SentenceArgs, _: &[String], _: &dyn Observer) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        match *self {}
    }

    pub(crate) fn vectors(&self, _: &Model, _: &Path, _: &dyn Observer) -> Result<Vec<(String, Mat<f64>)>> {
        match *self {}
    }
}
