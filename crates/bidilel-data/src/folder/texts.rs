//! Descriptions in words, turned into vectors by a text network when the dataset is opened.

use bidilel::dataset::{Metric, Semantic};

use super::{Folder, check_count, manifest, semantic};
use crate::class_texts::{ClassTexts, TextColumns};
use crate::error::{Counted, Error, Result};
use crate::names::ClassIndex;
use crate::reading::{Note, Reading};
use crate::text_encoder::TextRequest;

/// The folder of results, beside the `dataset.toml`.
const CACHE: &str = ".bidilel-cache";

pub(super) fn read(
    folder: &Folder<'_>,
    name: &str,
    table: &manifest::Semantic,
    file: &str,
    classes: &ClassIndex<'_>,
    reading: &mut Reading,
) -> Result<Semantic> {
    let path = folder.join(file);
    let wrong = |problem: &str| {
        let problem = format!("semantic representation `{name}` {problem}");
        Error::Malformed { path: folder.manifest_path.clone(), problem }
    };
    let (Some(network), Some(tokenizer)) = (&table.network, &table.tokenizer) else {
        return Err(wrong("is made of texts, which need the keys `network` and `tokenizer`"));
    };
    let metric = table.metric.unwrap_or(Metric::Cosine);
    if metric == Metric::Precomputed {
        return Err(wrong("is made of texts, which are no precomputed distances"));
    }
    let columns =
        TextColumns { name: table.name_column.clone(), description: table.description_column.clone() };
    let texts = ClassTexts::read(&path, &columns)?.joined(classes)?;
    let note = |path: &std::path::Path, message| Note { path: path.to_owned(), message, hint: None };
    reading.notes.extend(texts.notes.iter().map(|text| note(&path, text.clone())));
    let Some(encoder) = folder.encoder else {
        return Err(Error::NoTextEncoder { path: folder.manifest_path.clone(), name: name.to_owned() });
    };
    let request = TextRequest {
        network: folder.join(network),
        tokenizer: folder.join(tokenizer),
        layer: table.layer.clone(),
        pooling: table.pooling.clone(),
        templates: table.templates.clone().unwrap_or_default(),
        max_tokens: table.max_tokens.map(std::num::NonZeroUsize::get),
        classes: texts.classes,
        cache: folder.path.join(CACHE),
    };
    let made = encoder.encode(&request).map_err(|source| Error::TextEncoder {
        path: folder.manifest_path.clone(),
        name: name.to_owned(),
        source,
    })?;
    reading.notes.extend(made.notes.into_iter().map(|text| note(&path, text)));
    check_count(&path, Counted::ClassRows, classes.count(), made.vectors.ncols())?;
    let vectors = semantic::checked(&path, made.vectors, metric, &mut reading.notes)?;
    reading.dataset.networks.semantic.insert(name.to_owned(), made.record);
    let origin = format!("`{}`", path.display());
    Ok(Semantic { name: name.to_owned(), origin, metric, vectors, dimension_names: None })
}
