//! What is printed of a comparison.

use std::path::Path;
use std::time::{Duration, Instant};

use bidilel_math::Scalar;
use bidilel_math::panels::{Panels, Product, Right};
use bidilel_math::parallel::zeros;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

use super::Report;
use crate::say;

/// How long a product is repeated.
const SUSTAINED: Duration = Duration::from_secs(4);

/// Rates of the best matrix product on all threads, in GFLOP/s.
pub(crate) struct Peak {
    pub(crate) single: f64,
    pub(crate) double: f64,
}

impl Peak {
    pub(crate) fn measure() -> Self {
        Self { single: rate::<f32>(), double: rate::<f64>() }
    }
}

/// The best rate of two kernels, ours and that of faer, of tiles in the cache that one thread computes at a time.
///
/// Each is timed twice, for about as long as the work that it is compared with goes on: processors that are shared are
/// faster for a moment than for seconds.
fn rate<T: Scalar>() -> f64 {
    const DEPTH: usize = 1024;
    const SIDE: usize = 240;
    const TILES: usize = 64;
    let mut factor = zeros::<T>(DEPTH, SIDE);
    for j in 0..SIDE {
        for (i, value) in factor.col_as_slice_mut(j).iter_mut().enumerate() {
            *value = T::from_f64(((i * 31 + j * 17) % 101) as f64 / 50.0 - 1.0);
        }
    }
    let one = T::from_f64(1.0);
    let mut left = Panels::left(SIDE, DEPTH);
    left.pack_columns(factor.as_ref(), one);
    let library = |tile: MatMut<'_, T>| {
        matmul(tile, Accum::Replace, factor.transpose(), factor.as_ref(), one, Par::Seq);
    };
    let right = Right::Columns(factor.as_ref());
    let own = Product { left: &left, first_row: 0, right, depth: DEPTH, lower: false };
    let flops = 2.0 * (TILES * SIDE * SIDE * DEPTH) as f64;
    let once = |kernel: &(dyn Fn(MatMut<'_, T>) + Sync)| {
        let (started, mut rounds) = (Instant::now(), 0.0);
        while started.elapsed() < SUSTAINED {
            (0..TILES).into_par_iter().for_each_init(
                || zeros::<T>(SIDE, SIDE),
                |tile, _| {
                    kernel(tile.as_mut());
                    std::hint::black_box(&tile);
                },
            );
            rounds += 1.0;
        }
        rounds * flops / started.elapsed().as_secs_f64() / 1e9
    };
    (0..2).flat_map(|_| [once(&library), once(&|tile| own.write_to(tile))]).fold(0.0, f64::max)
}

pub(super) fn neighbors(ours: &Report, theirs: &Report, peak: &Peak) {
    let (own, other) = (ours.seconds["neighbors"], theirs.seconds["neighbors"]);
    // Half of the n x n products, two operations a term.
    let operations = 24_295.0_f64.powi(2) * 1024.0;
    let share = operations / own / 1e9 / peak.single;
    say("neighbours, 24,295 x 1,024, k = 10");
    say(&format!("  ours {own:.2} s, faiss IndexFlatL2 {other:.2} s: {:.2} times faster", other / own));
    say(&format!("  {:.0} % of the best product, counted on n²d operations", 100.0 * share));
}

pub(super) fn stages(folder: &Path, ours: &Report, theirs: &Report) {
    say(&format!("fit, {}", folder.display()));
    say("  stage           ours s   peers s   ratio");
    for stage in ["load", "neighbors", "scatter", "eigen", "landmarks", "top_down", "total"] {
        let of = |report: &Report| report.seconds.get(stage).copied().unwrap_or(0.0);
        let (own, other) = (of(ours), of(theirs));
        say(&format!("  {stage:<12} {own:>9.3} {other:>9.3} {:>7.2}", other / own));
    }
    let (own, other) = (ours.peak_mb, theirs.peak_mb);
    say(&format!("  {:<12} {own:>9.0} {other:>9.0} {:>7.2}", "peak MB", other / own));
}
