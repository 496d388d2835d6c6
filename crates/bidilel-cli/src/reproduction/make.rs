//! Tables by name: what `bidilel reproduce` and other front ends share.

use std::path::PathBuf;

use anyhow::{Context, Result};
use bidilel_experiments::{Experiment, NAMES};
use bidilel_report::Reproduction;
use serde::Serialize;

use super::table::{Maker, Named};
use super::{Host, Journal, Origin, Store, files};
use crate::failure::usage;
use crate::output;

/// The name that stands for all tables of the paper.
const ALL: &str = "all";
/// The journal's name in the folder of the results.
const JOURNAL: &str = "journal.jsonl";
/// More than the files of a table take.
const OUTPUT_BYTES: u64 = 1 << 20;

/// From what tables are made, and how much of it.
#[derive(Debug, Clone)]
pub struct ReproductionOptions {
    /// Where the data are.
    pub origin: Origin,
    /// The folder that tables and the journal are written to.
    pub out: Option<PathBuf>,
    /// Whether the journal in `out` is continued.
    pub resume: bool,
    /// At most so many divisions of the classes.
    pub splits: Option<usize>,
    /// At most so many folds of the known classes; without any, settings are the defaults.
    pub folds: Option<usize>,
    /// At most so many random starts.
    pub starts: Option<u16>,
    /// Seed of everything random.
    pub seed: u64,
}

/// The experiments of names or files, `all` among them; every file is read before anything is computed.
pub(crate) fn named(tables: &[String]) -> Result<Vec<Named>> {
    let tables: Vec<&str> = match tables {
        [all] if all == ALL => NAMES.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    tables.into_iter().map(Named::find).collect()
}

/// Makes tables, and writes them where there is a folder for them.
pub(crate) fn make(
    tables: &[Named],
    options: &ReproductionOptions,
    host: &dyn Host,
) -> Result<Vec<Reproduction>> {
    check(options)?;
    let mut maker = Maker {
        options,
        store: Store::new(options.origin.clone(), options.seed, options.splits),
        journal: journal(options, host)?,
        host,
    };
    let mut made = Vec::new();
    for named in tables {
        let table = maker.table(named)?;
        let (measured, cells) = table.counts();
        if measured < cells {
            host.observer().note(&format!(
                "{}: {measured} of {cells} cells have data; the table says what is missing",
                named.name
            ));
        }
        if let Some(folder) = &options.out {
            files::write(&table, folder)?;
        }
        made.push(table);
    }
    Ok(made)
}

/// What the command line checks by itself, for those who come without one.
fn check(options: &ReproductionOptions) -> Result<()> {
    match &options.origin {
        Origin::Folder(folder) if !folder.is_dir() => {
            return Err(usage(format!(
                "`{}`: there is no such folder; expected the folder of the datasets' folders",
                folder.display()
            )));
        }
        Origin::StandIns(scale) if !(*scale > 0.0 && *scale <= 1.0) => {
            return Err(usage(format!("scale must be above 0 and up to 1, found {scale}")));
        }
        _ => {}
    }
    let starts = options.starts.map(usize::from);
    for (name, count) in [("splits", options.splits), ("starts", starts)] {
        if count == Some(0) {
            return Err(usage(format!("{name} must be at least 1, found 0")));
        }
    }
    if options.resume && options.out.is_none() {
        return Err(usage("resume needs the folder of a journal, out"));
    }
    Ok(())
}

fn journal(options: &ReproductionOptions, host: &dyn Host) -> Result<Journal> {
    let Some(folder) = &options.out else { return Ok(Journal::forgetful()) };
    output::need_name(folder, "tables")?;
    std::fs::create_dir_all(folder).with_context(|| format!("`{}`: cannot be made", folder.display()))?;
    bidilel_data::probe_folder(folder, OUTPUT_BYTES)?;
    let journal = Journal::open(&folder.join(JOURNAL), options.resume)?;
    if options.resume {
        host.observer().note(&format!("{} computations are in the journal", journal.len()));
    }
    Ok(journal)
}

/// A table or figure of the paper that can be made.
#[derive(Debug, Clone, Serialize)]
pub struct ListedExperiment {
    /// Its name.
    pub name: &'static str,
    /// Its label in the paper.
    pub published: Option<String>,
    /// What it shows.
    pub title: String,
    /// Datasets that it needs.
    pub datasets: Vec<String>,
}

impl ListedExperiment {
    /// All of them.
    pub fn all() -> Vec<Self> {
        NAMES.iter().filter_map(|name| Some(Self::of(name, &Experiment::named(name)?))).collect()
    }

    fn of(name: &'static str, experiment: &Experiment) -> Self {
        let mut datasets: Vec<String> = Vec::new();
        for row in &experiment.rows {
            for cell in experiment.columns.iter().filter_map(|column| experiment.cell(row, column)) {
                if !datasets.contains(&cell.dataset) {
                    datasets.push(cell.dataset);
                }
            }
        }
        Self { name, published: experiment.paper.clone(), title: experiment.title.clone(), datasets }
    }
}
