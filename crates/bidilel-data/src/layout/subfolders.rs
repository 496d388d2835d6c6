//! A folder for every class, with its feature files in it.
//!
//! A file is one row or several; classes are the names of the subfolders in alphabetical order. `attributes.*` beside
//! them describes the classes: a table with a name in front of every row, or rows in the order of the classes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faer::Mat;

use super::class_list::plain;
use super::stacked::Stacked;
use super::{Contents, animals, first_of, numbers};
use crate::container::Format;
use crate::error::{Error, Result};
use crate::file;
use crate::text;

/// What the files of features end in.
const EXTENSIONS: [&str; 4] = ["npy", "npz", "mat", "safetensors"];

const DESCRIPTIONS: [&str; 3] = ["attributes", "semantic", "word-vectors"];
const DESCRIPTION_EXTENSIONS: [&str; 7] = ["csv", "tsv", "txt", "npy", "npz", "mat", "safetensors"];

pub(super) fn read(folder: &Path) -> Option<Result<Contents>> {
    let with_features = || -> Result<Vec<(PathBuf, Vec<PathBuf>)>> {
        let mut found = Vec::new();
        for path in sorted(folder)?.into_iter().filter(|path| path.is_dir()) {
            let mut files = sorted(&path)?;
            files.retain(|file| {
                file.is_file() && file.extension().is_some_and(|end| EXTENSIONS.iter().any(|own| end == *own))
            });
            if !files.is_empty() {
                found.push((path, files));
            }
        }
        Ok(found)
    };
    match with_features() {
        // One folder is no choice of classes: probably this is something else.
        Ok(found) if found.len() < 2 => None,
        found => Some(found.and_then(|found| read_folder(folder, &found))),
    }
}

/// What is in a folder, without hidden files, by name: the system's own order is none.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn read_folder(folder: &Path, found: &[(PathBuf, Vec<PathBuf>)]) -> Result<Contents> {
    let mut contents = Contents::default();
    let mut rows = Stacked::new();
    for (class, (path, files)) in found.iter().enumerate() {
        contents.classes.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        for file in files {
            let count = rows.push(file)?;
            contents.labels.extend(std::iter::repeat_n(class, count));
        }
    }
    contents.add_visual("features", folder, Arc::new(rows))?;
    for stem in DESCRIPTIONS {
        let names = DESCRIPTION_EXTENSIONS.map(|extension| format!("{stem}.{extension}"));
        if let Some(path) = first_of(folder, &names.each_ref().map(String::as_str)) {
            let (vectors, dimension_names) = describe(&path, &contents.classes)?;
            contents.add_semantic(stem, &path, vectors, dimension_names)?;
        }
    }
    animals::add_split(folder, &mut contents)?;
    Ok(contents)
}

/// Descriptions, dimensions x classes, with the names of the dimensions where the table has a header.
fn describe(path: &Path, classes: &[String]) -> Result<(Mat<f64>, Option<Vec<String>>)> {
    let bytes = file::map(path)?;
    if Format::of(&bytes).is_some() {
        return Ok((numbers::matrix(path)?, None));
    }
    let text = text::text_from_bytes(path, &bytes)?;
    let separator = if text.contains('\t') { '\t' } else { ',' };
    let cells =
        |line: &str| line.split(separator).map(|cell| cell.trim().trim_matches('"').to_owned()).collect();
    let lines: Vec<(usize, Vec<String>)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (index + 1, cells(line)))
        .collect();
    let is_number = |cell: &String| cell.parse::<f64>().is_ok();
    // Without names in front the rows are in the order of the classes.
    if lines.iter().all(|(_, cells)| cells.first().is_none_or(is_number)) {
        return Ok((numbers::matrix(path)?, None));
    }
    let header = lines.first().filter(|(_, cells)| !cells.iter().skip(1).any(is_number));
    let dimension_names = header.map(|(_, cells)| cells[1..].to_vec());
    let table = &lines[usize::from(header.is_some())..];
    Ok((by_name(path, table, classes)?, dimension_names))
}

fn by_name(path: &Path, table: &[(usize, Vec<String>)], classes: &[String]) -> Result<Mat<f64>> {
    let wrong = |line: usize, problem: String| Error::Line { path: path.to_owned(), line, problem };
    let width = table.first().map_or(0, |(_, cells)| cells.len() - 1);
    let mut vectors = Mat::zeros(width, classes.len());
    let mut lines = vec![None; classes.len()];
    for (line, cells) in table {
        let name = &cells[0];
        let class = classes.iter().position(|class| class == name);
        let class = class.or_else(|| classes.iter().position(|class| plain(class) == plain(name)));
        // A table may describe more classes than there are instances of.
        let Some(class) = class else { continue };
        if let Some(first) = lines[class].replace(*line) {
            return Err(wrong(*line, format!("class `{name}` is described in line {first} already")));
        }
        if cells.len() != width + 1 {
            return Err(wrong(
                *line,
                format!("expected {width} numbers after the name, found {}", cells.len() - 1),
            ));
        }
        for (dimension, cell) in cells[1..].iter().enumerate() {
            let value = cell.parse();
            vectors[(dimension, class)] =
                value.map_err(|_| wrong(*line, format!("expected a number, found `{cell}`")))?;
        }
    }
    match lines.iter().position(Option::is_none) {
        None => Ok(vectors),
        Some(class) => Err(Error::Undescribed { path: path.to_owned(), class: classes[class].clone() }),
    }
}
