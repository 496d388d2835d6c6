//! `extract --describe`: the classes of the dataset, with vectors of their descriptions in words.

use anyhow::Result;
use bidilel::dataset::{Metric, Semantic};
use bidilel::networks::NetworkRecord;
use bidilel_data::{ClassTexts, TextColumns, closest};
use bidilel_math::Observer;
use bidilel_text::{EncoderFiles, SentenceEncoder, TextSettings, describe};
use bidilel_vision::Found;

use super::args::ExtractArgs;
use super::settings;
use crate::failure::hinted;
use crate::progress::Progress;
use crate::texts::dataset::BATCH;
use crate::texts::templates;

/// The name of the representation.
const NAME: &str = "words";

/// Descriptions of all classes, made before the pictures are looked at: that takes seconds, pictures take hours.
pub(crate) struct Described {
    pub(crate) names: Vec<String>,
    pub(crate) semantic: Semantic,
    pub(crate) record: NetworkRecord,
}

impl Described {
    /// None where no descriptions are given.
    pub(crate) fn of(args: &ExtractArgs, found: &Found, progress: &Progress) -> Result<Option<Self>> {
        let said = &args.describe;
        let (Some(path), Some(network), Some(tokenizer)) =
            (&said.describe, &said.text_network, &said.tokenizer)
        else {
            return Ok(None);
        };
        let texts = ClassTexts::read(path, &TextColumns::default())?;
        texts.notes.iter().for_each(|note| progress.note(note));
        let names: Vec<String> = texts.classes.iter().map(|class| class.name.clone()).collect();
        let known: std::collections::BTreeSet<&str> =
            found.items.iter().map(|item| item.label.as_str()).collect();
        if let Some(label) = known.iter().find(|label| !names.iter().any(|name| name == *label)) {
            let message =
                format!("`{}`: does not describe `{label}`, of which there are pictures", path.display());
            let near = closest(label, &names).map(|name| format!("did you mean `{name}`? "));
            let hint = format!(
                "{}every subfolder of pictures needs a row, by the same name",
                near.unwrap_or_default()
            );
            return Err(hinted(message, hint));
        }
        if names.len() == known.len() {
            progress.note("all classes have pictures: the dataset has no unseen class, and no split");
        }
        let files = EncoderFiles::open(network, tokenizer)?;
        let text_settings = TextSettings { templates: templates(&said.template)?, ..TextSettings::default() };
        let options = bidilel_vision::NetworkOptions { layer: None, ..settings::network(args) };
        let mut encoder = SentenceEncoder::load(&files, text_settings, &options, BATCH)?;
        progress.stage("describe");
        let described = describe(&mut encoder, &texts.classes, &|done, all| progress.progress(done, all))?;
        described.notes.iter().for_each(|note| progress.note(note));
        let origin = format!("`{}`", path.display());
        let semantic = Semantic {
            name: NAME.to_owned(),
            origin,
            metric: Metric::Cosine,
            vectors: described.vectors,
            dimension_names: None,
        };
        Ok(Some(Self { names, semantic, record: encoder.record(&files)? }))
    }
}
