//! The printed tables of a comparison, and the GEMM rate of the machine.

use std::path::Path;
use std::time::{Duration, Instant};

use bidilel_math::Scalar;
use bidilel_math::bench::Packed;
use bidilel_math::parallel::zeros;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

use super::{Report, Round};
use crate::say;

/// How long a product is repeated.
const SUSTAINED: Duration = Duration::from_secs(2);

/// The rate of the best GEMM on all threads, in GFLOP/s: the better of two kernels, ours and faer's, on tiles in the cache,
/// one tile per thread.
///
/// Each runs for about as long as the work that it is compared with, because shared processors are faster for a moment
/// than for seconds. Their speed also changes from minute to minute, so it is measured again before each run.
pub(crate) fn best_product<T: Scalar>() -> f64 {
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
    let packed = Packed::new(factor.as_ref());
    let library = |tile: MatMut<'_, T>| {
        matmul(tile, Accum::Replace, factor.transpose(), factor.as_ref(), one, Par::Seq);
    };
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
    once(&library).max(once(&|tile| packed.write_to(factor.as_ref(), tile)))
}

/// The median; of an even number of values, the lower of the two in the middle.
pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

pub(super) fn neighbors(rounds: &[Round]) {
    // Half of the n x n products, two operations per term.
    let operations = 24_295.0_f64.powi(2) * 1024.0;
    say("neighbors, 24,295 x 1,024, k = 10");
    say("   ours s   faiss s   ratio   product GFLOP/s   share of it, on n²d operations");
    let (mut ratios, mut shares) = (Vec::new(), Vec::new());
    for Round { product, ours, theirs } in rounds {
        let (own, other) = (ours.seconds["neighbors"], theirs.seconds["neighbors"]);
        ratios.push(other / own);
        shares.push(100.0 * operations / own / 1e9 / product);
        let (ratio, share) = (other / own, 100.0 * operations / own / 1e9 / product);
        say(&format!("  {own:>7.2} {other:>9.2} {ratio:>7.2} {product:>17.0} {share:>30.0} %"));
    }
    say(&format!("  median: {:.2} times faster, {:.0} % of the product", middle(ratios), middle(shares)));
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
