//! Extracted features as a dataset folder, with the subfolders as classes.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bidilel::dataset::{Dataset, Visual};
use bidilel_data::array;
use bidilel_data::{Precision, WriteOptions};
use bidilel_vision::Found;

/// Fails before the work is done where the folder could not be written after it.
pub(crate) fn check(folder: &Path, found: &Found) -> Result<()> {
    if let Some(item) = found.items.iter().find(|item| item.label.is_empty()) {
        bail!(
            "`{}` lies in no subfolder, so it has no class: --dataset needs a subfolder for every class",
            item.path
        );
    }
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken || folder.is_file() {
        return Err(bidilel_data::Error::Exists { path: folder.to_owned() }.into());
    }
    Ok(())
}

/// Writes the folder from the files that were just written.
pub(crate) fn write(folder: &Path, features: &Path, list: &Path, precision: Precision) -> Result<usize> {
    let mut classes: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let mut reader = csv::Reader::from_path(list).with_context(|| format!("`{}`", list.display()))?;
    // Paths may be any bytes, labels are text.
    for record in reader.byte_records() {
        let record = record.with_context(|| format!("`{}`", list.display()))?;
        names.push(String::from_utf8_lossy(&record[2]).into_owned());
    }
    classes.extend(names.iter().cloned());
    classes.sort();
    classes.dedup();
    let index = |name: &String| classes.binary_search(name).expect("every name is among the classes");
    let labels = names.iter().map(index).collect();
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let visual = features.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let rows = Arc::new(array::open(features, None)?);
    let count = classes.len();
    let dataset = Dataset {
        name,
        classes,
        labels,
        visual: vec![Visual { name: visual, origin: features.display().to_string(), rows }],
        semantic: Vec::new(),
        splits: Vec::new(),
    };
    bidilel_data::write(&dataset, folder, WriteOptions { precision, overwrite: false })?;
    Ok(count)
}
