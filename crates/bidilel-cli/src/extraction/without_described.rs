//! Descriptions in a build without the feature `text`: none.

use anyhow::Result;
use bidilel::dataset::Semantic;
use bidilel::networks::NetworkRecord;
use bidilel_vision::Found;

use super::args::ExtractArgs;
use crate::progress::Progress;

/// Descriptions of all classes; there is never one.
pub(crate) struct Described {
    pub(crate) names: Vec<String>,
    pub(crate) semantic: Semantic,
    pub(crate) record: NetworkRecord,
}

impl Described {
    /// None.
    #[expect(clippy::unnecessary_wraps, reason = "with the feature it may fail")]
    pub(crate) fn of(_: &ExtractArgs, _: &Found, _: &Progress) -> Result<Option<Self>> {
        Ok(None)
    }
}
