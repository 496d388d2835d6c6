//! Rows recognized per second, from a mapped file of 1,000,000 x 1,024 numbers.
//!
//! Next to the seconds stand two bounds of the machine: the projection's operations at the rate of the best GEMM in the
//! same precision, measured before each round, and the file's bytes at the bandwidth of memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use bidilel::ZeroShotMethod;
use bidilel::latent_space::Map;
use bidilel::model::Model;
use bidilel::recognize::Recognition;
use bidilel::settings::Settings;
use bidilel::synthetic::{Synthetic, View};
use bidilel::task::{Normalize, Task};
use bidilel_data::array;
use bidilel_math::Silent;
use rayon::prelude::*;

use crate::peers::{Rival, best_product, forget_peak, middle, peak_mb, scratch};
use crate::say;

const ROWS: usize = 1_000_000;
const DIM: usize = 1024;
const ROUNDS: usize = 5;
/// Rows after which the file is mapped again: pages of a mapping stay resident.
const MAPPED: usize = 16_384;

pub(crate) fn run() -> Result<()> {
    let scratch = scratch()?.join("predict");
    std::fs::create_dir_all(&scratch)?;
    let views = vec![View { name: "cnn".to_owned(), dim: DIM }];
    let made = Synthetic { instances_per_class: 40.0, trials: 0, views, ..Synthetic::preset("cub")? };
    let dataset = made.generate(0)?;
    let trial = dataset.trials(None)?.swap_remove(0);
    let settings = Settings::default();
    let task = Task::new(&dataset, &trial, &settings.choice(&dataset)?, &Silent)?;
    let pipeline = settings.pipeline(0);
    let fitted = pipeline.fit(&task, &Silent)?;
    let model = Model::new("rows", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
    let file = scratch.join("rows.npy");
    if !file.exists() {
        say(&format!("making {}", file.display()));
        make(&file, &task)?;
    }
    hand_over(&scratch, &model)?;
    // Once before the clock starts, so that the file is in the page cache.
    let checksum = read(&file)?;
    let started = Instant::now();
    let again = read(&file)?;
    let reading = started.elapsed().as_secs_f64();
    anyhow::ensure!(checksum == again, "the file changed");

    let rival = Rival::new()?;
    let latent = model.latent().expect("a latent space").space.dim();
    let operations = 2.0 * (ROWS * latent) as f64 * (DIM + model.unseen.len()) as f64;
    say(&format!(
        "predict, {ROWS} x {DIM} f32 rows, {latent} latent dimensions, {} classes; reading alone {reading:.2} s",
        model.unseen.len()
    ));
    say("   ours s   NumPy f32 s   product GFLOP/s   bound s   share of it");
    let (mut shares, mut resident) = (Vec::new(), 0.0_f64);
    for _ in 0..ROUNDS {
        let product = best_product::<f64>();
        let (seconds, total, peak) = predict(&model, &file)?;
        let (theirs, mean) = rival.predict(&scratch)?;
        let own = total as f64 / ROWS as f64;
        anyhow::ensure!((own - mean).abs() <= 1e-4 * own, "the mean label is {own} here and {mean} there");
        let bound = (operations / 1e9 / product).max(reading);
        let share = 100.0 * bound / seconds;
        say(&format!("  {seconds:>7.2} {theirs:>13.2} {product:>17.0} {bound:>9.2} {share:>11.0} %"));
        shares.push(share);
        resident = resident.max(peak);
    }
    say(&format!("  in the middle {:.0} % of the bound; {resident:.0} MB resident at most", middle(shares)));
    Ok(())
}

/// Recognizes all rows of the file: seconds, the sum of all labels, and the most memory that was resident, in MB.
fn predict(model: &Model, file: &Path) -> Result<(f64, usize, f64)> {
    forget_peak()?;
    let started = Instant::now();
    let mut total = 0;
    for mapped in (0..ROWS).step_by(MAPPED) {
        let rows = array::open(file, None)?;
        let sum = |_, found: Recognition| found.labels().iter().sum::<usize>();
        let range = mapped..ROWS.min(mapped + MAPPED);
        total += model.recognize_views(&[(&rows, "rows")], range, sum)?.iter().sum::<usize>();
        // As the program does: pages are given back while the next rows are read.
        rayon::spawn(move || drop(rows));
    }
    Ok((started.elapsed().as_secs_f64(), total, peak_mb()?))
}

/// Writes the parts of the model that NumPy needs.
fn hand_over(folder: &Path, model: &Model) -> Result<()> {
    let space = &model.latent().expect("a latent space").space;
    let Map::Linear(projection) = &space.map else { anyhow::bail!("the map is not linear") };
    let write = |name: &str, rows: usize, columns: usize, at: &dyn Fn(usize, usize) -> f64| {
        let mut out = BufWriter::new(File::create(folder.join(name))?);
        let mut writer = array::NpyWriter::<_, f64>::new(&mut out, &[rows, columns])?;
        for row in 0..rows {
            writer.write(&(0..columns).map(|column| at(row, column)).collect::<Vec<_>>())?;
        }
        writer.finish()?;
        Ok::<_, anyhow::Error>(out.flush()?)
    };
    let classes = &model.latent().expect("a latent space").embedding.points;
    write("projection.npy", projection.nrows(), projection.ncols(), &|i, j| projection[(i, j)])?;
    write("mean.npy", 1, space.mean.len(), &|_, j| space.mean[j])?;
    write("classes.npy", classes.ncols(), classes.nrows(), &|i, j| classes[(j, i)])
}

/// Repeats the training rows, so that the numbers are realistic.
fn make(file: &Path, task: &Task) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file).context("cannot make the rows")?);
    let mut writer = array::NpyWriter::<_, f32>::new(&mut out, &[ROWS, DIM])?;
    for row in 0..ROWS {
        writer.write(task.train.features.col_as_slice(row % task.train.features.ncols()))?;
    }
    writer.finish()?;
    out.flush()?;
    Ok(())
}

/// Adds up all bytes of the file, eight at a time, on all threads.
fn read(file: &Path) -> Result<u64> {
    let bytes = bidilel_data::map(file)?;
    let add = |part: &[u8]| {
        let (words, _) = part.as_chunks::<8>();
        words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
    };
    Ok(bytes.as_ref().par_chunks(1 << 22).map(add).reduce(|| 0, u64::wrapping_add))
}
