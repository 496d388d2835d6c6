//! A semantic vector for every class: the mean of the vectors of the words in its name.

use std::collections::{HashMap, HashSet};

use faer::Mat;

use super::{WordVectors, tokens};
use crate::error::{Error, Result};

/// What to do about a class of which no word has a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// An error that lists those classes.
    #[default]
    Refuse,
    /// It gets the mean of all other classes: nothing is known about it.
    Mean,
}

/// Which words have no vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// For every class, the words of its name that are not in the file.
    pub missing: Vec<Vec<String>>,
    /// The classes of which no word is in it.
    pub without: Vec<usize>,
}

/// Semantic vectors of classes by name, dim x classes.
///
/// A name is first looked up as one phrase (`killer_whale`), then word by word, each as it is written and then in
/// small letters. What has several words gets the mean of those that are found.
pub fn class_vectors(
    names: &[String],
    vectors: &WordVectors,
    missing: Missing,
) -> Result<(Mat<f64>, Report)> {
    let parsed: Vec<tokens::Name> = names.iter().map(|name| tokens::name(name)).collect();
    let phrases = parsed.iter().flat_map(|name| name.phrases.iter().cloned());
    let words = parsed.iter().flat_map(|name| &name.words).flat_map(|word| tokens::spellings(word));
    let found = vectors.find(&phrases.chain(words).collect::<HashSet<_>>())?;

    let mut matrix = Mat::zeros(vectors.dim(), names.len());
    let mut report = Report { missing: vec![Vec::new(); names.len()], without: Vec::new() };
    for (class, name) in parsed.iter().enumerate() {
        let means = look_up(name, &found, &mut report.missing[class]);
        if means.is_empty() {
            report.without.push(class);
            continue;
        }
        for (row, value) in matrix.col_as_slice_mut(class).iter_mut().enumerate() {
            *value = means.iter().map(|vector| f64::from(vector[row])).sum::<f64>() / means.len() as f64;
        }
    }
    if !report.without.is_empty() {
        let known = names.len() - report.without.len();
        if missing == Missing::Refuse || known == 0 {
            let classes = report.without.iter().map(|&class| names[class].clone()).collect();
            return Err(Error::NoWords { path: vectors.path().to_owned(), classes });
        }
        fill_with_mean(&mut matrix, &report.without);
    }
    Ok((matrix, report))
}

/// The vectors that a name is the mean of; words without one are noted.
fn look_up<'a>(
    name: &tokens::Name,
    found: &'a HashMap<String, Vec<f32>>,
    missing: &mut Vec<String>,
) -> Vec<&'a [f32]> {
    if let Some(phrase) = name.phrases.iter().find_map(|phrase| found.get(phrase)) {
        return vec![phrase];
    }
    let mut vectors = Vec::new();
    for word in &name.words {
        match tokens::spellings(word).iter().find_map(|spelling| found.get(spelling)) {
            Some(vector) => vectors.push(&vector[..]),
            None => missing.push(word.clone()),
        }
    }
    vectors
}

fn fill_with_mean(matrix: &mut Mat<f64>, without: &[usize]) {
    let known = (matrix.ncols() - without.len()) as f64;
    for row in 0..matrix.nrows() {
        // The columns to be filled are still zero.
        let mean = (0..matrix.ncols()).map(|class| matrix[(row, class)]).sum::<f64>() / known;
        for &class in without {
            matrix[(row, class)] = mean;
        }
    }
}
