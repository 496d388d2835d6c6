//! Ours against NumPy, SciPy and faiss: `peers [DATASET FOLDER…]`, all in one run.
//!
//! Each program is a process of its own, so that the peak of its memory is its own, and they take turns. Beside the
//! seconds stands the rate of the best matrix product, measured in the same run: what the machine can do.

mod environment;
mod ours;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use bidilel::synthetic::{Synthetic, View};
use bidilel_data::{WriteOptions, write};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::say;
pub(crate) use ours::{Clock, child, peak_mb};
pub(crate) use table::Peak;

/// Rounds in which the programs take turns; the faster of its runs stands for each.
const ROUNDS: usize = 2;
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
    let scratch = Path::new("target").join("bench");
    std::fs::create_dir_all(&scratch)?;
    std::fs::write(scratch.join("peers.py"), include_str!("peers.py"))?;
    let python = environment::python(&scratch)?;
    let threads = rayon::current_num_threads();
    let peak = Peak::measure();
    say(&format!("{threads} threads; best f32 product {:.0} GFLOP/s, f64 {:.0}", peak.single, peak.double));
    let rival = Rival { scratch: &scratch, python, threads };

    let narrow = synthetic(&scratch, 1024)?;
    let (ours, theirs) = rival.compare("neighbors", &narrow)?;
    table::neighbors(&ours, &theirs, &peak);
    let mut tasks = vec![synthetic(&scratch, 4096)?];
    tasks.extend(folders.iter().map(PathBuf::from));
    for folder in tasks {
        let (ours, theirs) = rival.compare("fit", &folder)?;
        table::stages(&folder, &ours, &theirs);
    }
    Ok(())
}

struct Rival<'a> {
    scratch: &'a Path,
    python: PathBuf,
    threads: usize,
}

impl Rival<'_> {
    /// The best run of each.
    fn compare(&self, stage: &str, folder: &Path) -> Result<(Report, Report)> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let script = self.scratch.join("peers.py");
        for _ in 0..ROUNDS {
            let own = std::env::current_exe()?;
            ours.push(report(Command::new(own).arg("child").arg(stage).arg(folder))?);
            let (threads, k) = (self.threads.to_string(), NEIGHBORS.to_string());
            theirs.push(report(
                Command::new(&self.python).arg(&script).arg(stage).arg(folder).arg(threads).arg(k),
            )?);
        }
        let best = |reports: Vec<Report>| {
            reports.into_iter().min_by(|a, b| a.seconds["total"].total_cmp(&b.seconds["total"]))
        };
        let (ours, theirs) = best(ours).zip(best(theirs)).context("no rounds")?;
        for (name, own) in &ours.figures {
            let other = theirs.figures[name];
            ensure!((own - other).abs() <= 1e-4 * own.abs(), "{name} differs: {own} here, {other} there");
        }
        Ok((ours, theirs))
    }
}

fn report(command: &mut Command) -> Result<Report> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| format!("{command:?} printed no report"))
}

/// A dataset of 24,295 training instances, written once.
fn synthetic(scratch: &Path, dim: usize) -> Result<PathBuf> {
    let folder = scratch.join(format!("synthetic-24295x{dim}"));
    if !folder.join("dataset.toml").exists() {
        say(&format!("making {}", folder.display()));
        let dataset = Synthetic {
            known: 40,
            unseen: 10,
            validation: 0,
            trials: 0,
            imbalance: 0.0,
            instances_per_class: 607.375,
            views: vec![View { name: "cnn".to_owned(), dim }],
            ..Synthetic::preset("awa")?
        };
        write(&dataset.generate(0)?, &folder, WriteOptions::default())?;
    }
    Ok(folder)
}
