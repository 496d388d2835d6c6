//! From the names in an experiment to data: folders below `--data`, or generated stand-ins.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use bidilel::dataset::Dataset;
use bidilel::reproduce::DataFingerprint;
use bidilel::split::Trial;
use bidilel_experiments::{Cell, DataSource, Views};
use bidilel_math::Observer;
use bidilel_report::{DataRecord, MissingData};

use super::resolve::{Division, Needed, Offered, found, stand_in};
use crate::failure::worded;

/// Of fewer there is nothing to select.
const FEWEST_CANDIDATES: usize = 2;

/// Where data come from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Folders in this one.
    Folder(PathBuf),
    /// The generator, at this share of the real sizes.
    StandIns(f64),
}

/// Why a cell has no data.
#[derive(Debug, Clone)]
pub(crate) enum Absent {
    /// There are none; everything that the cell needs and that is not there, the whole dataset first.
    Missing(Vec<MissingData>),
    /// They are there, and cannot be used.
    Broken(String),
}

impl From<bidilel::Error> for Absent {
    fn from(error: bidilel::Error) -> Self {
        Self::Broken(worded(&error))
    }
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

impl Opened {
    /// Has the fingerprints of these views.
    fn know(&mut self, views: &[String]) -> Result<(), Absent> {
        let unknown = |view: &&String| !self.fingerprint.visual.contains_key(*view);
        let unknown: Vec<String> = views.iter().filter(unknown).cloned().collect();
        let more = DataFingerprint::of(&self.dataset, &unknown)?;
        self.fingerprint.visual.extend(more.visual);
        Ok(())
    }
}

/// What a cell is measured on, with the names of the dataset.
pub(crate) struct CellData {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) fingerprint: DataFingerprint,
    pub(crate) split: String,
    pub(crate) trials: Vec<Trial>,
    pub(crate) visual: Vec<String>,
    pub(crate) semantic: Vec<String>,
    /// What is other than published: `sentences` for word vectors, a part of the candidates for all of them.
    pub(crate) substitutes: Vec<String>,
    /// Candidates that are not there.
    pub(crate) absent: Vec<MissingData>,
    /// Whether divisions are others than those of the experiment.
    pub(crate) divisions: Option<String>,
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

    /// The data of a cell. Candidates of which the first few are taken need not all be there.
    pub(crate) fn cell(
        &mut self,
        cell: &Cell,
        source: &DataSource,
        watch: &dyn Observer,
    ) -> Result<CellData, Absent> {
        let title = source.title.clone().unwrap_or_else(|| cell.dataset.clone());
        let (seed, limit, place) = (self.seed, self.splits, self.place(&cell.dataset, source));
        let generated = self.stand_ins().is_some();
        let needed = Needed { title: &title, place: &place, cell, source };
        let opened = match self.opened(&cell.dataset, source, watch) {
            Ok(opened) => opened,
            Err(Absent::Missing(whole)) => {
                let parts = needed.split().into_iter().chain(needed.visual(&[])).chain(needed.semantic(&[]));
                return Err(Absent::Missing(whole.into_iter().chain(parts).collect()));
            }
            Err(broken) => return Err(broken),
        };
        let dataset = Arc::clone(&opened.dataset);
        let (mut substitutes, mut visual, mut semantic) = (Vec::new(), Vec::new(), Vec::new());
        let mut views: Vec<Offered<'_>> = dataset.visual.iter().map(Offered::visual).collect();
        let mut descriptions: Vec<Offered<'_>> = dataset.semantic.iter().map(Offered::semantic).collect();
        if generated {
            // Stand-ins have as many features as their scale says.
            views.iter_mut().chain(&mut descriptions).for_each(|offer| offer.dim = None);
        }
        for name in &cell.visual {
            visual.extend(found(&source.visual(name), &views, name, &mut substitutes));
        }
        for name in &cell.semantic {
            semantic.extend(found(&source.semantic(name), &descriptions, name, &mut substitutes));
        }
        let enough = match cell.views {
            Views::Named => cell.visual.len(),
            Views::First(count) => count.max(FEWEST_CANDIDATES),
        };
        let absent = needed.visual(&views);
        let mut lacking = if visual.len() < enough { absent.clone() } else { Vec::new() };
        lacking.extend(needed.semantic(&descriptions));
        if !lacking.is_empty() {
            return Err(Absent::Missing(lacking));
        }
        if !absent.is_empty() {
            substitutes.push(format!("selected from {} of {} candidates", visual.len(), cell.visual.len()));
        }
        let division = match needed.split_name() {
            None => Division::first(&dataset)?,
            Some(split) => Division::named(&dataset, &source.split(split), split, seed)?
                .ok_or_else(|| Absent::Missing(needed.split().into_iter().collect()))?,
        };
        let divisions = needed.other_divisions(&division).filter(|_| !generated);
        let Division { name, described, mut trials, .. } = division;
        trials.truncate(limit.unwrap_or(usize::MAX));
        opened.splits.insert(name.clone(), format!("{described}: {} used", trials.len()));
        opened.know(&visual)?;
        let fingerprint = opened.fingerprint.clone();
        Ok(CellData {
            dataset,
            fingerprint,
            split: name,
            trials,
            visual,
            semantic,
            substitutes,
            absent,
            divisions,
        })
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
                    return Err(Absent::Missing(vec![MissingData { what, get, put }]));
                };
                watch.stage("open");
                let opened = bidilel_data::open(&path).map_err(|error| Absent::Broken(error.to_string()))?;
                (opened.dataset, path.display().to_string())
            }
            Origin::StandIns(scale) => {
                watch.stage("generate");
                let (settings, from) = stand_in(source, *scale)?;
                (settings.generate_watched(self.seed, watch)?, from)
            }
        };
        let fingerprint = DataFingerprint::of(&dataset, &[])?;
        Ok(Opened { dataset: Arc::new(dataset), source: from, fingerprint, splits: BTreeMap::new() })
    }
}
