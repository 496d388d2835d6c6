//! A table from an experiment: its cells resolved, run, and laid out.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use bidilel::reproduce::Protocol;
use bidilel::tune::SHARE;
use bidilel_experiments::{Experiment, NAMES, Spread};
use bidilel_report::{
    CellStatus, CellUnit, Manifest, MissingData, Reduced, Reproduction, TableCell, TableColumn, TableRow,
    VERSION,
};

use super::cells::{self, Job};
use super::data::Absent;
use super::rows::{blank, failures, finished, header, mark, orders, published, unit, with_data};
use super::{Host, Journal, ReproductionOptions, Store, figures};
use crate::failure::{hinted, usage};

/// Folds of a dataset that says nothing of them.
const FOLDS: usize = 5;

/// An experiment with the name that its results have, and its text.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) experiment: Experiment,
}

impl Named {
    /// The experiment of a name or file.
    pub(crate) fn find(table: &str) -> Result<Self> {
        let is_file = Path::new(table).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        let (name, text) = match bidilel_experiments::source(table) {
            Some(text) => (table.to_owned(), text.to_owned()),
            None if is_file => {
                let text =
                    std::fs::read_to_string(table).with_context(|| format!("`{table}`: cannot be read"))?;
                let stem = Path::new(table).file_stem().map_or(table.into(), |stem| stem.to_string_lossy());
                (stem.into_owned(), text)
            }
            None => {
                let names: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
                let near = bidilel_data::closest(table, &names);
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(usage(format!(
                    "there is no table `{table}`: expected {}, all, or a .toml file{near}",
                    NAMES.join(", ")
                )));
            }
        };
        let experiment = Experiment::parse(&text).map_err(|error| {
            hinted(
                format!("`{table}`: {}", with_nearest(&error.to_string())),
                "`bidilel reproduce object-recognition --show` prints a file of the form that is expected",
            )
        })?;
        Ok(Self { name, text, experiment })
    }
}

/// A message that lists every name that was expected, with the one that was probably meant instead of a long list.
fn with_nearest(message: &str) -> String {
    const LIST: &str = ", expected one of ";
    let near = message.split_once(LIST).and_then(|(problem, list)| {
        let names: Vec<String> = list.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
        let found = problem.split('`').nth_back(1)?;
        Some(format!("{problem}; did you mean `{}`?", bidilel_data::closest(found, &names)?))
    });
    near.unwrap_or_else(|| message.to_owned())
}

/// Makes tables with what they have in common.
pub(crate) struct Maker<'a> {
    pub(crate) options: &'a ReproductionOptions,
    pub(crate) store: Store,
    pub(crate) journal: Journal,
    pub(crate) host: &'a dyn Host,
}

/// A table while its cells are resolved.
#[derive(Default)]
struct Resolved {
    jobs: Vec<Job>,
    absent: Vec<((usize, usize), Absent)>,
    notes: BTreeSet<String>,
}

impl Maker<'_> {
    /// The table of an experiment.
    ///
    /// # Errors
    /// What ends the whole table; a cell that fails is a cell that says so.
    pub(crate) fn table(&mut self, named: &Named) -> Result<Reproduction> {
        let Named { name, text, experiment } = named;
        let Resolved { jobs, absent, notes } = self.resolve(experiment)?;
        let done = cells::run(&jobs, experiment.select.as_ref(), &self.journal, self.host)?;
        let mut missing: BTreeSet<MissingData> = BTreeSet::new();
        let (mut rows, mut kept) = (Vec::new(), Vec::new());
        for (number, row) in experiment.rows.iter().enumerate() {
            let mut cells = Vec::new();
            let mut needed = BTreeSet::new();
            for (place, column) in experiment.columns.iter().enumerate() {
                let published = published(experiment, &row.id, &column.id);
                let at = (number, place);
                let cell = match (experiment.cell(row, column), done.get(&at)) {
                    (None, _) => TableCell::without(CellStatus::Empty, CellUnit::Accuracy, published, None),
                    (Some(cell), Some(found)) => {
                        let job = jobs.iter().find(|job| job.place == at);
                        needed.extend(job.iter().flat_map(|job| job.data.absent.iter().cloned()));
                        let cell = with_data(finished(&cell, found, experiment, published), job);
                        if self.store.stand_ins().is_some() { cell.incomparable() } else { cell }
                    }
                    (Some(cell), None) => match absent.iter().find(|(place, _)| *place == at) {
                        Some((_, Absent::Missing(data))) => {
                            needed.extend(data.iter().cloned());
                            let what = data.first().map(|first| first.what.clone());
                            TableCell::without(CellStatus::Missing, unit(&cell), published, what)
                        }
                        Some((_, Absent::Broken(problem))) => TableCell::without(
                            CellStatus::Failed,
                            unit(&cell),
                            published,
                            Some(problem.clone()),
                        ),
                        None => TableCell::without(CellStatus::Empty, unit(&cell), published, None),
                    },
                };
                cells.push(cell);
            }
            let nothing =
                cells.iter().all(|cell| matches!(cell.status, CellStatus::Missing | CellStatus::Empty));
            // What the publication does not have is not asked for.
            if row.extra && nothing {
                continue;
            }
            if row.extra {
                blank(&mut cells);
            } else {
                missing.extend(needed);
            }
            kept.push(number);
            rows.push(TableRow {
                id: row.id.clone(),
                labels: row.labels.clone(),
                group: row.group.clone(),
                cells,
            });
        }
        mark(experiment.best, &mut rows);
        let figures = figures::of(experiment, &rows, &kept, &done);
        let mut notes: Vec<String> =
            self.caveats().into_iter().chain(experiment.notes.clone()).chain(notes).collect();
        notes.extend(orders(experiment, &jobs, &done));
        notes.extend(failures(experiment, &rows));
        let used: BTreeSet<String> = jobs.iter().map(|job| job.cell.dataset.clone()).collect();
        Ok(Reproduction {
            experiment: name.clone(),
            title: experiment.title.clone(),
            published: experiment.paper.clone(),
            spread: match experiment.spread {
                Spread::StandardError => "standard-error".to_owned(),
                Spread::StandardDeviation => "standard-deviation".to_owned(),
            },
            stub: experiment.stub.iter().map(|by| header(by, experiment)).collect(),
            columns: experiment
                .columns
                .iter()
                .map(|column| TableColumn { id: column.id.clone(), labels: column.labels.clone() })
                .collect(),
            rows,
            figures,
            missing: missing.into_iter().collect(),
            notes,
            manifest: self.manifest(text, &used.into_iter().collect::<Vec<_>>()),
        })
    }

    /// What makes these numbers others than those of the whole experiment.
    fn caveats(&self) -> Vec<String> {
        let ReproductionOptions { splits, folds, starts, .. } = self.options;
        let stand_ins = self.store.stand_ins().map(|scale| {
            format!(
                "made of generated stand-ins with {scale} of the real instances and features: no number compares with a published one"
            )
        });
        let limits = [
            splits.map(|most| format!("divisions of the classes {most}")),
            folds.map(|most| match most {
                0 => "no search for settings, these are the defaults".to_owned(),
                most => format!("folds {most}"),
            }),
            starts.map(|most| format!("starts {most}")),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        let reduced = (!limits.is_empty()).then(|| format!("reduced to: {}", limits.join(", ")));
        stand_ins.into_iter().chain(reduced).collect()
    }

    fn manifest(&self, text: &str, used: &[String]) -> Manifest {
        let (options, stand_ins) = (self.options, self.store.stand_ins());
        let reduced =
            Reduced { splits: options.splits, folds: options.folds, starts: options.starts, stand_ins };
        let whole = Reduced { splits: None, folds: None, starts: None, stand_ins: None };
        Manifest {
            version: VERSION.to_owned(),
            experiment: bidilel::reproduce::fingerprint_of_text(text),
            seed: options.seed,
            reduced: (reduced != whole).then_some(reduced),
            data: self.store.records(used),
            machines: self.journal.machines(),
        }
    }

    fn resolve(&mut self, experiment: &Experiment) -> Result<Resolved> {
        let mut resolved = Resolved::default();
        for (row, line) in experiment.rows.iter().enumerate() {
            for (column, other) in experiment.columns.iter().enumerate() {
                let Some(cell) = experiment.cell(line, other) else { continue };
                if self.host.of_fits().poll().is_break() {
                    return Err(bidilel::Error::Cancelled.into());
                }
                let source = experiment.datasets.get(&cell.dataset).cloned().unwrap_or_default();
                let data = match self.store.cell(&cell, &source, self.host.observer()) {
                    Ok(data) => data,
                    Err(absent) => {
                        resolved.absent.push(((row, column), absent));
                        continue;
                    }
                };
                let title = source.title.clone().unwrap_or_else(|| cell.dataset.clone());
                resolved.notes.extend(data.substitutes.iter().map(|note| format!("§ {title}: {note}")));
                resolved.notes.extend(data.divisions.clone());
                let folds = source.folds.unwrap_or(FOLDS).min(self.options.folds.unwrap_or(usize::MAX));
                let protocol = Protocol {
                    share: source.holdout.unwrap_or(SHARE),
                    folds,
                    named: source.validation,
                    seed: self.options.seed,
                };
                let starts = cell.starts.min(self.options.starts.unwrap_or(u16::MAX));
                let name = format!("{} · {}", line.labels.join(" "), other.labels.join(" "));
                resolved.jobs.push(Job { place: (row, column), name, cell, data, protocol, starts });
            }
        }
        self.host.stage_over();
        Ok(resolved)
    }
}
