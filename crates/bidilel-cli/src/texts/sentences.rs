//! New classes of a model in words, by the text networks that it records.

use std::path::Path;

use anyhow::{Result, bail};
use bidilel::Model;
use bidilel_data::{ClassText, ClassTexts, TextColumns, closest};
use bidilel_math::Observer;
use bidilel_text::{EncoderFiles, SentenceEncoder, TextSettings, describe};
use bidilel_vision::NetworkOptions;
use faer::Mat;

use super::args::SentenceArgs;
use super::dataset::BATCH;
use crate::failure::{hinted, usage};
use crate::networks::Places;

/// Classes with what is said of them.
pub(crate) struct Sentences<'a> {
    args: &'a SentenceArgs,
    classes: Vec<ClassText>,
}

impl<'a> Sentences<'a> {
    /// What the command line says in words of the classes of these names, or of all in its file if there are none;
    /// nothing if it says nothing.
    pub(crate) fn read(
        args: &'a SentenceArgs,
        names: &[String],
        watch: &dyn Observer,
    ) -> Result<Option<Self>> {
        if let Some(path) = &args.texts {
            let texts = ClassTexts::read(path, &TextColumns::default())?;
            texts.notes.iter().for_each(|note| watch.note(note));
            return Ok(Some(Self { args, classes: chosen(texts, names)? }));
        }
        if args.text.is_empty() {
            return Ok(None);
        }
        let [name] = names else {
            return Err(usage("--text describes one class: use --texts for several"));
        };
        if args.text.iter().any(|text| text.trim().is_empty()) {
            return Err(usage("--text is empty: say what the class looks like"));
        }
        let class = ClassText { name: name.clone(), descriptions: args.text.clone() };
        Ok(Some(Self { args, classes: vec![class] }))
    }

    /// Names of the classes, in the order of the vectors.
    pub(crate) fn names(&self) -> Vec<String> {
        self.classes.iter().map(|class| class.name.clone()).collect()
    }

    /// Vectors of the classes (dimensions x classes) in every semantic representation that a text network of the model
    /// made.
    ///
    /// # Errors
    /// If no text network made one, and where a network is another one than the model was fitted with.
    pub(crate) fn vectors(
        &self,
        model: &Model,
        model_path: &Path,
        watch: &dyn Observer,
    ) -> Result<Vec<(String, Mat<f64>)>> {
        let places = Places { model, model_path, given: &self.args.network };
        let records = &places.model.networks.semantic;
        if records.is_empty() {
            let message =
                "the model does not say which text network made its descriptions, so it cannot take words";
            let hint = "`describe` records its network beside the vectors, and a dataset.toml may name one: fit such a dataset; or \
                        give the attributes or the vector of the class";
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
            let options = NetworkOptions {
                runtime: self.args.runtime.runtime,
                library: self.args.runtime.onnxruntime.clone(),
                layer: Some(record.layer.clone()),
                threads: rayon::current_num_threads(),
            };
            let mut encoder = SentenceEncoder::load(&files, settings, &options, BATCH)?;
            let described = describe(&mut encoder, &self.classes, &|done, all| watch.progress(done, all))?;
            described.notes.iter().for_each(|note| watch.note(note));
            all.push((name.clone(), described.vectors));
        }
        Ok(all)
    }
}

/// The classes of a file that have these names, in their order; all of them if there are no names.
fn chosen(texts: ClassTexts, names: &[String]) -> Result<Vec<ClassText>> {
    if names.is_empty() {
        return Ok(texts.classes);
    }
    let mut chosen = Vec::new();
    for name in names {
        let Some(class) = texts.classes.iter().find(|class| class.name == *name) else {
            let known: Vec<String> = texts.classes.iter().map(|class| class.name.clone()).collect();
            let message = format!("`{}`: no row is called `{name}`", texts.path.display());
            match closest(name, &known) {
                Some(near) => return Err(hinted(message, format!("did you mean `{near}`?"))),
                None => bail!(message),
            }
        };
        chosen.push(class.clone());
    }
    Ok(chosen)
}
