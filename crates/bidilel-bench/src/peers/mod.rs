//! Ours against NumPy, SciPy and faiss: `peers [DATASET FOLDER…]`, all in one run.
//!
//! Each program is its own process, so that peak memory is measured per program, and they alternate. Next to the seconds
//! stands the rate of the best GEMM, measured before every round: what the machine can do at that time.

mod environment;
mod ours;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use bidilel_data::{WriteOptions, write};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{data, say};
pub(crate) use ours::{Clock, child, forget_peak, peak_mb};
pub(crate) use table::{best_product, middle};

/// Rounds in which the programs alternate at a fit; the fastest run of each counts.
const ROUNDS: usize = 2;
/// Rounds of the neighbor search, whose rate is compared with a GEMM rate that changes from minute to minute.
const NEIGHBOR_ROUNDS: usize = 5;
pub(super) const NEIGHBORS: usize = 10;

/// What one run of either program reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) seconds: BTreeMap<String, f64>,
    pub(super) peak_mb: f64,
    /// Figures in which the programs must agree.
    pub(super) figures: BTreeMap<String, f64>,
}

/// Compares on synthetic data of AwA's size, and on the dataset folders that are named.
pub(crate) fn run(folders: &[String]) -> Result<()> {
    let rival = Rival::new()?;
    say(&format!("{} threads", rival.threads));
    table::neighbors(&rival.rounds("neighbors", &synthetic(1024)?, NEIGHBOR_ROUNDS)?);
    let mut tasks = vec![synthetic(4096)?];
    tasks.extend(folders.iter().map(PathBuf::from));
    for folder in tasks {
        let (ours, theirs) = best(rival.rounds("fit", &folder, ROUNDS)?)?;
        table::stages(&folder, &ours, &theirs);
    }
    Ok(())
}

/// Where data and the peers' environment are made.
pub(crate) fn scratch() -> Result<PathBuf> {
    let scratch = Path::new("target").join("bench");
    std::fs::create_dir_all(&scratch)?;
    Ok(scratch)
}

/// NumPy, SciPy and faiss.
pub(crate) struct Rival {
    script: PathBuf,
    python: PathBuf,
    threads: usize,
}

impl Rival {
    /// Makes their environment, if it is not there yet.
    pub(crate) fn new() -> Result<Self> {
        let scratch = scratch()?;
        let script = scratch.join("peers.py");
        std::fs::write(&script, include_str!("peers.py"))?;
        Ok(Self { script, python: environment::python(&scratch)?, threads: rayon::current_num_threads() })
    }

    /// One run of a stage.
    fn run(&self, stage: &str, folder: &Path) -> Result<Report> {
        let (threads, k) = (self.threads.to_string(), NEIGHBORS.to_string());
        report(Command::new(&self.python).arg(&self.script).arg(stage).arg(folder).arg(threads).arg(k))
    }

    /// Seconds to recognize the rows of a folder, and the mean index of the predicted classes.
    pub(crate) fn predict(&self, folder: &Path) -> Result<(f64, f64)> {
        let found = self.run("predict", folder)?;
        Ok((found.seconds["predict"], found.figures["mean label"]))
    }

    /// Seconds of one fit to 24,295 x 1,024 features in memory.
    pub(crate) fn fit(&self) -> Result<f64> {
        let found = self.run("fit", &synthetic(1024)?)?;
        Ok(found.seconds["total"] - found.seconds["load"])
    }

    /// Both programs alternately, each round after the best GEMM.
    fn rounds(&self, stage: &str, folder: &Path, count: usize) -> Result<Vec<Round>> {
        let round = |_| {
            let product = best_product::<f32>();
            let ours = report(Command::new(std::env::current_exe()?).arg("child").arg(stage).arg(folder))?;
            let theirs = self.run(stage, folder)?;
            for (name, own) in &ours.figures {
                let other = theirs.figures[name];
                ensure!((own - other).abs() <= 1e-4 * own.abs(), "{name} differs: {own} here, {other} there");
            }
            Ok(Round { product, ours, theirs })
        };
        (0..count).map(round).collect()
    }
}

/// One round.
struct Round {
    /// The rate of the best f32 GEMM just before, in GFLOP/s.
    product: f64,
    ours: Report,
    theirs: Report,
}

/// The fastest run of each.
fn best(rounds: Vec<Round>) -> Result<(Report, Report)> {
    let fastest = |reports: Vec<Report>| {
        reports.into_iter().min_by(|a, b| a.seconds["total"].total_cmp(&b.seconds["total"]))
    };
    let (ours, theirs) = rounds.into_iter().map(|round| (round.ours, round.theirs)).unzip();
    fastest(ours).zip(fastest(theirs)).context("no rounds")
}

fn report(command: &mut Command) -> Result<Report> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| format!("{command:?} printed no report"))
}

/// A dataset of 24,295 training instances, written once.
fn synthetic(dim: usize) -> Result<PathBuf> {
    let folder = scratch()?.join(format!("synthetic-24295x{dim}"));
    if !folder.join("dataset.toml").exists() {
        say(&format!("making {}", folder.display()));
        write(&data::synthetic(24_295, dim)?, &folder, WriteOptions::default())?;
    }
    Ok(folder)
}
