//! One point of a curve: a fit of some rows, or some iterations of the mapping of some classes.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Slpp};
use bidilel::landmarks::Landmarks;
use bidilel::pipeline::Pipeline;
use bidilel::semantic::{ClassSemantics, Representation};
use bidilel::task::{Choice, Task};
use bidilel::top_down::{ClassEmbedder, Lsm};
use bidilel_math::{Observer, distance};
use faer::Mat;

use crate::data::synthetic;
use crate::peers::{Clock, peak_mb};
use crate::say;

const DIM: usize = 1024;
/// Known classes and latent dimensions of the mapping.
const KNOWN: usize = 1000;
const LATENT: usize = 300;
/// Iterations of the mapping that are timed, after the first, which searches for the step length.
const ITERATIONS: usize = 10;

/// One point of a curve, in its own process.
pub(crate) fn child(what: &str, size: &str) -> Result<()> {
    let size = size.parse().context("a number of rows or classes")?;
    match what {
        "rows" => fit(size),
        "classes" => map(size),
        other => bail!("expected rows or classes, found {other}"),
    }
}

fn fit(rows: usize) -> Result<()> {
    let dataset = synthetic(rows, DIM)?;
    let trial = dataset.trials(None)?.swap_remove(0);
    let task = Task::new(&dataset, &trial, &Choice::default(), &bidilel_math::Silent)?;
    drop(dataset);
    let locality = Locality { dim: Some(100), ..Locality::default() };
    let bottom_up = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
    let (clock, started) = (Clock::default(), Instant::now());
    Pipeline { bottom_up, ..Pipeline::default() }.fit(&task, &clock)?;
    let total = started.elapsed().as_secs_f64();
    let seconds = clock.finish();
    let stages = ["neighbors", "scatter", "eigen", "top_down"].map(|stage| format!("{:.3}", seconds[stage]));
    say(&format!("{},{},{total:.3},{:.0}", task.train.labels.len(), stages.join(","), peak_mb()?));
    Ok(())
}

fn map(unseen: usize) -> Result<()> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut unit = |rows: usize, columns: usize| {
        let mut matrix = Mat::from_fn(rows, columns, |_, _| next());
        distance::normalize_columns(matrix.as_mut());
        matrix
    };
    let landmarks = Landmarks { points: unit(LATENT, KNOWN) };
    let metric = bidilel::dataset::Metric::Cosine;
    let one = Representation::new("vectors", 1.0, metric, unit(LATENT, KNOWN + unseen));
    let started = Instant::now();
    let semantics = ClassSemantics::from_representations(vec![one], KNOWN);
    let distances = started.elapsed().as_secs_f64();
    let lsm = Lsm { max_iterations: ITERATIONS + 1, ..Lsm::default() };
    let (steps, started) = (Steps::default(), Instant::now());
    lsm.embed(&landmarks, &semantics, &steps)?;
    let steps = steps.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (first, last) = steps.get(1).zip(steps.last()).context("the mapping took no step")?;
    let start = first.duration_since(started).as_secs_f64();
    let iteration = last.duration_since(*first).as_secs_f64() / (steps.len() - 2).max(1) as f64;
    say(&format!("{unseen},{distances:.3},{start:.3},{iteration:.3},{:.0}", peak_mb()?));
    Ok(())
}

/// When every iteration began.
#[derive(Default)]
struct Steps(Mutex<Vec<Instant>>);

impl Observer for Steps {
    fn step(&self, _: usize, _: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
    }
}
