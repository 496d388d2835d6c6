//! Text networks of a `dataset.toml`, with results that are computed once.
//!
//! A result is kept under the hash of everything that it depends on: the bytes of network and tokenizer, the settings, the
//! texts. Other texts or another network have another key, so that nothing kept is ever out of date; a file that does
//! not have the bytes it was written with is computed again. The runtime is no part of the key: runtimes agree up to
//! rounding.

use std::path::{Path, PathBuf};

use bidilel::networks::NetworkRecord;
use bidilel_data::array::{self, NpyWriter};
use bidilel_data::{AnyError, TextEncoder, TextRequest, TextVectors, sha256, write_atomically};
use bidilel_vision::NetworkOptions;
use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::describe::{Described, describe};
use crate::encoder::{EncoderFiles, SentenceEncoder, TextSettings};
use crate::error::{Error, Result};
use crate::pooling::Pooling;
use crate::template::Template;

/// Raised when results of the same inputs change.
const CACHE_VERSION: u32 = 1;
/// Hexadecimal digits of the key that a file's name has.
const NAME_DIGITS: usize = 32;

/// Runs the text networks that datasets name.
pub struct Texts<'a> {
    /// How networks are run.
    pub options: NetworkOptions,
    /// Texts that go through a network at a time.
    pub batch: usize,
    /// Hears how many texts are done, of how many.
    pub progress: &'a dyn Fn(usize, usize),
}

/// What is kept beside the vectors.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Of the array.
    sha256: String,
    record: NetworkRecord,
    notes: Vec<String>,
}

impl TextEncoder for Texts<'_> {
    fn encode(&self, request: &TextRequest) -> std::result::Result<TextVectors, AnyError> {
        Ok(self.vectors(request)?)
    }
}

impl Texts<'_> {
    fn vectors(&self, request: &TextRequest) -> Result<TextVectors> {
        let files = EncoderFiles::open(&request.network, &request.tokenizer)?;
        let pooling = request.pooling.as_deref().map_or(Ok(None), Pooling::parse)?;
        let templates = request.templates.iter().map(|text| Template::parse(text)).collect::<Result<_>>()?;
        let settings =
            TextSettings { pooling, templates, max_tokens: request.max_tokens, ..TextSettings::default() };
        let place = Place::new(&request.cache, &key(request, &files, &settings)?);
        if let Some(kept) = place.read(request.classes.len()) {
            return Ok(kept);
        }
        let options = NetworkOptions { layer: request.layer.clone(), ..self.options.clone() };
        let mut encoder = SentenceEncoder::load(&files, settings, &options, self.batch)?;
        let Described { vectors, mut notes, .. } = describe(&mut encoder, &request.classes, self.progress)?;
        let record = encoder.record(&files)?;
        // A dataset on a disk that cannot be written to is a dataset all the same.
        if let Err(error) = place.write(&vectors, &record, &notes) {
            notes.push(format!("vectors of texts are not kept, and made anew every time: {error}"));
        }
        Ok(TextVectors { vectors, record, notes })
    }
}

/// A hash of all that the vectors depend on.
fn key(request: &TextRequest, files: &EncoderFiles, settings: &TextSettings) -> Result<String> {
    let (network, weights, tokenizer) = files.hashed()?;
    let hashes: Vec<&str> = std::iter::once(&network)
        .chain(&weights)
        .chain([&tokenizer])
        .map(|file| file.sha256.as_str())
        .collect();
    let config = files.config.as_deref().map(sha256);
    let classes: Vec<(&str, &[String])> =
        request.classes.iter().map(|class| (class.name.as_str(), &class.descriptions[..])).collect();
    let all = (CACHE_VERSION, hashes, config, &request.layer, settings, classes);
    Ok(sha256(&serde_json::to_vec(&all).map_err(Error::Record)?))
}

/// The two files of a result.
struct Place {
    array: PathBuf,
    json: PathBuf,
}

impl Place {
    fn new(folder: &Path, key: &str) -> Self {
        let stem = folder.join(&key[..NAME_DIGITS]);
        Self { array: stem.with_extension("npy"), json: stem.with_extension("json") }
    }

    /// What is kept, if it is whole.
    fn read(&self, classes: usize) -> Option<TextVectors> {
        let kept: Kept = serde_json::from_slice(&std::fs::read(&self.json).ok()?).ok()?;
        if sha256(&std::fs::read(&self.array).ok()?) != kept.sha256 {
            return None;
        }
        let vectors = array::open(&self.array, None).ok()?.to_matrix();
        (vectors.ncols() == classes).then_some(TextVectors {
            vectors,
            record: kept.record,
            notes: kept.notes,
        })
    }

    fn write(&self, vectors: &Mat<f64>, record: &NetworkRecord, notes: &[String]) -> Result<()> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Data(bidilel_data::Error::Write { path, source })
        };
        if let Some(folder) = self.array.parent() {
            std::fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        let npy = npy(vectors).map_err(failed(&self.array))?;
        write_atomically(&self.array, |out| out.write_all(&npy))?;
        let kept = Kept { sha256: sha256(&npy), record: record.clone(), notes: notes.to_vec() };
        let text = serde_json::to_vec_pretty(&kept).map_err(Error::Record)?;
        Ok(write_atomically(&self.json, |out| out.write_all(&text))?)
    }
}

/// An array file of vectors, a row per class.
fn npy(vectors: &Mat<f64>) -> std::io::Result<Vec<u8>> {
    let mut writer = NpyWriter::new(Vec::new(), &[vectors.ncols(), vectors.nrows()])?;
    for class in 0..vectors.ncols() {
        writer.write(vectors.col_as_slice(class))?;
    }
    writer.finish()
}
