//! Extracted features as a dataset folder, with the subfolders as classes.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bidilel::dataset::{Dataset, Split, SplitKind, Visual};
use bidilel::networks::Networks;
use bidilel_data::array;
use bidilel_data::{Precision, WriteOptions};
use bidilel_vision::Found;

use super::described::Described;
use crate::output;

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

/// Writes the folder from the files that were just written; classes that are described and have no pictures are unseen.
pub(crate) fn write(
    folder: &Path,
    features: &Path,
    list: &Path,
    precision: Precision,
    described: Option<Described>,
) -> Result<usize> {
    let mut names = Vec::new();
    let mut reader = csv::Reader::from_path(list).with_context(|| format!("`{}`", list.display()))?;
    // Paths may be any bytes, labels are text.
    for record in reader.byte_records() {
        let record = record.with_context(|| format!("`{}`", list.display()))?;
        names.push(String::from_utf8_lossy(&record[2]).into_owned());
    }
    let visual = features.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut networks = Networks::default();
    let record = bidilel_data::network_record(features)?;
    networks.visual.extend(record.map(|record| (visual.clone(), record)));
    let (mut classes, mut semantic, mut splits) = (names.clone(), Vec::new(), Vec::new());
    classes.sort();
    classes.dedup();
    if let Some(described) = described {
        let seen = |name: &String| classes.binary_search(name).is_ok();
        let unseen: Vec<usize> =
            (0..described.names.len()).filter(|&class| !seen(&described.names[class])).collect();
        if !unseen.is_empty() {
            let kind = SplitKind::Classes { unseen, validation: Vec::new() };
            splits.push(Split {
                name: "standard".to_owned(),
                origin: described.semantic.origin.clone(),
                kind,
            });
        }
        networks.semantic.insert(described.semantic.name.clone(), described.record);
        semantic.push(described.semantic);
        classes = described.names;
    }
    let place: HashMap<&str, usize> =
        classes.iter().enumerate().map(|(class, name)| (name.as_str(), class)).collect();
    let label = |name: &String| {
        place
            .get(name.as_str())
            .copied()
            .with_context(|| format!("`{name}` is among the labels and not among the classes"))
    };
    let labels = names.iter().map(label).collect::<Result<_>>()?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rows = Arc::new(array::open(features, None)?);
    let count = classes.len();
    let visual = vec![Visual { name: visual, origin: features.display().to_string(), rows }];
    let dataset = Dataset { name, labels, visual, semantic, splits, networks, classes };
    let beside = folder.join(&dataset.visual[0].name).with_extension("csv");
    bidilel_data::write(&dataset, folder, WriteOptions { precision, overwrite: false })?;
    // Paths of the pictures, so that explanations can name them.
    output::write_to(Some(&beside), |out| Ok(std::io::copy(&mut File::open(list)?, out).map(drop)?))?;
    Ok(count)
}
