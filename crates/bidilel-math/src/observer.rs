//! Progress events: libraries report, programs decide what to show.

use std::ops::ControlFlow;

use crate::{Check, Error, Result};

/// Receives the progress of long computations.
///
/// Methods take `&self` because blocks report from several threads; an implementation that keeps state
/// uses atomics or a lock. Every method does nothing by default.
pub trait Observer: Sync {
    /// A named stage begins, and the previous one ends.
    fn stage(&self, name: &'static str) {
        let _ = name;
    }

    /// `done` of `total` equal parts of the current stage are finished.
    fn progress(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// An optimizer has finished iteration `step` at objective `value`.
    fn step(&self, step: usize, value: f64) {
        let _ = (step, value);
    }

    /// The result of a stage passed a check against an independent computation.
    fn check(&self, check: &Check) {
        let _ = check;
    }

    /// A remark for the user; the computation continues.
    fn note(&self, message: &str) {
        let _ = message;
    }

    /// Whether to go on; asked between blocks and iterations, from any thread.
    ///
    /// `Break` cancels: the computation ends at the next such point and its result is an error. Once `Break`, always
    /// `Break`: a stage that was cut short must not be taken for finished.
    fn poll(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl dyn Observer + '_ {
    /// Fails where this observer has cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn go_on(&self) -> Result<()> {
        if self.poll().is_break() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
