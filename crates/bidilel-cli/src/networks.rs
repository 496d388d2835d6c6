//! The files of the networks that a model records: found where they were, beside the model, inside of it, or where the user
//! says; and refused where they are others.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bidilel::Model;
use bidilel::networks::{FileRecord, NetworkRecord};
use bidilel_data::sha256;

use crate::failure::hinted;

/// Digits of a hash that messages show.
const SHOWN_DIGITS: usize = 12;

/// Where the files of a model's networks are looked for.
pub(crate) struct Places<'a> {
    pub(crate) model: &'a Model,
    pub(crate) model_path: &'a Path,
    /// Files that the user names.
    pub(crate) given: &'a [PathBuf],
}

/// A file that was found.
pub(crate) struct Found {
    #[cfg_attr(
        not(feature = "vision"),
        expect(dead_code, reason = "networks are read for pictures and texts only")
    )]
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Places<'_> {
    /// The file of a record, with the bytes that it had when the model was fitted; `what` is for messages.
    pub(crate) fn find(&self, record: &FileRecord, what: &str) -> Result<Found> {
        if let Some(bytes) = self.model.embedded.get(&record.sha256) {
            if sha256(bytes) != record.sha256 {
                bail!("the {what} inside the model is damaged: its SHA-256 is not the recorded one");
            }
            return Ok(Found { path: PathBuf::from(&record.path), bytes: bytes.clone() });
        }
        // What the user names is the file or is none: another one is refused, and not looked past.
        let mut others = Vec::new();
        for path in self.given {
            let bytes = bidilel_data::map(path)?.to_vec();
            if sha256(&bytes) == record.sha256 {
                return Ok(Found { path: path.clone(), bytes });
            }
            others.push(path.clone());
        }
        let recorded = PathBuf::from(&record.path);
        let beside = recorded.file_name().map(|name| self.model_path.with_file_name(name));
        for path in std::iter::once(recorded.clone()).chain(beside).filter(|path| path.is_file()) {
            let bytes = bidilel_data::map(&path)?.to_vec();
            if sha256(&bytes) == record.sha256 {
                return Ok(Found { path, bytes });
            }
            others.push(path);
        }
        let expected = short(&record.sha256);
        let Some(other) = others.first() else {
            let message = format!(
                "the {what} `{}` of the model is not there, and neither is one of its name beside the model",
                recorded.display()
            );
            return Err(hinted(
                message,
                format!("--network FILE says where it is now (its SHA-256 begins with {expected})"),
            ));
        };
        let found = sha256(&bidilel_data::map(other)?);
        let message = format!(
            "`{}`: is another {what} than the model was fitted with: expected SHA-256 {expected}…, found {}…",
            other.display(),
            short(&found)
        );
        let hint = "features of another network mean nothing to the model: name the file that made them with --network, or fit anew";
        Err(hinted(message, hint))
    }
}

#[cfg(feature = "vision")]
impl Places<'_> {
    /// The network of a record with its weights.
    pub(crate) fn network(&self, record: &NetworkRecord) -> Result<bidilel_vision::NetworkFile> {
        let Found { path, bytes } = self.find(&record.network, "network")?;
        let file = bidilel_vision::NetworkFile::from_bytes(&path, bytes)?;
        let (_, weights) = file.hashed()?;
        if !weights.iter().map(|file| &file.sha256).eq(record.weights.iter().map(|file| &file.sha256)) {
            let message = format!(
                "`{}`: the weights beside it are others than the model was fitted with",
                file.path().display()
            );
            return Err(hinted(message, "name the network with its own weights beside it: --network FILE"));
        }
        Ok(file)
    }
}

fn short(sha256: &str) -> &str {
    sha256.get(..SHOWN_DIGITS).unwrap_or(sha256)
}

/// Puts the files of all networks into the model.
pub(crate) fn embed(model: &mut Model, model_path: &Path) -> Result<()> {
    if model.networks.is_empty() {
        let hint = "`extract` and `describe` record their network beside the file that they write; a dataset.toml may also name \
                    a text network";
        return Err(hinted(
            "--embed-network: the dataset does not say which network made its features or descriptions",
            hint,
        ));
    }
    let records: Vec<NetworkRecord> = model.networks.records().cloned().collect();
    for record in &records {
        if !record.weights.is_empty() {
            let message =
                format!("--embed-network: the weights of `{}` lie in other files", record.network.path);
            return Err(hinted(message, "save the network as one file, with its weights in it"));
        }
        for (file, what) in std::iter::once((&record.network, "network"))
            .chain(record.tokenizer.iter().map(|file| (file, "tokenizer")))
        {
            let Found { bytes, .. } = Places { model, model_path, given: &[] }.find(file, what)?;
            model.embedded.insert(file.sha256.clone(), bytes);
        }
    }
    Ok(())
}
