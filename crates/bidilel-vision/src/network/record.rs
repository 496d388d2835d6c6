//! What is written down of a network, so that the same one can be asked for again.

use std::path::Path;

use bidilel::networks::{FileRecord, NetworkRecord};

use super::NetworkFile;
use crate::error::{Error, Result};
use crate::extract::ExtractOptions;

impl NetworkFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes, without those of files beside it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file and those with its weights, by their hashes.
    pub fn hashed(&self) -> Result<(FileRecord, Vec<FileRecord>)> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let weights = self.external()?;
        let weights = weights.iter().map(|(name, bytes)| hashed(&folder.join(name), bytes)).collect();
        Ok((hashed(&self.path, &self.bytes), weights))
    }

    /// A record of this network with a layer and what is done around it.
    pub(crate) fn record(&self, layer: &str, options: &ExtractOptions) -> Result<NetworkRecord> {
        let (network, weights) = self.hashed()?;
        let settings = serde_json::to_value(options).map_err(Error::Record)?;
        Ok(NetworkRecord { network, weights, tokenizer: None, layer: layer.to_owned(), settings })
    }
}

impl ExtractOptions {
    /// The options that a record has; where rows go and how a run is continued are for the caller to say.
    pub fn from_record(record: &NetworkRecord) -> Result<Self> {
        serde_json::from_value(record.settings.clone())
            .map_err(|source| Error::Recorded { network: record.network.path.clone(), source })
    }
}

/// A file by its hash and its absolute path.
fn hashed(path: &Path, bytes: &[u8]) -> FileRecord {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    FileRecord { path: absolute.to_string_lossy().into_owned(), sha256: bidilel_data::sha256(bytes) }
}
