//! `reproduce`: tables of the paper, as the program makes them.

use std::ops::ControlFlow;
use std::path::PathBuf;

use bidilel::Observer;
use bidilel_cli::{CellTrial, Host, ListedExperiment, Origin, ReproductionOptions};
use pyo3::prelude::*;

use crate::json::{plain, versioned_list};
use crate::run::{Running, run};
use crate::watch::Watch;

/// What progress is told by.
const CELLS: &str = "cells";

/// How much of a table is made.
#[derive(FromPyObject)]
pub(crate) struct Extent {
    #[pyo3(item)]
    splits: Option<usize>,
    #[pyo3(item)]
    folds: Option<usize>,
    #[pyo3(item)]
    starts: Option<u16>,
}

/// Cells as they are done are progress; of single fits nothing is told.
struct Told<'a> {
    watch: &'a Watch,
    fits: Polled<'a>,
}

impl Host for Told<'_> {
    fn observer(&self) -> &dyn Observer {
        self.watch
    }

    fn of_fits(&self) -> &dyn Observer {
        &self.fits
    }

    fn planned(&self, total: usize) {
        self.watch.stage(CELLS);
        self.watch.plan(total);
    }

    fn measured(&self, _: &CellTrial<'_>) {
        self.watch.count();
    }
}

/// Cancels and says nothing.
struct Polled<'a>(&'a Watch);

impl Observer for Polled<'_> {
    fn poll(&self) -> ControlFlow<()> {
        self.0.poll()
    }
}

/// Makes tables by name or file, from the datasets in a folder or from stand-ins at a scale, and returns a JSON list.
#[pyfunction]
#[pyo3(signature = (tables, *, data, scale, out, resume, extent, seed, running))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, which names them")]
pub(crate) fn reproduce(
    py: Python<'_>,
    tables: Vec<String>,
    data: Option<PathBuf>,
    scale: f64,
    out: Option<PathBuf>,
    resume: bool,
    extent: Extent,
    seed: u64,
    running: Running,
) -> PyResult<String> {
    let Extent { splits, folds, starts } = extent;
    let origin = data.map_or(Origin::StandIns(scale), Origin::Folder);
    let options = ReproductionOptions { origin, out, resume, splits, folds, starts, seed };
    let made = run(py, &running, |watch| {
        let host = Told { watch, fits: Polled(watch) };
        Ok(bidilel_cli::reproduce(&tables, &options, &host)?)
    })?;
    versioned_list(&made)
}

/// The tables and figures of the paper, as a JSON list.
#[pyfunction]
pub(crate) fn reproductions() -> PyResult<String> {
    plain(&ListedExperiment::all())
}
