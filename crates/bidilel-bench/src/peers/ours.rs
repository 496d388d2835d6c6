//! Our side of the comparison, in its own process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Slpp};
use bidilel::pipeline::Pipeline;
use bidilel::task::{Choice, Task};
use bidilel_data::open;
use bidilel_math::{Observer, neighbors};

use super::{NEIGHBORS, Report};
use crate::say;

/// Runs one stage on a dataset folder and prints the report.
pub(crate) fn child(stage: &str, folder: &str) -> Result<()> {
    let clock = Clock::default();
    let started = Instant::now();
    let dataset = open(Path::new(folder))?.dataset;
    let trial = dataset.trials(None)?.swap_remove(0);
    let task = Task::new(&dataset, &trial, &Choice::default(), &clock)?;
    // The files are not needed any more, and their pages would count.
    drop(dataset);
    let mut figures = BTreeMap::new();
    match stage {
        "neighbors" => {
            clock.stage("neighbors");
            let found = neighbors::exact(task.train.features.as_ref(), NEIGHBORS, &clock);
            let all = (0..found.count()).flat_map(|i| found.of(i).iter()).map(|(_, distance)| distance);
            let mean = all.sum::<f64>() / (found.count() * NEIGHBORS) as f64;
            figures.insert("mean distance".to_owned(), mean);
        }
        "fit" => {
            let locality = Locality { dim: Some(100), neighbors: NEIGHBORS, ..Locality::default() };
            let bottom_up = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
            let fitted = Pipeline { bottom_up, ..Pipeline::default() }.fit(&task, &clock)?;
            figures.insert("stress".to_owned(), fitted.stress);
        }
        other => bail!("no stage {other}"),
    }
    let mut seconds = clock.finish();
    seconds.insert("total".to_owned(), started.elapsed().as_secs_f64());
    say(&serde_json::to_string(&Report { seconds, peak_mb: peak_mb()?, figures })?);
    Ok(())
}

/// Seconds of every stage.
#[derive(Default)]
pub(crate) struct Clock(Mutex<Stages>);

#[derive(Default)]
struct Stages {
    done: BTreeMap<String, f64>,
    now: Option<(&'static str, Instant)>,
}

impl Clock {
    fn change(&self, next: Option<&'static str>) {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((stage, since)) = state.now.take() {
            *state.done.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64();
        }
        state.now = next.map(|stage| (stage, Instant::now()));
    }

    pub(crate) fn finish(self) -> BTreeMap<String, f64> {
        self.change(None);
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).done
    }
}

impl Observer for Clock {
    fn stage(&self, name: &'static str) {
        self.change(Some(name));
    }
}

/// Resets the peak of this process's resident memory.
pub(crate) fn forget_peak() -> Result<()> {
    std::fs::write("/proc/self/clear_refs", "5").context("the peak of memory is kept by /proc")
}

/// The peak of this process's resident memory.
pub(crate) fn peak_mb() -> Result<f64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("the peak of memory is read from /proc")?;
    let line =
        status.lines().find(|line| line.starts_with("VmHWM")).context("no VmHWM in /proc/self/status")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).context("no number in VmHWM")?.parse()?;
    Ok(kilobytes / 1024.0)
}
