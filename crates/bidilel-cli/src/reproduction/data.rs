//! From the names in an experiment to data: folders below `--data`, or generated stand-ins.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use bidilel::dataset::Dataset;
use bidilel::reproduce::DataFingerprint;
use bidilel::split::{SplitChoice, Trial};
use bidilel_experiments::{Cell, DataSource, Representation};
use bidilel_math::Observer;
use bidilel_report::{DataRecord, MissingData};

use super::resolve::{found, missing, stand_in, trials_of};

/// Where data come from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// Folders in this one.
    Folder(PathBuf),
    /// The generator, at this share of the real sizes.
    StandIns(f64),
}

/// Why a cell has no data.
#[derive(Debug, Clone)]
pub(crate) enum Absent {
    /// There are none.
    Missing(MissingData),
    /// They are there, and cannot be used.
    Broken(String),
}

/// An open dataset.
#[derive(Clone)]
struct Opened {
    dataset: Arc<Dataset>,
    source: String,
    /// Fingerprints of the views that were asked for so far.
    fingerprint: DataFingerprint,
    splits: BTreeMap<String, String>,
}

/// What a cell is measured on, with the names of the dataset.
pub(crate) struct CellData {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) fingerprint: DataFingerprint,
    pub(crate) split: String,
    pub(crate) trials: Vec<Trial>,
    pub(crate) visual: Vec<String>,
    pub(crate) semantic: Vec<String>,
    /// What stands for something else: `WV: sentences`.
    pub(crate) substitutes: Vec<String>,
}

/// The datasets of a run, each opened once.
pub(crate) struct Store {
    origin: Origin,
    seed: u64,
    /// The most trials of a split.
    splits: Option<usize>,
    open: HashMap<String, Result<Opened, Absent>>,
}

impl Store {
    pub(crate) fn new(origin: Origin, seed: u64, splits: Option<usize>) -> Self {
        Self { origin, seed, splits, open: HashMap::new() }
    }

    /// The data of a cell; `several` candidates need not all be there.
    pub(crate) fn cell(
        &mut self,
        cell: &Cell,
        source: &DataSource,
        several: bool,
        watch: &dyn Observer,
    ) -> Result<CellData, Absent> {
        let place = self.place(&cell.dataset, source);
        let seed = self.seed;
        let limit = self.splits;
        let opened = self.opened(&cell.dataset, source, watch)?;
        let dataset = Arc::clone(&opened.dataset);
        let title = source.title.clone().unwrap_or_else(|| cell.dataset.clone());
        let mut substitutes = Vec::new();
        let mut visual = Vec::new();
        for name in &cell.visual {
            let names = dataset.visual.iter().map(|view| &view.name[..]).collect::<Vec<_>>();
            match found(&source.visual(name), &names, name, &mut substitutes) {
                Some(found) => visual.push(found),
                None if several => {}
                None => {
                    return Err(missing(&title, "visual representation", name, &source.visual(name), &place));
                }
            }
        }
        if let (true, [] | [_], Some(name)) = (several, &visual[..], cell.visual.first()) {
            return Err(missing(&title, "visual representation", name, &source.visual(name), &place));
        }
        let mut semantic = Vec::new();
        for name in &cell.semantic {
            let names = dataset.semantic.iter().map(|one| &one.name[..]).collect::<Vec<_>>();
            let one = found(&source.semantic(name), &names, name, &mut substitutes);
            semantic.push(one.ok_or_else(|| {
                missing(&title, "semantic representation", name, &source.semantic(name), &place)
            })?);
        }
        let split = cell.split.clone().or_else(|| source.splits.keys().next().cloned());
        let (name, described, mut trials) = match &split {
            Some(split) => {
                trials_of(&dataset, &source.split(split), split, seed).map_err(|problem| match problem {
                    None => missing(
                        &title,
                        "split",
                        split,
                        &Representation { get: source.split(split).get, ..Representation::default() },
                        &place,
                    ),
                    Some(problem) => Absent::Broken(problem),
                })?
            }
            None => {
                let found =
                    SplitChoice::First.trials(&dataset).map_err(|error| Absent::Broken(error.to_string()))?;
                (found.split.clone(), found.split, found.trials)
            }
        };
        trials.truncate(limit.unwrap_or(usize::MAX));
        opened.splits.insert(name.clone(), format!("{described}: {} used", trials.len()));
        let unknown: Vec<String> =
            visual.iter().filter(|view| !opened.fingerprint.visual.contains_key(*view)).cloned().collect();
        if !unknown.is_empty() {
            let more =
                DataFingerprint::of(&dataset, &unknown).map_err(|error| Absent::Broken(error.to_string()))?;
            opened.fingerprint.visual.extend(more.visual);
        }
        let fingerprint = opened.fingerprint.clone();
        Ok(CellData { dataset, fingerprint, split: name, trials, visual, semantic, substitutes })
    }

    /// What was used, for the manifest.
    pub(crate) fn records(&self, names: &[String]) -> Vec<DataRecord> {
        let used = names.iter().filter_map(|name| Some((name, self.open.get(name)?.as_ref().ok()?)));
        let record = |(name, opened): (&String, &Opened)| DataRecord {
            name: name.clone(),
            source: opened.source.clone(),
            instances: opened.dataset.labels.len(),
            classes: opened.dataset.classes.len(),
            splits: opened.splits.values().cloned().collect(),
            fingerprint: opened.fingerprint.clone(),
        };
        used.map(record).collect()
    }

    /// The share of the real sizes that stand-ins have.
    pub(crate) fn stand_ins(&self) -> Option<f64> {
        match self.origin {
            Origin::StandIns(scale) => Some(scale),
            Origin::Folder(_) => None,
        }
    }

    /// The folder that a dataset is looked for in first.
    fn place(&self, name: &str, source: &DataSource) -> String {
        let folder = source.folders.first().map_or(name, String::as_str);
        match &self.origin {
            Origin::Folder(root) => root.join(folder).display().to_string(),
            Origin::StandIns(_) => folder.to_owned(),
        }
    }

    fn opened(
        &mut self,
        name: &str,
        source: &DataSource,
        watch: &dyn Observer,
    ) -> Result<&mut Opened, Absent> {
        if !self.open.contains_key(name) {
            let opened = self.open(name, source, watch);
            self.open.insert(name.to_owned(), opened);
        }
        match self.open.get_mut(name) {
            Some(Ok(opened)) => Ok(opened),
            Some(Err(absent)) => Err(absent.clone()),
            None => unreachable!("it was just opened"),
        }
    }

    fn open(&self, name: &str, source: &DataSource, watch: &dyn Observer) -> Result<Opened, Absent> {
        let (dataset, from) = match &self.origin {
            Origin::Folder(root) => {
                let own = [name.to_owned()];
                let folders = if source.folders.is_empty() { &own[..] } else { &source.folders };
                let Some(path) = folders.iter().map(|folder| root.join(folder)).find(|path| path.is_dir())
                else {
                    let get = source.get.clone().unwrap_or_else(|| format!("the dataset `{name}`"));
                    let put = format!("{} (a folder with a dataset.toml)", self.place(name, source));
                    let what = source.title.clone().unwrap_or_else(|| name.to_owned());
                    return Err(Absent::Missing(MissingData { what, get, put }));
                };
                watch.stage("open");
                let opened = bidilel_data::open(&path).map_err(|error| Absent::Broken(error.to_string()))?;
                (opened.dataset, path.display().to_string())
            }
            Origin::StandIns(scale) => {
                watch.stage("generate");
                let broken = |error: bidilel::Error| Absent::Broken(error.to_string());
                let (settings, from) = stand_in(source, *scale).map_err(broken)?;
                (settings.generate(self.seed).map_err(broken)?, from)
            }
        };
        let fingerprint =
            DataFingerprint::of(&dataset, &[]).map_err(|error| Absent::Broken(error.to_string()))?;
        Ok(Opened { dataset: Arc::new(dataset), source: from, fingerprint, splits: BTreeMap::new() })
    }
}
