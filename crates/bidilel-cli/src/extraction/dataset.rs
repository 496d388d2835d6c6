//! Extracted features as a dataset folder, with the subfolders as classes.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bidilel::dataset::{Dataset, Visual};
use bidilel_data::array;
use bidilel_data::{Precision, WriteOptions};

/// Writes the folder from the files that were just written.
pub(crate) fn write(folder: &Path, features: &Path, list: &Path, precision: Precision) -> Result<usize> {
    let mut classes: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let mut reader = csv::Reader::from_path(list).with_context(|| format!("`{}`", list.display()))?;
    for record in reader.records() {
        let record = record.with_context(|| format!("`{}`", list.display()))?;
        if record[2].is_empty() {
            bail!(
                "`{}` lies in no subfolder, so it has no class: --dataset needs a subfolder for every class",
                &record[1]
            );
        }
        names.push(record[2].to_owned());
    }
    classes.extend(names.iter().cloned());
    classes.sort();
    classes.dedup();
    let place = |name: &String| classes.binary_search(name).expect("every name is among the classes");
    let labels = names.iter().map(place).collect();
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
