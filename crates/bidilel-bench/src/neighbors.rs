//! Exact against approximate neighbors: `neighbors [ROWS…] [FOLDER…]`, each size or dataset in one run.
//!
//! Both are fitted and evaluated; the seconds are those of the stage. Recall is the share of the true neighbors that
//! the approximate lists have, over [`QUERIES`] instances spread evenly, whose true ones come from all distances in `f64`.

use std::path::Path;

use anyhow::Result;
use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Search, Slpp};
use bidilel::dataset::Dataset;
use bidilel::metrics::accuracy;
use bidilel::pipeline::Pipeline;
use bidilel::task::{Choice, Task};
use bidilel_math::distance::squared;
use bidilel_math::{Silent, neighbors};
use rayon::prelude::*;

use crate::data::synthetic;
use crate::peers::Clock;
use crate::say;

/// Rows of the synthetic data where nothing is named.
const ROWS: [&str; 3] = ["50000", "100000", "250000"];
const DIM: usize = 128;
const NEIGHBORS: usize = 10;
const QUERIES: usize = 1000;

pub(crate) fn run(what: &[String]) -> Result<()> {
    say("data,rows,dimensions,exact_s,approximate_s,recall,exact_per_class,approximate_per_class");
    let named: Vec<&str> =
        if what.is_empty() { ROWS.to_vec() } else { what.iter().map(String::as_str).collect() };
    for name in named {
        match name.parse() {
            Ok(rows) => measure(&synthetic(rows, DIM)?)?,
            Err(_) => measure(&bidilel_data::open(Path::new(name))?.dataset)?,
        }
    }
    Ok(())
}

fn measure(dataset: &Dataset) -> Result<()> {
    let trial = dataset.trials(None)?.swap_remove(0);
    let task = Task::new(dataset, &trial, &Choice::default(), &Silent)?;
    let fit = |search| -> Result<(f64, f64)> {
        let locality = Locality { neighbors: NEIGHBORS, search, ..Locality::default() };
        let bottom_up = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
        let pipeline = Pipeline { bottom_up, ..Pipeline::default() };
        let clock = Clock::default();
        let fitted = pipeline.fit(&task, &clock)?;
        let found = pipeline.recognize(&fitted, task.test.prepared(), &Silent)?;
        let scored = accuracy(&found.labels(), &task.test.labels, task.unseen.len());
        Ok((clock.finish()["neighbors"], scored.per_class))
    };
    let (approximate, exact) = (fit(Search::Approximate)?, fit(Search::Exact)?);
    say(&format!(
        "{},{},{},{:.2},{:.2},{:.4},{:.4},{:.4}",
        dataset.name,
        task.train.labels.len(),
        task.train.features.nrows(),
        exact.0,
        approximate.0,
        recall(&task),
        exact.1,
        approximate.1
    ));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "ten thousand neighbors")]
fn recall(task: &Task) -> f64 {
    let points = task.train.features.as_ref();
    let (found, count) = (neighbors::approximate(points, NEIGHBORS, &Silent), points.ncols());
    let shared = |query: usize| {
        let mut all: Vec<(f64, usize)> = (0..count)
            .filter(|&other| other != query)
            .map(|other| (squared(points.col(query), points.col(other)), other))
            .collect();
        all.select_nth_unstable_by(NEIGHBORS, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let list = found.of(query);
        all[..NEIGHBORS].iter().filter(|(_, other)| list.iter().any(|(listed, _)| listed == *other)).count()
    };
    let queries = (0..QUERIES).into_par_iter().map(|query| query * count / QUERIES);
    queries.map(shared).sum::<usize>() as f64 / (QUERIES * NEIGHBORS) as f64
}
