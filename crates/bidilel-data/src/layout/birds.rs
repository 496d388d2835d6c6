//! The files of Caltech-UCSD Birds: numbered lists of classes and images, and percentages of attributes.
//!
//! Images and classes are joined by their numbers; the folder of an image's path names its class a second time, and
//! must agree. Features are `features.npy`, a row for every image in the order of the numbers.
//!
//! # References
//!
//! Wah, Branson, Welinder, Perona, Belongie 2011.

use std::path::Path;

use super::class_list::numbered;
use super::{Contents, animals, features, first_of, numbers};
use crate::error::{Counted, Error, Result};
use crate::names::{ClassIndex, plain};
use crate::text::{self, List};

const LABELS: &str = "image_class_labels.txt";
const ATTRIBUTES: [&str; 2] =
    ["attributes/class_attribute_labels_continuous.txt", "class_attribute_labels_continuous.txt"];
const ATTRIBUTE_NAMES: [&str; 3] = ["attributes/attributes.txt", "attributes.txt", "../attributes.txt"];

pub(super) fn read(folder: &Path) -> Option<Result<Contents>> {
    first_of(folder, &[LABELS]).map(|_| read_folder(folder))
}

fn read_folder(folder: &Path) -> Result<Contents> {
    let mut contents =
        Contents { classes: numbered(&folder.join("classes.txt"))?.items, ..Contents::default() };
    let missing = |missing| Error::Incomplete { path: folder.to_owned(), found: LABELS, missing };
    contents.labels = labels(&folder.join(LABELS), contents.classes.len())?;
    if let Some(path) = first_of(folder, &["images.txt"]) {
        check_names(&numbered(&path)?, &contents)?;
    }
    let rows = first_of(folder, &["features.npy", "features.npz", "features.mat", "features.txt"]);
    let rows = rows.ok_or_else(|| missing("`features.npy`, a row for every image"))?;
    contents.add_visual("features", &rows, features(&rows)?)?;

    let path = first_of(folder, &ATTRIBUTES);
    let path = path.ok_or_else(|| missing("`attributes/class_attribute_labels_continuous.txt`"))?;
    let names = first_of(folder, &ATTRIBUTE_NAMES).map(|path| numbered(&path)).transpose()?;
    contents.add_semantic("attributes", &path, numbers::matrix(&path)?, names.map(|list| list.items))?;
    animals::add_split(folder, &mut contents)?;
    Ok(contents)
}

/// Lines of image number and class number.
fn labels(path: &Path, classes: usize) -> Result<Vec<usize>> {
    let list = text::read_list(path)?;
    let mut labels = vec![None; list.items.len()];
    for (index, line) in list.items.iter().enumerate() {
        let wrong = |problem: &str| Error::Line {
            path: path.to_owned(),
            line: index + 1,
            problem: format!("{problem}, found `{}`", line.chars().take(40).collect::<String>()),
        };
        let mut words = line.split_whitespace().map(str::parse::<usize>);
        let (Some(Ok(image)), Some(Ok(class)), None) = (words.next(), words.next(), words.next()) else {
            return Err(wrong("expected the numbers of an image and of its class"));
        };
        if !(1..=classes).contains(&class) {
            return Err(wrong(&format!("expected a class from 1 to {classes}")));
        }
        match image.checked_sub(1).and_then(|image| labels.get_mut(image)) {
            Some(slot @ None) => *slot = Some(class - 1),
            _ => return Err(wrong("expected every image from 1 on once")),
        }
    }
    Ok(labels.into_iter().flatten().collect())
}

/// The folder that an image is in must be its class.
fn check_names(images: &List, contents: &Contents) -> Result<()> {
    if images.items.len() != contents.labels.len() {
        return Err(Error::Count {
            path: images.path.clone(),
            what: Counted::ImageLines,
            expected: contents.labels.len(),
            found: images.items.len(),
        });
    }
    let classes = ClassIndex::new(&contents.classes);
    for (index, (image, &label)) in images.items.iter().zip(&contents.labels).enumerate() {
        let Some((class, _)) = image.split_once('/') else { continue };
        if plain(class) != plain(classes.name(label)) {
            let problem =
                format!("image {} is in `{class}`, but its class is `{}`", index + 1, classes.name(label));
            return Err(Error::Line { path: images.path.clone(), line: index + 1, problem });
        }
    }
    Ok(())
}
