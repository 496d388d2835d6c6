//! Writes a dataset as a folder that [`crate::open`] reads.

mod cells;
mod files;
#[cfg_attr(not(feature = "parquet"), path = "without_parquet.rs")]
mod parquet;
mod prediction;
mod predictions;
mod vectors;

pub use cells::{Cells, ColumnType};
pub use parquet::TableWriter;
pub use prediction::{Prediction, PredictionColumns};
pub use predictions::PredictionTable;
pub use vectors::VectorFile;

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use bidilel::dataset::{Dataset, Metric, Semantic, Split, SplitKind};
use bidilel::networks::NetworkRecord;
use bidilel_math::{Observer, Silent};
use toml::{Table, Value};

use crate::atomic;
use crate::error::{Error, Result};
use crate::folder::MANIFEST;
use crate::network_record::write_network_record;
use files::write_rows;

/// Longer lists of classes get a file of their own.
const MOST_INLINE: usize = 20;

/// The number type of the features in a written dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Half the bytes, three digits, nothing above 65,504.
    Float16,
    /// What features are computed with.
    #[default]
    Float32,
}

/// How a dataset is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions {
    /// The type of the features.
    pub precision: Precision,
    /// Whether a dataset folder that is already there is replaced.
    pub overwrite: bool,
}

/// Writes a dataset folder; it appears under its name when all of it is on the disk.
pub fn write(dataset: &Dataset, target: &Path, options: WriteOptions) -> Result<()> {
    write_watched(dataset, target, options, &Silent)
}

/// As [`write()`], until the observer asks to stop: nothing is left then.
pub fn write_watched(
    dataset: &Dataset,
    target: &Path,
    options: WriteOptions,
    watch: &dyn Observer,
) -> Result<()> {
    check_target(target, options.overwrite)?;
    // A link keeps pointing to the folder that it names.
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    let temporary = atomic::FolderBeside::new(&target)?;
    let mut writer = Writer { folder: temporary.path(), target: &target, names: HashSet::new(), watch };
    writer.dataset(dataset, options.precision)?;
    // What was copied must be of one state of its source.
    crate::file::check_unchanged()?;
    atomic::put_folder(temporary, &target)
}

/// Fails where [`write()`] would not take the folder that is there.
pub fn check_target(target: &Path, overwrite: bool) -> Result<()> {
    let path = || target.to_owned();
    let mut entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(source) => match source.kind() {
            io::ErrorKind::NotFound => return Ok(()),
            io::ErrorKind::NotADirectory => {
                return Err(Error::Kind { path: path(), expected: "folder", found: "file" });
            }
            _ => return Err(Error::Read { path: path(), source }),
        },
    };
    if entries.next().is_none() {
        return Ok(());
    }
    if !overwrite {
        return Err(Error::Exists { path: path() });
    }
    // A slip of the keyboard must not replace a home folder.
    if target.join(MANIFEST).is_file() { Ok(()) } else { Err(Error::NotReplaceable { path: path() }) }
}

struct Writer<'a> {
    folder: &'a Path,
    /// The folder's final name, for messages.
    target: &'a Path,
    /// Names of files, in lower case: some systems do not tell `A` from `a`.
    names: HashSet<String>,
    watch: &'a dyn Observer,
}

impl Writer<'_> {
    fn dataset(&mut self, dataset: &Dataset, precision: Precision) -> Result<()> {
        self.names.insert(MANIFEST.to_owned());
        let mut manifest = Table::new();
        manifest.insert("name".to_owned(), dataset.name.clone().into());
        let classes = self.list("classes", "class", &dataset.classes)?;
        manifest.insert("classes".to_owned(), classes.into());
        let labels = self.indices("labels", &dataset.labels)?;
        manifest.insert("labels".to_owned(), labels.into());

        let mut visual = Table::new();
        for representation in &dataset.visual {
            let file = self.features(&representation.name, &*representation.rows, precision)?;
            if let Some(record) = dataset.networks.visual.get(&representation.name) {
                self.record(&file, record, None)?;
            }
            visual.insert(representation.name.clone(), table([("file", file.into())]));
        }
        let mut semantic = Table::new();
        for representation in &dataset.semantic {
            let (file, entries) = self.semantic(representation)?;
            if let Some(record) = dataset.networks.semantic.get(&representation.name) {
                self.record(&file, record, Some(&dataset.classes))?;
            }
            semantic.insert(representation.name.clone(), entries);
        }
        let mut splits = Table::new();
        for split in &dataset.splits {
            splits.insert(split.name.clone(), self.split(split, &dataset.classes)?);
        }
        for (key, tables) in [("visual", visual), ("semantic", semantic), ("split", splits)] {
            if !tables.is_empty() {
                manifest.insert(key.to_owned(), tables.into());
            }
        }
        self.file(MANIFEST, |out| out.write_all(manifest.to_string().as_bytes()))
    }

    /// Writes the record of what made an array.
    fn record(&self, file: &str, record: &NetworkRecord, names: Option<&[String]>) -> Result<()> {
        write_network_record(&self.folder.join(file), record, names).map(drop)
    }

    fn semantic(&mut self, semantic: &Semantic) -> Result<(String, Value)> {
        let name = self.unique(&semantic.name, "npy");
        let shape = [semantic.vectors.ncols(), semantic.vectors.nrows()];
        let rows = (0..shape[0]).map(|class| semantic.vectors.col_as_slice(class));
        self.file(&name, |out| write_rows(out, &shape, rows))?;
        let metric = match semantic.metric {
            Metric::Euclidean => "euclidean",
            Metric::Cosine => "cosine",
            Metric::Precomputed => "precomputed",
        };
        let mut entries = table([("file", name.clone().into()), ("metric", metric.into())]);
        if let (Some(names), Value::Table(entries)) = (&semantic.dimension_names, &mut entries) {
            let file = self.list(&format!("{}-names", semantic.name), "dimension", names)?;
            entries.insert("names".to_owned(), file.into());
        }
        Ok((name, entries))
    }

    fn split(&mut self, split: &Split, classes: &[String]) -> Result<Value> {
        let name = &split.name;
        Ok(match &split.kind {
            SplitKind::Classes { unseen, validation } => {
                let unseen = self.class_list(name, "unseen", unseen, classes)?;
                table([("unseen", unseen)].into_iter().chain(self.validation(name, validation, classes)?))
            }
            SplitKind::Family { trials } => {
                let shape = [trials.len(), classes.len()];
                let rows = trials.iter().map(|unseen| {
                    (0..classes.len()).map(|class| u8::from(unseen.contains(&class))).collect::<Vec<_>>()
                });
                let file = self.unique(&format!("{name}-splits"), "npy");
                self.file(&file, |out| write_rows(out, &shape, rows))?;
                table([("file", file.into())])
            }
            SplitKind::Instances { train, test_seen, test_unseen, validation } => {
                let instances = [
                    ("train", self.indices(&format!("{name}-train"), train)?.into()),
                    ("test_seen", self.indices(&format!("{name}-test-seen"), test_seen)?.into()),
                    ("test_unseen", self.indices(&format!("{name}-test-unseen"), test_unseen)?.into()),
                ];
                table(instances.into_iter().chain(self.validation(name, validation, classes)?))
            }
        })
    }

    fn validation(
        &mut self,
        split: &str,
        validation: &[usize],
        classes: &[String],
    ) -> Result<Option<(&'static str, Value)>> {
        if validation.is_empty() {
            return Ok(None);
        }
        self.class_list(split, "validation", validation, classes).map(|list| Some(("validation", list)))
    }

    fn class_list(&mut self, split: &str, key: &str, indices: &[usize], classes: &[String]) -> Result<Value> {
        let name_of = |&index: &usize| {
            classes.get(index).cloned().ok_or_else(|| Error::Split {
                path: self.target.to_owned(),
                split: split.to_owned(),
                problem: format!("class {index} does not exist: there are {}", classes.len()),
            })
        };
        let names: Vec<String> = indices.iter().map(name_of).collect::<Result<_>>()?;
        if names.len() <= MOST_INLINE {
            return Ok(names.into());
        }
        self.list(&format!("{split}-{key}"), "class", &names).map(Value::from)
    }
}

fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
