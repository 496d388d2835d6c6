//! Semantic representations: a checked vector for every class.

use std::num::NonZeroUsize;
use std::path::Path;

use bidilel::dataset::{Metric, Semantic};
use faer::Mat;

use super::{Folder, check_count, check_matrix, check_rows, manifest, recorded, texts};
use crate::array::Array;
use crate::container::Container;
use crate::error::{Counted, Error, Result};
use crate::names::ClassIndex;
use crate::network_record::network_record_path;
use crate::reading::{Note, Reading};
use crate::table::{self, Choice, Key, rows_by_name};
use crate::words::{WordVectors, class_vectors};

pub(super) fn read(
    folder: &Folder<'_>,
    name: &str,
    table: &manifest::Semantic,
    classes: &ClassIndex<'_>,
    reading: &mut Reading,
) -> Result<Semantic> {
    let wrong = |problem: &str| {
        let problem = format!("semantic representation `{name}` {problem}");
        Error::Malformed { path: folder.manifest_path.clone(), problem }
    };
    if let Some(text) = &table.text {
        let foreign = table.file.is_some()
            || table.word_vectors.is_some()
            || table.key.is_some()
            || table.transpose
            || table.names.is_some()
            || table.prompts.is_some()
            || table.missing.is_some()
            || table.columns.is_some()
            || table.id_column.is_some();
        if foreign {
            return Err(wrong(
                "is made of texts (`text`), which have no other keys than `network`, `tokenizer`, `layer`, `pooling`, \
                 `templates`, `max_tokens`, `name_column`, `description_column` and `metric`",
            ));
        }
        return texts::read(folder, name, table, text, classes, reading);
    }
    if let Some(key) = table.text_key() {
        return Err(wrong(&format!("has a key `{key}`, which only descriptions in words (`text`) have")));
    }
    match (&table.file, &table.word_vectors, table.metric) {
        (Some(_), _, Some(Metric::Precomputed)) if table.prompts.is_some() => {
            Err(wrong("has a key `prompts`, which averages vectors and no distances"))
        }
        (Some(file), None, Some(metric)) if table.missing.is_none() => {
            read_file(folder, name, table, file, metric, classes, reading)
        }
        (Some(_), None, Some(_)) => Err(wrong("has a key `missing`, which only word vectors have")),
        (Some(_), None, None) => Err(wrong("needs a key `metric`: `euclidean`, `cosine` or `precomputed`")),
        (None, Some(file), _)
            if table.key.is_none()
                && !table.transpose
                && table.names.is_none()
                && table.prompts.is_none()
                && table.choice() == Choice::default() =>
        {
            read_words(folder, name, table, file, classes.names(), &mut reading.notes)
        }
        (None, Some(_), _) => {
            Err(wrong("is made of word vectors, which have no other keys than `metric` and `missing`"))
        }
        (None, None, _) => Err(wrong("needs a key `file`, `word_vectors` or `text`")),
        (Some(_), Some(_), _) => Err(wrong("has both keys `file` and `word_vectors`: one is enough")),
    }
}

/// Vectors of class names, made of word vectors.
fn read_words(
    folder: &Folder<'_>,
    name: &str,
    table: &manifest::Semantic,
    file: &str,
    classes: &[String],
    notes: &mut Vec<Note>,
) -> Result<Semantic> {
    let words = WordVectors::open(&folder.join(file))?;
    let (vectors, report) = class_vectors(classes, &words, table.missing.unwrap_or_default())?;
    let missing =
        |class: usize| format!("`{}` of class `{}`", report.missing[class].join("`, `"), classes[class]);
    let gaps: Vec<_> =
        (0..classes.len()).filter(|&class| !report.missing[class].is_empty()).map(missing).collect();
    let mut note = |message: String| notes.push(Note { path: words.path().to_owned(), message, hint: None });
    if !gaps.is_empty() {
        note(format!("has no vectors for {}", gaps.join(", ")));
    }
    if !report.without.is_empty() {
        let names: Vec<_> = report.without.iter().map(|&class| format!("`{}`", classes[class])).collect();
        note(format!("has no word of class {}: the mean of the others is used", names.join(", ")));
    }
    let metric = table.metric.unwrap_or(Metric::Cosine);
    if metric == Metric::Precomputed {
        let problem = "word vectors are no precomputed distances".to_owned();
        return Err(Error::Malformed { path: words.path().to_owned(), problem });
    }
    let origin = format!("`{}`", words.path().display());
    Ok(Semantic { name: name.to_owned(), origin, metric, vectors, dimension_names: None })
}

/// Vectors as a file has them: a matrix in class order, or a table that is joined by name.
fn read_file(
    folder: &Folder<'_>,
    name: &str,
    table: &manifest::Semantic,
    file: &str,
    metric: Metric,
    classes: &ClassIndex<'_>,
    reading: &mut Reading,
) -> Result<Semantic> {
    let path = folder.join(file);
    let container = Container::open(&path)?;
    let (choice, key) = (table.choice(), table.key.as_deref());
    let (record, row_names) = recorded(&path, reading).unzip();
    let row_names = row_names.flatten();
    let (path, vectors, names) = if let Some(tabular) = container.table() {
        let read = if table.transpose { table::classes_in_columns } else { table::classes };
        if table.prompts.is_some() {
            let problem = "is a table, whose rows are joined by name: `prompts` is for arrays".to_owned();
            return Err(Error::Malformed { path, problem });
        }
        let found = read(&path, tabular, key, &choice, classes, metric, &[])?;
        reading.add_table(&path, &format!("semantic.{name}"), found.notes, Some(found.roles));
        (path, found.vectors, found.dimension_names)
    } else {
        table::check_no_choice(&path, &container, &choice)?;
        let array = container.array(key)?;
        check_matrix(&array, "a matrix of classes x dimensions")?;
        let array = if table.transpose { array.transposed() } else { array };
        let vectors = match table.prompts.map(NonZeroUsize::get) {
            None if row_names.is_some() => by_name(&array, &row_names.unwrap_or_default(), classes)?,
            None => {
                check_rows(&array, Counted::ClassRows, classes.count())?;
                array.to_matrix()
            }
            Some(prompts) => {
                check_rows(&array, Counted::PromptRows, classes.count().saturating_mul(prompts))?;
                let vectors = array.to_matrix();
                check_finite(array.path(), &vectors)?;
                mean_prompts(array.path(), &vectors, prompts)?
            }
        };
        (array.path().to_owned(), vectors, None)
    };
    check_count(&path, Counted::ClassRows, classes.count(), vectors.ncols())?;
    if metric == Metric::Precomputed {
        check_count(&path, Counted::ClassColumns, classes.count(), vectors.nrows())?;
    }
    let vectors = checked(&path, vectors, metric, &mut reading.notes)?;
    let dimension_names = match &table.names {
        None => names.filter(|_| metric != Metric::Precomputed),
        Some(place) => {
            let list = folder.list(place)?;
            check_count(&list.path, Counted::DimensionLines, vectors.nrows(), list.items.len())?;
            Some(list.items)
        }
    };
    reading.dataset.networks.semantic.extend(record.map(|record| (name.to_owned(), record)));
    let origin = format!("`{}`", path.display());
    Ok(Semantic { name: name.to_owned(), origin, metric, vectors, dimension_names })
}

/// The rows of an array whose classes are known, in the order of the dataset.
fn by_name(array: &Array, names: &[String], classes: &ClassIndex<'_>) -> Result<Mat<f64>> {
    check_count(array.path(), Counted::ClassRows, names.len(), array.rows())?;
    let record = network_record_path(array.path());
    let place = |row: usize| format!("row {row}");
    let key = Key { path: &record, column: "names", what: "class", ignored: &[], place: &place };
    let rows = rows_by_name(&key, names, classes)?;
    Ok(table::reordered(&array.to_matrix(), &rows, None))
}

/// Per class the mean of its unit vectors, `prompts` columns one after another.
fn mean_prompts(path: &Path, vectors: &Mat<f64>, prompts: usize) -> Result<Mat<f64>> {
    let mut means = Mat::<f64>::zeros(vectors.nrows(), vectors.ncols() / prompts);
    for column in 0..vectors.ncols() {
        let norm = vectors.col(column).norm_l2();
        if !(norm > 0.0 && norm.is_finite()) {
            return Err(value_error(path, column, 0, "a vector that is not all zero", norm));
        }
        let mean = means.col_as_slice_mut(column / prompts);
        for (mean, value) in mean.iter_mut().zip(vectors.col_as_slice(column)) {
            *mean += value / norm / prompts as f64;
        }
    }
    Ok(means)
}

/// The vectors, dimensions x classes, with missing values replaced.
pub(crate) fn checked(
    path: &Path,
    mut vectors: Mat<f64>,
    metric: Metric,
    notes: &mut Vec<Note>,
) -> Result<Mat<f64>> {
    check_finite(path, &vectors)?;
    if metric == Metric::Precomputed {
        check_distances(path, &vectors)?;
    } else if let Some(missing) = replace_missing(&mut vectors) {
        let count = vectors.nrows() * vectors.ncols();
        let message =
            format!("{missing} of {count} values are -1, the marker for missing, and are read as 0");
        let hint = Some("fill them in where they are known; 0 says that a class lacks the attribute");
        notes.push(Note { path: path.to_owned(), message, hint });
    }
    Ok(vectors)
}

fn value_error(path: &Path, row: usize, column: usize, expected: &str, found: f64) -> Error {
    let (path, expected, found) = (path.to_owned(), expected.to_owned(), found.to_string());
    Error::Value { path, row, column: Some(column), expected, found }
}

fn check_finite(path: &Path, vectors: &Mat<f64>) -> Result<()> {
    let rows = (0..vectors.ncols()).map(|class| vectors.col_as_slice(class)).enumerate();
    let mut bad = rows.flat_map(|(row, vector)| {
        vector
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_finite())
            .map(move |(column, &value)| (row, column, value))
    });
    let Some((row, column, value)) = bad.next() else { return Ok(()) };
    let mut found = value.to_string();
    match bad.count() {
        0 => {}
        more => found = format!("{found}, one of {} such values", more + 1),
    }
    let (path, expected) = (path.to_owned(), "a finite number".to_owned());
    Err(Error::Value { path, row, column: Some(column), expected, found })
}

/// Distances are symmetric, zero to oneself and never negative.
fn check_distances(path: &Path, distances: &Mat<f64>) -> Result<()> {
    let largest =
        distances.col_iter().flat_map(faer::ColRef::iter).fold(0.0_f64, |most, value| most.max(value.abs()));
    // Files hold rounded distances, down to float16: a relative error of half a thousandth is no asymmetry.
    let tolerance = 1e-3 * largest;
    for row in 0..distances.ncols() {
        for column in 0..=row {
            let (below, above) = (distances[(column, row)], distances[(row, column)]);
            if row == column && below.abs() > tolerance {
                return Err(value_error(path, row, column, "distance 0 of a class to itself", below));
            }
            for (row, column, value) in [(row, column, below), (column, row, above)] {
                if row != column && value < 0.0 {
                    return Err(value_error(path, row, column, "a distance that is not negative", value));
                }
            }
            if (below - above).abs() > tolerance {
                let expected = format!("a symmetric matrix, so {above} as in row {column}, column {row}");
                return Err(value_error(path, row, column, &expected, below));
            }
        }
    }
    Ok(())
}

/// Sets values that are missing to 0 and counts them.
///
/// Attribute strengths are never negative; the authors of AwA wrote -1 where nobody had judged one. Vectors with
/// other negative values have no such marker, and neither have signs: attributes that are all either -1 or 1.
fn replace_missing(vectors: &mut Mat<f64>) -> Option<usize> {
    #[expect(clippy::float_cmp, reason = "the marker is exact in every number type")]
    let is_marker = |value: f64| value == -1.0;
    #[expect(clippy::float_cmp, reason = "a sign is exact in every number type")]
    let is_sign = |value: f64| value.abs() == 1.0;
    let values = || vectors.col_iter().flat_map(faer::ColRef::iter).copied();
    let missing = values().filter(|&value| is_marker(value)).count();
    if missing == 0 || values().all(is_sign) || values().any(|value| value < 0.0 && !is_marker(value)) {
        return None;
    }
    for class in 0..vectors.ncols() {
        for value in vectors.col_as_slice_mut(class) {
            if is_marker(*value) {
                *value = 0.0;
            }
        }
    }
    Some(missing)
}
