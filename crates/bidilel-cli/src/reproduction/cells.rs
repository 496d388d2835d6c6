//! Cells that have data, run trial by trial: those over the same views share what is loaded and what is learned of it.

use std::collections::BTreeMap;

use anyhow::Result;
use bidilel::reproduce::{Bench, Choice, Measured, Protocol};
use bidilel::settings::Settings;
use bidilel_experiments::{Cell, Select, Show, Views};

use super::data::CellData;
use super::{CellTrial, Host, Journal};
use crate::failure::worded;

/// A cell with its data.
pub(super) struct Job {
    /// Row and column.
    pub(super) place: (usize, usize),
    /// For progress.
    pub(super) name: String,
    pub(super) cell: Cell,
    pub(super) data: CellData,
    pub(super) protocol: Protocol,
    pub(super) starts: u16,
}

/// What came of a job.
#[derive(Default)]
pub(super) struct Done {
    /// What was chosen in every trial, by the trial's name.
    pub(super) choices: Vec<(String, Choice)>,
    pub(super) runs: Vec<Measured>,
    /// Views in the order of Algorithm 2 in the first trial.
    pub(super) order: Vec<String>,
    pub(super) failure: Option<String>,
}

/// Runs all jobs; results are by row and column.
///
/// # Errors
/// What ends the whole table: the user, or a journal that cannot be written.
pub(super) fn run(
    jobs: &[Job],
    select: Option<&Select>,
    journal: &Journal,
    host: &dyn Host,
) -> Result<BTreeMap<(usize, usize), Done>> {
    let total = jobs.iter().map(|job| job.data.trials.len()).sum();
    host.planned(total);
    let mut running = Running { select, journal, host, total, count: 0, done: BTreeMap::new() };
    for group in groups(jobs) {
        for number in 0..group[0].data.trials.len() {
            running.trial(&group, number)?;
        }
    }
    host.stage_over();
    Ok(running.done)
}

/// Jobs over the same trials and views, or candidates for views.
fn groups(jobs: &[Job]) -> Vec<Vec<&Job>> {
    let mut groups: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        let own = |job: &Job| {
            let CellData { split, visual, .. } = &job.data;
            (job.cell.dataset.clone(), split.clone(), visual.clone(), job.cell.views == Views::Named)
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| own(first) == own(job))) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}

/// A table while its cells are run.
struct Running<'a> {
    select: Option<&'a Select>,
    journal: &'a Journal,
    host: &'a dyn Host,
    total: usize,
    count: usize,
    done: BTreeMap<(usize, usize), Done>,
}

/// Settings that were chosen for a job, and what decides its latent space.
struct Chosen<'j> {
    job: &'j Job,
    choice: Choice,
    settings: Settings,
    space: String,
}

impl<'a> Running<'a> {
    /// One trial of the jobs of a group.
    fn trial(&mut self, group: &[&Job], number: usize) -> Result<()> {
        let works = |job: &&&Job| self.done.get(&job.place).is_none_or(|result| result.failure.is_none());
        let group: Vec<&Job> = group.iter().filter(works).copied().collect();
        let orders = self.orders(&group, number)?;
        let mut parts: Vec<(Vec<String>, Vec<&Job>)> = Vec::new();
        for job in group {
            let views = match job.cell.views {
                Views::Named => Some(job.data.visual.clone()),
                Views::First(count) => match orders.get(&job.data.semantic) {
                    Some(order) => self.usable(job, taken(order, count))?,
                    None => None,
                },
            };
            // Without views the job has failed, and says why.
            let Some(views) = views else { continue };
            match parts.iter_mut().find(|(own, _)| *own == views) {
                Some((_, jobs)) => jobs.push(job),
                None => parts.push((views, vec![job])),
            }
        }
        parts.into_iter().try_for_each(|(views, jobs)| self.part(views, &jobs, number))
    }

    /// The views in the order of Algorithm 2, by the descriptions that choose the first, for jobs that take some of them.
    fn orders(&mut self, group: &[&Job], number: usize) -> Result<BTreeMap<Vec<String>, Vec<String>>> {
        let first = group.iter().find(|job| job.cell.views != Views::Named);
        let (Some(first), Some(select)) = (first, self.select) else { return Ok(BTreeMap::new()) };
        let mut semantics: Vec<Vec<String>> = Vec::new();
        for job in group {
            if !semantics.contains(&job.data.semantic) {
                semantics.push(job.data.semantic.clone());
            }
        }
        let mut bench = self.bench(first, number, first.data.visual.clone());
        let watch = self.host.of_fits();
        match bench.order_views(&semantics, select.neighbors, select.most, watch) {
            Ok(orders) => {
                let orders: BTreeMap<_, _> = semantics.into_iter().zip(orders).collect();
                for job in group {
                    let order = &mut self.done.entry(job.place).or_default().order;
                    if let (true, Some(found)) = (order.is_empty(), orders.get(&job.data.semantic)) {
                        order.clone_from(found);
                    }
                }
                Ok(orders)
            }
            Err(error) => {
                let problem = ends_cell(error)?;
                for job in group {
                    self.done.entry(job.place).or_default().failure = Some(problem.clone());
                }
                Ok(BTreeMap::new())
            }
        }
    }

    fn bench(&self, job: &Job, number: usize, views: Vec<String>) -> Bench<'a> {
        let Job { data, protocol, .. } = job;
        let (dataset, trial) = (data.dataset.clone(), data.trials[number].clone());
        Bench::with(dataset, trial, views, *protocol, &data.fingerprint, self.journal)
    }

    /// One trial of jobs over the same views: settings are chosen for all of them, then those run after each other whose
    /// settings give the same latent space, so that it is learned once.
    fn part(&mut self, views: Vec<String>, jobs: &[&Job], number: usize) -> Result<()> {
        let mut bench = self.bench(jobs[0], number, views);
        let (host, mut all) = (self.host, Vec::new());
        for job in jobs {
            let chosen = chosen(&mut bench, job, host);
            let chosen = self.usable(job, chosen)?;
            if chosen.as_ref().is_some_and(|chosen| chosen.choice.folds > 0)
                && job.cell.show == Show::Accuracy
            {
                host.chosen(&job.name);
            }
            all.extend(chosen);
        }
        bench.end_search();
        let spaces: Vec<String> = all.iter().map(|chosen| chosen.space.clone()).collect();
        all.sort_by_key(|chosen| spaces.iter().position(|space| *space == chosen.space));
        for Chosen { job, choice, settings, .. } in all {
            let mut runs = Vec::new();
            if job.cell.show == Show::Accuracy {
                let measured = bench.run(&settings, job.starts, host.of_fits());
                let Some(measured) = self.usable(job, measured)? else { continue };
                runs = measured;
            }
            self.count += 1;
            host.measured(&CellTrial {
                done: self.count,
                total: self.total,
                cell: &job.name,
                trial: number,
                trials: job.data.trials.len(),
                per_class: runs.last().map(|run| run.per_class),
            });
            let result = self.done.entry(job.place).or_default();
            result.runs.extend(runs);
            result.choices.push((job.data.trials[number].name.clone(), choice));
        }
        Ok(())
    }

    /// What came of a step of a job, which has failed where there is nothing.
    fn usable<T>(&mut self, job: &Job, result: bidilel::Result<T>) -> Result<Option<T>> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err(error) => {
                self.done.entry(job.place).or_default().failure = Some(ends_cell(error)?);
                Ok(None)
            }
        }
    }
}

/// Why a cell failed.
///
/// # Errors
/// What ends the whole table.
fn ends_cell(error: bidilel::Error) -> Result<String> {
    match error {
        bidilel::Error::Cancelled | bidilel::Error::Journal { .. } => Err(error.into()),
        error => Ok(worded(&error)),
    }
}

/// The first views of an order.
fn taken(order: &[String], count: usize) -> bidilel::Result<Vec<String>> {
    if count <= order.len() {
        return Ok(order[..count].to_vec());
    }
    let expected = format!("at most {}, because so many are there", order.len()).into();
    Err(bidilel::Error::Setting { setting: "visual", expected, found: count.to_string() })
}

fn chosen<'j>(bench: &mut Bench<'_>, job: &'j Job, host: &dyn Host) -> bidilel::Result<Chosen<'j>> {
    let choice = bench.choose(&job.cell.search, &job.data.semantic, host.of_fits())?;
    let settings = choice.settings.with(&job.cell.settings)?;
    let space = bench.space_of(&settings)?;
    Ok(Chosen { job, choice, settings, space })
}
