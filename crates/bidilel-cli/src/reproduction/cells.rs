//! Cells that have data, run trial by trial: those over the same views share what is loaded.

use std::collections::BTreeMap;

use anyhow::Result;
use bidilel::reproduce::{Bench, Choice, Measured, Protocol};
use bidilel_experiments::{Cell, Select, Show, Views};
use bidilel_math::Observer;

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
    pub(super) choices: Vec<Choice>,
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
    let mut done: BTreeMap<(usize, usize), Done> = BTreeMap::new();
    let (mut count, total) = (0, jobs.iter().map(|job| job.data.trials.len()).sum());
    host.planned(total);
    let mut groups: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        let shares = |other: &&Job| {
            let own = |job: &Job| (job.cell.dataset.clone(), job.data.split.clone(), job.data.visual.clone());
            own(other) == own(job) && job.cell.views == Views::Named && other.cell.views == Views::Named
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(shares)) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    for group in &groups {
        for number in 0..group[0].data.trials.len() {
            let mut bench = None;
            for job in group {
                let result = done.entry(job.place).or_default();
                if result.failure.is_some() {
                    continue;
                }
                match one(job, number, select, &mut bench, result, journal, host.of_fits()) {
                    Ok(()) => {
                        count += 1;
                        host.measured(&CellTrial {
                            done: count,
                            total,
                            cell: &job.name,
                            trial: number,
                            trials: job.data.trials.len(),
                            per_class: result.runs.last().map(|run| run.per_class),
                        });
                    }
                    Err(error @ (bidilel::Error::Cancelled | bidilel::Error::Journal { .. })) => {
                        return Err(error.into());
                    }
                    Err(error) => result.failure = Some(worded(&error)),
                }
            }
        }
    }
    host.stage_over();
    Ok(done)
}

/// One trial of a job.
fn one<'j>(
    job: &Job,
    number: usize,
    select: Option<&Select>,
    bench: &mut Option<(Protocol, Bench<'j>)>,
    result: &mut Done,
    journal: &'j Journal,
    watch: &dyn Observer,
) -> bidilel::Result<()> {
    let Job { cell, data, protocol, .. } = job;
    let make = |views: Vec<String>| {
        let (dataset, trial) = (data.dataset.clone(), data.trials[number].clone());
        Bench::with(dataset, trial, views, *protocol, &data.fingerprint, journal)
    };
    let views = match (&cell.views, select) {
        (Views::First(count), Some(select)) => {
            let order = make(data.visual.clone()).order_views(
                &data.semantic,
                select.neighbors,
                select.most,
                watch,
            )?;
            if result.order.is_empty() {
                result.order.clone_from(&order);
            }
            if *count > order.len() {
                let expected = format!("at most {}, because so many are there", order.len()).into();
                return Err(bidilel::Error::Setting {
                    setting: "visual",
                    expected,
                    found: count.to_string(),
                });
            }
            order.into_iter().take(*count).collect()
        }
        _ => data.visual.clone(),
    };
    if bench.as_ref().is_none_or(|(known, _)| known != protocol) || cell.views != Views::Named {
        *bench = Some((*protocol, make(views)));
    }
    let Some((_, bench)) = bench else { unreachable!("it was just made") };
    let choice = bench.choose(&cell.search, &data.semantic, watch)?;
    let settings = choice.settings.with(&cell.settings)?;
    if cell.show == Show::Accuracy {
        result.runs.extend(bench.run(&settings, job.starts, watch)?);
    }
    result.choices.push(choice);
    Ok(())
}
