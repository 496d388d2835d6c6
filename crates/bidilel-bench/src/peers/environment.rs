//! The Python environment of the peers: made once, from pinned packages, in the build's target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::say;

/// The packages, at the versions that the figures in `docs/performance.md` were measured with.
const PACKAGES: [&str; 5] =
    ["numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1", "faiss-cpu==1.15.1", "threadpoolctl==3.8.0"];

/// The interpreter, with the packages installed.
pub(super) fn python(scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("peers");
    let python = folder.join("bin").join("python");
    let done = folder.join("packages.txt");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    say("making the peers' Python environment");
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    std::fs::write(&done, wanted).with_context(|| format!("cannot write {}", done.display()))?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}
