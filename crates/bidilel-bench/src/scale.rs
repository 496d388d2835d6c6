//! How cost grows: `scale rows` fits 1,000 to 100,000 rows, `scale classes` maps 50 to 20,000 unseen classes.
//!
//! Every point is a process of its own, so that the peak of its memory is its own. The tables are CSV, and each is
//! drawn into `docs/` beside what is printed.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use bidilel::bottom_up::{BottomUp, Locality, Slpp};
use bidilel::landmarks::Landmarks;
use bidilel::pipeline::Pipeline;
use bidilel::semantic::{ClassSemantics, Representation};
use bidilel::synthetic::{Synthetic, View};
use bidilel::task::{Choice, Task};
use bidilel::top_down::{ClassEmbedder, Lsm};
use bidilel_math::distance;
use faer::Mat;

use crate::peers::{Clock, peak_mb};
use crate::say;

const ROWS: [usize; 7] = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
const CLASSES: [usize; 6] = [50, 200, 1_000, 5_000, 10_000, 20_000];
const DIM: usize = 1024;
/// Known classes and latent dimensions of the mapping.
const KNOWN: usize = 1000;
const LATENT: usize = 300;
/// Iterations of the mapping that are timed: each costs the same.
const ITERATIONS: usize = 10;

pub(crate) fn rows() -> Result<()> {
    say("rows,neighbors,scatter,eigen,top_down,total,peak_mb");
    ROWS.iter().try_for_each(|rows| again("rows", *rows))
}

pub(crate) fn classes() -> Result<()> {
    say("classes,distances,an_iteration,peak_mb");
    CLASSES.iter().try_for_each(|classes| again("classes", *classes))
}

fn again(what: &str, size: usize) -> Result<()> {
    let own = std::env::current_exe()?;
    let output = Command::new(own).args(["child", "scale", what, &size.to_string()]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    say(String::from_utf8_lossy(&output.stdout).trim_end());
    Ok(())
}

/// One point of a curve, in a process of its own.
pub(crate) fn child(what: &str, size: &str) -> Result<()> {
    let size = size.parse().context("a number of rows or classes")?;
    match what {
        "rows" => fit(size),
        "classes" => map(size),
        other => bail!("expected rows or classes, found {other}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a hundred thousand rows")]
fn fit(rows: usize) -> Result<()> {
    let dataset = Synthetic {
        known: 40,
        unseen: 10,
        validation: 0,
        trials: 0,
        imbalance: 0.0,
        instances_per_class: rows as f64 / 40.0,
        views: vec![View { name: "cnn".to_owned(), dim: DIM }],
        ..Synthetic::preset("awa")?
    }
    .generate(0)?;
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
    let values = unit(LATENT, KNOWN + unseen);
    let one = Representation {
        name: "vectors".to_owned(),
        weight: 1.0,
        metric: bidilel::dataset::Metric::Cosine,
        values,
    };
    let started = Instant::now();
    let semantics = ClassSemantics::from_representations(vec![one], KNOWN);
    let distances = started.elapsed().as_secs_f64();
    let lsm = Lsm { max_iterations: ITERATIONS, ..Lsm::default() };
    let started = Instant::now();
    lsm.embed(&landmarks, &semantics, &bidilel_math::Silent)?;
    let iteration = started.elapsed().as_secs_f64() / ITERATIONS as f64;
    say(&format!("{unseen},{distances:.3},{iteration:.3},{:.0}", peak_mb()?));
    Ok(())
}
