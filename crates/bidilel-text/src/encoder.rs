//! Sentences to vectors: a tokenizer and a network.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bidilel::networks::{FileRecord, NetworkRecord};
use bidilel_vision::{NetworkFile, NetworkOptions, TokenBatch, TokenInput, TokenNetwork};

use crate::error::{Error, Result};
use crate::pooling::Pooling;
use crate::template::Template;
use crate::tokens::{Encoded, Tokens};

/// A text that is encoded to see what comes out.
const PROBE: &str = "a";

/// The files of a text encoder.
#[derive(Debug)]
pub struct EncoderFiles {
    /// The network.
    pub network: NetworkFile,
    /// The `tokenizer.json`: where it is.
    pub tokenizer_path: PathBuf,
    /// Its bytes.
    pub tokenizer: Vec<u8>,
    /// The bytes of the `tokenizer_config.json` beside it, where there is one.
    pub config: Option<Vec<u8>>,
}

/// What is done before and after the network; what is not said is found out.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct TextSettings {
    /// How tokens become one vector.
    pub pooling: Option<Pooling>,
    /// Sentences with a place for the text; none stands for the text itself.
    pub templates: Vec<Template>,
    /// Tokens after which a text is cut.
    pub max_tokens: Option<usize>,
    /// Whether sentence vectors get unit norm before they are averaged; always where a class has several.
    #[serde(default)]
    pub unit: bool,
    /// Whether the vectors of classes get unit norm.
    #[serde(default)]
    pub normalize: bool,
}

/// A text encoder that is loaded.
pub struct SentenceEncoder {
    tokens: Tokens,
    network: TokenNetwork,
    input: TokenInput,
    pooling: Pooling,
    /// The settings in force.
    pub settings: TextSettings,
    batch: usize,
}

/// Vectors of texts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentences {
    /// One per text.
    pub(crate) rows: Vec<Vec<f32>>,
    /// Texts that were cut, with the tokens that they have.
    pub(crate) cut: Vec<(usize, usize)>,
}

impl EncoderFiles {
    /// Reads both files.
    pub fn open(network: &Path, tokenizer: &Path) -> Result<Self> {
        let config = tokenizer.with_file_name("tokenizer_config.json");
        Ok(Self {
            network: NetworkFile::open(network)?,
            tokenizer: bidilel_data::map(tokenizer)?.to_vec(),
            tokenizer_path: tokenizer.to_owned(),
            config: if config.is_file() { Some(bidilel_data::map(&config)?.to_vec()) } else { None },
        })
    }

    /// The files by their hashes: the network, those with its weights, the tokenizer.
    pub(crate) fn hashed(&self) -> Result<(FileRecord, Vec<FileRecord>, FileRecord)> {
        let (network, weights) = self.network.hashed()?;
        let path = std::path::absolute(&self.tokenizer_path).unwrap_or_else(|_| self.tokenizer_path.clone());
        let tokenizer = FileRecord {
            path: path.to_string_lossy().into_owned(),
            sha256: bidilel_data::sha256(&self.tokenizer),
        };
        Ok((network, weights, tokenizer))
    }
}

impl SentenceEncoder {
    /// Loads tokenizer and network; `batch` texts go through at a time.
    pub fn load(
        files: &EncoderFiles,
        settings: TextSettings,
        options: &NetworkOptions,
        batch: usize,
    ) -> Result<Self> {
        let input = files.network.token_input()?;
        let (path, config) = (&files.tokenizer_path, files.config.as_deref());
        let tokens = Tokens::read(path, &files.tokenizer, config, input.length, settings.max_tokens)?;
        let outputs = files.network.outputs();
        let (layer, pooling) = Pooling::choose(&outputs, options.layer.as_deref(), settings.pooling);
        let options = NetworkOptions { layer: layer.map(str::to_owned), ..options.clone() };
        let network = files.network.load_tokens(&options)?;
        let declared = outputs.iter().find(|output| output.name == network.layer());
        let declared = match declared.and_then(|output| output.dimensions) {
            Some(2) => Some(Pooling::Pooled),
            Some(3) => Some(Pooling::Mean),
            _ => None,
        };
        let max_tokens = Some(tokens.max_tokens());
        let settings = TextSettings { max_tokens, ..settings };
        let mut encoder =
            Self { tokens, network, input, pooling: Pooling::Mean, settings, batch: batch.max(1) };
        encoder.pooling = match pooling.or(declared) {
            Some(pooling) => pooling,
            None => encoder.probe()?,
        };
        encoder.settings.pooling = Some(encoder.pooling);
        Ok(encoder)
    }

    /// The runtime that runs the network, and its version.
    pub fn runtime(&self) -> (&str, &str) {
        (self.network.runtime(), self.network.runtime_version())
    }

    /// The tensor that is taken.
    pub fn layer(&self) -> &str {
        self.network.layer()
    }

    /// What is written down of it, so that it can be asked for again.
    pub fn record(&self, files: &EncoderFiles) -> Result<NetworkRecord> {
        let (network, weights, tokenizer) = files.hashed()?;
        let settings = serde_json::to_value(&self.settings).map_err(Error::Record)?;
        let layer = self.network.layer().to_owned();
        Ok(NetworkRecord { network, weights, tokenizer: Some(tokenizer), layer, settings })
    }

    /// The pooling that fits what comes out.
    fn probe(&mut self) -> Result<Pooling> {
        let encoded = self.tokens.encode(PROBE)?;
        let batch = self.assemble(&[&encoded]);
        Ok(Pooling::of_shape(&self.network.run(&batch)?.shape))
    }

    /// Vectors of texts; `progress` hears how many are done, of how many.
    ///
    /// Texts of about the same length go through together. Without an attention mask only texts of exactly the same length
    /// do, since padding would change the result.
    pub(crate) fn encode(&mut self, texts: &[&str], progress: &dyn Fn(usize, usize)) -> Result<Sentences> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut distinct = Vec::new();
        let of: Vec<usize> = texts
            .iter()
            .map(|&text| {
                *places.entry(text).or_insert_with(|| {
                    distinct.push(text);
                    distinct.len() - 1
                })
            })
            .collect();
        let encoded = distinct.iter().map(|text| self.tokens.encode(text)).collect::<Result<Vec<_>>>()?;
        let mut order: Vec<usize> = (0..distinct.len()).collect();
        order.sort_by_key(|&text| (encoded[text].ids.len(), text));
        let padded = self.input.has_mask() || self.input.length.is_some();
        let same = |a: &usize, b: &usize| padded || encoded[*a].ids.len() == encoded[*b].ids.len();
        let mut rows: Vec<Vec<f32>> = vec![Vec::new(); distinct.len()];
        let mut done = 0;
        let size = self.input.batch.unwrap_or(self.batch);
        for group in order.chunk_by(same).flat_map(|group| group.chunks(size)) {
            let members: Vec<&Encoded> = group.iter().map(|&text| &encoded[text]).collect();
            let batch = self.assemble(&members);
            let output = self.network.run(&batch)?;
            let vectors = self.pooling.rows(&output, &batch, self.network.layer())?;
            for (&text, vector) in group.iter().zip(vectors) {
                if !vector.iter().all(|value| value.is_finite()) {
                    return Err(Error::NotFinite { text: distinct[text].to_owned() });
                }
                rows[text] = vector;
            }
            done += group.len();
            progress(done, distinct.len());
        }
        let cut = of.iter().enumerate().filter_map(|(place, &text)| {
            let tokens = encoded[text].uncut;
            (tokens > self.tokens.max_tokens()).then_some((place, tokens))
        });
        Ok(Sentences { cut: cut.collect(), rows: of.iter().map(|&text| rows[text].clone()).collect() })
    }

    /// Tokens of several texts as one tensor, padded at the end.
    fn assemble(&self, texts: &[&Encoded]) -> TokenBatch {
        let longest = texts.iter().map(|text| text.ids.len()).max().unwrap_or(1);
        let length = self.input.length.unwrap_or(longest);
        // A network for exactly that many gets the last one again.
        let count = self.input.batch.unwrap_or(texts.len());
        let mut batch = TokenBatch { texts: count, length, ..TokenBatch::default() };
        for place in 0..count {
            let text = texts[place.min(texts.len() - 1)];
            let padding = length.saturating_sub(text.ids.len());
            let pad = |into: &mut Vec<i64>, values: &[i64], with: i64| {
                into.extend(values);
                into.extend(std::iter::repeat_n(with, padding));
            };
            pad(&mut batch.ids, &text.ids, self.tokens.pad());
            pad(&mut batch.types, &text.types, 0);
            pad(&mut batch.mask, &vec![1; text.ids.len()], 0);
        }
        batch
    }
}
