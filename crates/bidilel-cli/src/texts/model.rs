//! Texts by the text networks that a model records.

use anyhow::Result;
use bidilel_data::ClassText;
use bidilel_math::Observer;
use bidilel_text::{EncoderFiles, SentenceEncoder, TextSettings, describe};
use bidilel_vision::NetworkOptions;
use faer::Mat;

use super::dataset::{BATCH, options};
use crate::failure::hinted;
use crate::networks::Places;

/// Vectors of classes (dimensions x classes) for every semantic representation that a text network made.
///
/// # Errors
/// If there is none, and where a network is another one than the model was fitted with.
pub(crate) fn vectors(
    places: &Places<'_>,
    classes: &[ClassText],
    watch: &dyn Observer,
) -> Result<Vec<(String, Mat<f64>)>> {
    let records = &places.model.networks.semantic;
    if records.is_empty() {
        let message =
            "the model does not say which text network made its descriptions, so it cannot take words";
        let hint = "`describe` records its network beside the vectors, and a dataset.toml may name one: fit such a dataset; or give \
                    the vector or the attributes of the class";
        return Err(hinted(message, hint));
    }
    let mut all = Vec::new();
    for (name, record) in records {
        let network = places.network(record)?;
        let tokenizer = record
            .tokenizer
            .as_ref()
            .ok_or_else(|| bidilel_text::Error::NoTokenizer { network: record.network.path.clone() })?;
        let tokenizer = places.find(tokenizer, "tokenizer")?;
        let settings: TextSettings =
            serde_json::from_value(record.settings.clone()).map_err(bidilel_text::Error::Record)?;
        let files = EncoderFiles {
            network,
            tokenizer_path: tokenizer.path,
            tokenizer: tokenizer.bytes,
            config: None,
        };
        let options = NetworkOptions { layer: Some(record.layer.clone()), ..options() };
        let mut encoder = SentenceEncoder::load(&files, settings, &options, BATCH)?;
        let described = describe(&mut encoder, classes, &|done, all| watch.progress(done, all))?;
        described.notes.iter().for_each(|note| watch.note(note));
        all.push((name.clone(), described.vectors));
    }
    Ok(all)
}
