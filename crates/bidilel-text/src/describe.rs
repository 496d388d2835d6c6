//! Classes in words to descriptions in numbers.

use bidilel_data::ClassText;
use faer::Mat;

use crate::encoder::SentenceEncoder;
use crate::error::{Error, Result};
use crate::template::sentences;

/// Cut texts that are named.
const MAX_NAMED: usize = 3;

/// Descriptions of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Dimensions x classes, in the order in which they were given.
    pub vectors: Mat<f64>,
    /// Sentences that were encoded.
    pub sentences: usize,
    /// Things that the user should know.
    pub notes: Vec<String>,
}

/// A vector for every class: that of its sentence, or the mean of the unit vectors of its sentences.
///
/// Where one class has several sentences, all vectors have unit norm before they are averaged, so that classes with one
/// sentence are on the same scale; `encoder.settings` then says so.
pub fn describe(
    encoder: &mut SentenceEncoder,
    classes: &[ClassText],
    progress: &dyn Fn(usize, usize),
) -> Result<Described> {
    let templates = encoder.settings.templates.clone();
    let of_class: Vec<Vec<String>> =
        classes.iter().map(|class| sentences(class, &templates)).collect::<Result<_>>()?;
    let all: Vec<&str> = of_class.iter().flatten().map(String::as_str).collect();
    let found = encoder.encode(&all, progress)?;
    let unit = encoder.settings.unit || of_class.iter().any(|sentences| sentences.len() > 1);
    encoder.settings.unit = unit;
    let dim = found.rows.first().map_or(0, Vec::len);
    let mut vectors = Mat::<f64>::zeros(dim, classes.len());
    let mut rows = found.rows.iter().zip(&all);
    for (class, sentences) in of_class.iter().enumerate() {
        let mean = vectors.col_as_slice_mut(class);
        for (row, text) in rows.by_ref().take(sentences.len()) {
            let scale = if unit { norm(row.iter().map(|&value| f64::from(value))) } else { 1.0 };
            if scale == 0.0 {
                return Err(Error::Zero { text: (*text).to_owned() });
            }
            let weight = 1.0 / (scale * sentences.len() as f64);
            mean.iter_mut().zip(row).for_each(|(sum, &value)| *sum += weight * f64::from(value));
        }
        let length = norm(mean.iter().copied());
        if length == 0.0 {
            return Err(Error::Zero { text: sentences.join(" ") });
        }
        if encoder.settings.normalize {
            mean.iter_mut().for_each(|value| *value /= length);
        }
    }
    let mut notes = Vec::new();
    if !found.cut.is_empty() {
        let most = encoder.settings.max_tokens.unwrap_or_default();
        let named: Vec<String> =
            found.cut.iter().take(MAX_NAMED).map(|&(text, tokens)| shown(all[text], tokens)).collect();
        let more = found.cut.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!(
            "{} of {} texts have more than {most} tokens and are cut there: {}{more}",
            found.cut.len(),
            all.len(),
            named.join(", ")
        ));
    }
    Ok(Described { vectors, sentences: all.len(), notes })
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// The beginning of a text, with its number of tokens.
fn shown(text: &str, tokens: usize) -> String {
    let start: String = text.chars().take(40).collect();
    format!("\"{start}…\" ({tokens})")
}
