//! The sidecar files of feature rows: names, labels, and the beginning of a `dataset.toml`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bidilel_data::descriptors::Collection;
use toml::{Table, Value};

use crate::output;

/// The sidecar files of `features.npy`.
pub(super) struct Sidecars {
    folder: PathBuf,
    stem: String,
    file: String,
    /// Those that are there now.
    pub(super) written: Vec<PathBuf>,
}

impl Sidecars {
    pub(super) fn of(out: &Path) -> Result<Self> {
        let name = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned())
                .with_context(|| format!("`{}`: expected a file to write", out.display()))
        };
        let folder = out.parent().unwrap_or(Path::new("")).to_owned();
        let sidecars =
            Self { folder, stem: name(out.file_stem())?, file: name(out.file_name())?, written: Vec::new() };
        for ending in [".csv", "-classes.txt", "-labels.txt", ".toml"] {
            let path = sidecars.path(ending);
            // Names and labels must not overwrite the rows.
            anyhow::ensure!(
                path != out,
                "`{}`: feature rows are written as .npy: choose another ending",
                out.display()
            );
            output::check_target(&path)?;
        }
        Ok(sidecars)
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}{ending}", self.stem))
    }

    /// Writes names and counts, and with labels what a dataset needs of them.
    pub(super) fn write(&mut self, collection: &Collection, labels: Option<&[String]>) -> Result<()> {
        self.file(".csv", |out| {
            let mut csv = csv::Writer::from_writer(out);
            csv.write_record(["index", "item", "label", "descriptors"])?;
            for (item, name) in collection.names.iter().enumerate() {
                let label = labels.map_or("", |labels| labels[item].as_str());
                let count = collection.items.descriptors(item);
                let (name, label) = (output::csv_cell(name), output::csv_cell(label));
                csv.write_record([&item.to_string(), &*name, &*label, &count.to_string()])?;
            }
            Ok(csv.flush()?)
        })?;
        let Some(labels) = labels else { return Ok(()) };
        if let Some(label) =
            labels.iter().find(|label| label.trim() != *label || label.contains(['\n', '\r']))
        {
            anyhow::bail!("label {label:?} cannot be a line of a text file: rename it, or add --labels none");
        }
        let mut classes: Vec<&String> = labels.iter().collect();
        classes.sort();
        classes.dedup();
        self.file("-classes.txt", |out| {
            Ok(classes.iter().try_for_each(|class| writeln!(out, "{class}"))?)
        })?;
        self.file("-labels.txt", |out| Ok(labels.iter().try_for_each(|label| writeln!(out, "{label}"))?))?;
        let manifest = self.manifest();
        self.file(".toml", |out| Ok(out.write_all(manifest.as_bytes())?))
    }

    fn file(
        &mut self,
        ending: &str,
        write: impl FnOnce(&mut dyn std::io::Write) -> Result<()>,
    ) -> Result<()> {
        let path = self.path(ending);
        output::write_to(Some(&path), write)?;
        self.written.push(path);
        Ok(())
    }

    /// A `dataset.toml` but for the descriptions and the split, which nobody but the user knows.
    fn manifest(&self) -> String {
        let value = |ending: &str| Value::from(format!("{}{ending}", self.stem));
        let head: Table = [
            ("name".to_owned(), Value::from(self.stem.clone())),
            ("classes".to_owned(), value("-classes.txt")),
            ("labels".to_owned(), value("-labels.txt")),
        ]
        .into_iter()
        .collect();
        format!("{head}\n{}", self.visual())
    }

    fn visual(&self) -> String {
        let file: Table = [("file".to_owned(), Value::from(self.file.clone()))].into_iter().collect();
        let named: Table = [(self.stem.clone(), Value::Table(file))].into_iter().collect();
        [("visual".to_owned(), Value::Table(named))].into_iter().collect::<Table>().to_string()
    }

    /// What a dataset.toml needs to use the rows, for a person.
    pub(super) fn snippet(&self) -> String {
        let list: Vec<String> = self.written.iter().map(|path| path.display().to_string()).collect();
        format!("also written: {}\nfor a dataset.toml:\n\n{}", list.join(", "), self.visual())
    }
}
