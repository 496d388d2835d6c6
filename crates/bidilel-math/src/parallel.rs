//! Parallel dense kernels with results that do not depend on the number of threads.
//!
//! The number of threads is that of the rayon pool of the caller. A product is cut into panels of fixed width, one thread
//! per panel, so that its bits do not depend on the number of threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

pub use crate::round_robin::round_robin;
use crate::{Observer, Result, Scalar, Silent, vector};

/// Entries of a long vector per task; shorter vectors do not pay for the overhead of a task.
const CHUNK_ENTRIES: usize = 1 << 16;
/// How often a call that cannot be stopped asks whether it is still wanted.
const ABANDONED_POLL: Duration = Duration::from_millis(10);
/// Columns of a product per task.
const PANEL_COLUMNS: usize = 128;

/// Runs large jobs concurrently, at most as many at a time as there are threads; stops early and returns false when a
/// job returns false.
///
/// A job may be parallel itself. A thread that waits inside its own job steals work from other running jobs, but starts no
/// new job: memory is bounded by one job per thread.
pub fn run_jobs<J: Sync>(jobs: &[J], run: impl Fn(&J) -> bool + Sync) -> bool {
    let (next, running) = (AtomicUsize::new(0), AtomicBool::new(true));
    let worker = || {
        while running.load(Ordering::Relaxed)
            && let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
        {
            if !run(job) {
                running.store(false, Ordering::Relaxed);
            }
        }
    };
    rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| worker())));
    running.into_inner()
}

/// Runs one long call of a library that cannot be stopped, in a thread of its own, while this one waits.
///
/// Where the observer cancels, the call is abandoned: it ends some time later by itself, and nobody looks at its result.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub(crate) fn abandonable<R: Send + 'static>(
    watch: &dyn Observer,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R> {
    let (sender, receiver) = mpsc::channel();
    let call = std::thread::spawn(move || {
        // An abandoned call has nobody to send to.
        sender.send(work()).ok();
    });
    loop {
        match receiver.recv_timeout(ABANDONED_POLL) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => watch.go_on()?,
            Err(RecvTimeoutError::Disconnected) => match call.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a call that has ended has sent what it found"),
            },
        }
    }
}

/// A zero matrix with a padded leading dimension.
///
/// With a leading dimension that is a multiple of 4 KiB, as 1,024 or 4,096 dimensions give, the entries of a row map to the
/// same few cache sets, and packing such a matrix evicts its own lines: products take more than twice as long. A few unused
/// entries at the end of every column prevent that.
pub fn zeros<T: Scalar>(rows: usize, columns: usize) -> Mat<T> {
    let line = 64 / size_of::<T>();
    let stride = rows.next_multiple_of(line);
    let padded = if (stride * size_of::<T>()).is_multiple_of(512) { stride + line } else { stride };
    let mut matrix = Mat::with_capacity(padded, columns);
    matrix.resize_with(rows, columns, |_, _| T::from_f64(0.0));
    matrix
}

/// A copy with the padded leading dimension of [`zeros`].
pub fn copy<T: Scalar>(matrix: MatRef<'_, T>) -> Mat<T> {
    let mut copy = zeros(matrix.nrows(), matrix.ncols());
    copy.copy_from(matrix);
    copy
}

/// `destination = left * right`, or `destination += left * right`.
pub fn multiply<T: Scalar>(
    destination: MatMut<'_, T>,
    accumulate: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
) {
    multiply_watched(destination, accumulate, left, right, &Silent);
}

/// The same; of a canceled computation some entries stay as they are.
fn multiply_watched<T: Scalar>(
    destination: MatMut<'_, T>,
    accumulate: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    watch: &dyn Observer,
) {
    // Panels divide the longer side, so that thin products are parallel too.
    if destination.nrows() > destination.ncols() {
        let (left, right) = (right.transpose(), left.transpose());
        return multiply_watched(destination.transpose_mut(), accumulate, left, right, watch);
    }
    destination.par_col_chunks_mut(PANEL_COLUMNS).enumerate().for_each(|(index, panel)| {
        if watch.poll().is_break() {
            return;
        }
        let columns = right.subcols(index * PANEL_COLUMNS, panel.ncols());
        matmul(panel, accumulate, left, columns, T::from_f64(1.0), Par::Seq);
    });
}

/// The product `left * right` as a new matrix.
pub fn product<T: Scalar>(left: MatRef<'_, T>, right: MatRef<'_, T>) -> Mat<T> {
    let mut result = zeros(left.nrows(), right.ncols());
    multiply(result.as_mut(), Accum::Replace, left, right);
    result
}

/// The same, which an observer can cancel.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn product_watched<T: Scalar>(
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    watch: &dyn Observer,
) -> Result<Mat<T>> {
    let mut result = zeros(left.nrows(), right.ncols());
    multiply_watched(result.as_mut(), Accum::Replace, left, right, watch);
    watch.go_on()?;
    Ok(result)
}

/// $\sum_i l_i r_i$ of vectors of any length, summed in chunks of fixed size.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    if left.len() <= CHUNK_ENTRIES {
        return vector::dot(left, right);
    }
    let sums: Vec<f64> = left
        .par_chunks(CHUNK_ENTRIES)
        .zip(right.par_chunks(CHUNK_ENTRIES))
        .map(|(left, right)| vector::dot(left, right))
        .collect();
    sums.iter().sum()
}

/// `target += scale * other` of vectors of any length.
pub fn add_scaled(target: &mut [f64], scale: f64, other: &[f64]) {
    if target.len() <= CHUNK_ENTRIES {
        return vector::add_scaled(target, scale, other);
    }
    target
        .par_chunks_mut(CHUNK_ENTRIES)
        .zip(other.par_chunks(CHUNK_ENTRIES))
        .for_each(|(target, other)| vector::add_scaled(target, scale, other));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_vectors_have_the_same_bits_for_any_number_of_threads() {
        let left: Vec<f64> = (0..200_000).map(|i| f64::from(i * 7 % 1013) / 3.0).collect();
        let right: Vec<f64> = (0..200_000).map(|i| f64::from(i * 5 % 907) / 7.0).collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| {
                let mut sum = left.clone();
                add_scaled(&mut sum, -0.3, &right);
                (dot(&left, &right).to_bits(), sum)
            })
        };
        assert_eq!(with(1), with(3));
        approx::assert_relative_eq!(dot(&left, &right), vector::dot(&left, &right), max_relative = 1e-12);
    }

    #[test]
    fn every_job_runs_once_and_no_more_at_a_time_than_there_are_threads() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let times: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
            let whole = pool.install(|| {
                run_jobs(&times, |times| {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    // All threads may steal parts of a job, and must not start another job meanwhile.
                    (0..64).into_par_iter().for_each(|_| std::thread::yield_now());
                    times.fetch_add(1, Ordering::SeqCst);
                    running.fetch_sub(1, Ordering::SeqCst);
                    true
                })
            });
            assert!(whole && times.iter().all(|times| times.load(Ordering::SeqCst) == 1));
            assert!(most.into_inner() <= threads);
        }
    }

    #[test]
    fn a_call_that_cannot_be_stopped_is_abandoned_or_gives_what_it_finds() {
        struct Canceled;
        impl Observer for Canceled {
            fn poll(&self) -> std::ops::ControlFlow<()> {
                std::ops::ControlFlow::Break(())
            }
        }
        assert_eq!(abandonable(&Silent, || 7), Ok(7));
        let (end, ended) = mpsc::channel::<()>();
        // It waits for this test, which does not wait for it.
        let forever = move || ended.recv().is_err();
        assert_eq!(abandonable(&Canceled, forever), Err(crate::Error::Cancelled));
        drop(end);
        let panics = || abandonable(&Silent, || -> usize { panic!("of the library") });
        assert!(std::panic::catch_unwind(panics).is_err());
    }

    #[test]
    fn jobs_after_one_that_returns_false_do_not_run() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a small pool");
        let done = AtomicUsize::new(0);
        let job = |index: &usize| {
            done.fetch_add(1, Ordering::SeqCst);
            *index != 4
        };
        assert!(!pool.install(|| run_jobs(&(0..100).collect::<Vec<_>>(), job)));
        assert_eq!(done.into_inner(), 5);
    }

    #[test]
    fn products_have_the_same_bits_for_any_number_of_threads() {
        let left = Mat::from_fn(300, 70, |i, j| ((i * 31 + j * 17) % 101) as f64 / 7.0);
        let right = Mat::from_fn(70, 410, |i, j| ((i * 13 + j * 29) % 89) as f64 / 3.0);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            pool.install(|| {
                (product(left.as_ref(), right.as_ref()), product(right.transpose(), left.transpose()))
            })
        };
        assert_eq!(with(1), with(3));
        let (forward, backward) = with(2);
        assert!((forward.transpose() - backward).norm_max() < 1e-9);
    }
}
