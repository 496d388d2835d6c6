//! `predict --copy-to FOLDER`: copies of the pictures in a subfolder for every label.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use bidilel_data::copy_into;
use bidilel_math::Observer;

use crate::failure::usage;
use crate::progress::Progress;

/// The folder of pictures that are none of the classes.
const NONE: &str = "none-of-these";
/// Letters of a folder's name.
const MAX_LETTERS: usize = 100;

/// The best label of every instance, as they are found.
#[derive(Debug, Default)]
pub(super) struct Labels(Mutex<BTreeMap<usize, String>>);

impl Labels {
    /// Takes the label of an instance, unless it has a better one.
    pub(super) fn put(&self, instance: usize, label: &str) {
        let mut labels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        labels.entry(instance).or_insert_with(|| label.to_owned());
    }
}

/// Copies that are to be made.
pub(super) struct Copies<'a> {
    folder: &'a Path,
    files: &'a [PathBuf],
    pub(super) labels: Labels,
}

impl<'a> Copies<'a> {
    /// None where none are asked for.
    pub(super) fn new(folder: Option<&'a Path>, files: Option<&'a [PathBuf]>) -> Result<Option<Self>> {
        let Some(folder) = folder else { return Ok(None) };
        let files =
            files.ok_or_else(|| usage("--copy-to is for pictures: feature rows have no files to copy"))?;
        std::fs::create_dir_all(folder).with_context(|| format!("`{}`: cannot be made", folder.display()))?;
        Ok(Some(Self { folder, files, labels: Labels::default() }))
    }

    /// Makes them.
    pub(super) fn make(self, progress: &Progress) -> Result<()> {
        let labels = self.labels.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut names = FolderNames::default();
        for (instance, label) in &labels {
            let Some(file) = self.files.get(*instance) else { continue };
            let folder = self.folder.join(names.of(label));
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("`{}`: cannot be made", folder.display()))?;
            copy_into(file, &folder)?;
        }
        progress.note(&format!(
            "{} files are copied into {} folders of `{}`",
            labels.len(),
            names.of_label.len(),
            self.folder.display()
        ));
        Ok(())
    }
}

/// Names of folders that every system accepts, another for every label.
#[derive(Debug, Default)]
struct FolderNames {
    of_label: HashMap<String, String>,
    /// In lower case: some systems do not tell `A` from `a`.
    taken: HashSet<String>,
}

impl FolderNames {
    fn of(&mut self, label: &str) -> String {
        if let Some(name) = self.of_label.get(label) {
            return name.clone();
        }
        let plain =
            |letter: char| if letter.is_control() || r#"<>:"/\|?*"#.contains(letter) { '_' } else { letter };
        let name: String = label.chars().map(plain).take(MAX_LETTERS).collect();
        let name = name.trim_matches(|letter: char| letter == '.' || letter.is_whitespace());
        let name = if label.is_empty() {
            NONE
        } else if name.is_empty() {
            "_"
        } else {
            name
        };
        let mut spellings =
            std::iter::once(name.to_owned()).chain((2_usize..).map(|number| format!("{name}-{number}")));
        let free = spellings.find(|name| self.taken.insert(name.to_lowercase()));
        let free = free.expect("one of infinitely many names is free");
        self.of_label.insert(label.to_owned(), free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_has_a_folder_of_its_own_inside() {
        let mut names = FolderNames::default();
        let labels = ["lynx", "Lynx", "../etc", "a/b", "a:b", "", "...", "lynx"];
        let found: Vec<String> = labels.iter().map(|label| names.of(label)).collect();
        assert_eq!(found, ["lynx", "Lynx-2", "_etc", "a_b", "a_b-2", "none-of-these", "_", "lynx"]);
    }
}
