//! `res101.mat` and `att_splits.mat`: the files of "Zero-Shot Learning - the Good, the Bad and the Ugly".
//!
//! `features` is dimensions x instances, `labels` counts classes from 1, `att` is attributes x classes, and the `*_loc`
//! vectors count instances from 1.
//!
//! # References
//!
//! Xian, Schiele, Akata 2017. In the first release `train_loc` and `val_loc` contain test instances of known classes;
//! the splits here are made of `trainval_loc`, which never did. Of `train_loc` and `val_loc` only the classes count: they
//! are what tuning holds out.
//!
//! The files have the proposed split alone. The standard split that earlier papers report on (`standard`) has other
//! unseen classes, and is added for the benchmarks whose classes are known ([`benchmark`](super::benchmark)).

use std::path::Path;
use std::sync::Arc;

use bidilel::dataset::SplitKind;

use super::{Contents, benchmark, with_rows};
use crate::array::Base;
use crate::check::overlap;
use crate::container::Container;
use crate::error::{Error, Result};
use crate::indices;
use crate::reading::Note;
use crate::text::List;

const FEATURES: &str = "res101.mat";
const SPLITS: &str = "att_splits.mat";

pub(super) fn read(folder: &Path) -> Option<Result<Contents>> {
    match (folder.join(FEATURES).is_file(), folder.join(SPLITS).is_file()) {
        (false, false) => None,
        (true, true) => Some(read_both(folder)),
        (false, true) => Some(Err(Error::Incomplete {
            path: folder.to_owned(),
            found: SPLITS,
            missing: "`res101.mat`, which has the features",
        })),
        (true, false) => Some(Err(Error::Incomplete {
            path: folder.to_owned(),
            found: FEATURES,
            missing: "`att_splits.mat`, which has the attributes and splits",
        })),
    }
}

fn read_both(folder: &Path) -> Result<Contents> {
    let features = Container::open(&folder.join(FEATURES))?;
    let splits = Container::open(&folder.join(SPLITS))?;
    let mut contents = Contents { classes: classes(&splits)?, ..Contents::default() };

    let labels = features.array(Some("labels"))?;
    contents.labels = labels.to_indices(Base::One)?;
    let count = contents.classes.len();
    if let Some(row) = contents.labels.iter().position(|&label| label >= count) {
        let (path, label) = (labels.path().to_owned(), contents.labels[row]);
        return Err(Error::LabelOutOfRange { path, row, label, classes: count });
    }
    let rows = with_rows(features.array(Some("features"))?, contents.labels.len());
    let path = rows.path().to_owned();
    contents.add_visual("res101", &path, Arc::new(rows))?;
    for key in ["att", "original_att"] {
        if key == "att" || splits.has(key) {
            let vectors = with_rows(splits.array(Some(key))?, count);
            contents.add_semantic(key, vectors.path(), vectors.to_matrix(), None)?;
        }
    }
    add_splits(&splits, &mut contents)?;
    Ok(contents)
}

/// The names, or numbers where the file has none.
fn classes(splits: &Container) -> Result<Vec<String>> {
    const KEY: &str = "allclasses_names";
    if !splits.has(KEY) {
        let count = splits.array(Some("att"))?.columns();
        return Ok((1..=count).map(|number| format!("class-{number:03}")).collect());
    }
    let path = splits.path().to_owned();
    let items = splits.strings(KEY)?.iter().map(|name| name.trim().to_owned()).collect();
    Ok(List { path, items, key: Some(KEY.to_owned()) }.composed().unique()?.items)
}

fn add_splits(splits: &Container, contents: &mut Contents) -> Result<()> {
    let count = contents.labels.len();
    let instances = |key: &str| indices::unique(&splits.array(Some(key))?, Base::One, count);
    let optional = |key: &str| if splits.has(key) { instances(key).map(Some) } else { Ok(None) };
    let (train, test_seen) = (instances("trainval_loc")?, instances("test_seen_loc")?);
    let test_unseen = instances("test_unseen_loc")?;
    let classes_of = |instances: &[usize]| {
        let mut classes: Vec<usize> = instances.iter().map(|&instance| contents.labels[instance]).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    };
    let unseen = classes_of(&test_unseen);
    let mut validation = Vec::new();
    if let (Some(for_training), Some(held_out)) = (optional("train_loc")?, optional("val_loc")?) {
        let trained = classes_of(&for_training);
        validation = classes_of(&held_out);
        let apart =
            |class: &usize| trained.binary_search(class).is_err() && unseen.binary_search(class).is_err();
        // Some releases divide instances here instead of classes; then nothing is held out class-wise.
        if !validation.iter().all(apart) {
            validation.clear();
        }
        let notes = leak(splits.path(), &[for_training, held_out].concat(), &test_seen);
        contents.notes.extend(notes);
    }
    let (by_class, by_instance) = (validation.clone(), validation);
    let proposed = SplitKind::Instances { train, test_seen, test_unseen, validation: by_instance };
    contents.add_split("proposed", splits.path(), proposed);
    contents.add_split(
        "proposed-classes",
        splits.path(),
        SplitKind::Classes { unseen, validation: by_class },
    );
    if let Some(unseen) = benchmark::standard(&contents.classes) {
        let kind = SplitKind::Classes { unseen, validation: Vec::new() };
        contents.add_split("standard", splits.path(), kind);
    }
    Ok(())
}

/// The leak of the first release.
fn leak(path: &Path, tuned_on: &[usize], test_seen: &[usize]) -> Option<Note> {
    let (shared, _) = overlap(tuned_on, test_seen)?;
    let message = format!(
        "the test leaks into training, as in the 2017 release: `train_loc` and `val_loc` contain {shared} of the {} \
         instances of `test_seen_loc`",
        test_seen.len()
    );
    let hint = Some(
        "`trainval_loc` is used here instead; do not tune on `train_loc` and `val_loc`, or take the corrected release",
    );
    Some(Note { path: path.to_owned(), message, hint })
}
