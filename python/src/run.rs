//! Long computations on behalf of Python.
//!
//! The work runs in a pool of threads without the GIL. The calling thread waits; every [`SIGNALS`] it asks Python for signals, and
//! every [`EVENTS`] it tells the callback what has happened: callbacks run in the thread of their caller. An interrupt, or an
//! exception in the callback, cancels the work and is raised when it has stopped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::pool::pool;
use crate::watch::Watch;

/// How often signals are looked for: with the time between two polls of a stage, what an interrupt may take. It costs the calling
/// thread some microseconds each time.
const SIGNALS: Duration = Duration::from_millis(10);
/// How often a callback is called at most: a bar that is drawn more often is not read more often.
const EVENTS: Duration = Duration::from_millis(40);

/// How a computation runs: threads, and who is told.
#[derive(FromPyObject)]
pub(crate) struct Running {
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
    /// Takes a note: Python knows which line of the user it is for.
    #[pyo3(item)]
    warn: Py<PyAny>,
}

/// Runs `work` and returns its result; notes become warnings.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    running: &Running,
    work: impl FnOnce(&Watch) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    let pool = pool(running.threads)?;
    let watch = Watch::new();
    let outcome = Mutex::new(None);
    let stopped = py.detach(|| {
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let found = catch_unwind(AssertUnwindSafe(|| work(&watch)));
                // Nothing else takes this lock before the scope ends.
                if let Ok(mut outcome) = outcome.lock() {
                    *outcome = Some(found);
                }
                watch.finish();
            });
            let (mut stopped, mut told) = (None, Instant::now());
            while watch.wait(SIGNALS) {
                if stopped.is_some() {
                    continue;
                }
                let due = told.elapsed() >= EVENTS;
                if due {
                    told = Instant::now();
                }
                let attend = |py: Python<'_>| {
                    py.check_signals()?;
                    if due { tell(py, running, &watch) } else { Ok(()) }
                };
                if let Err(error) = Python::attach(attend) {
                    watch.cancel();
                    stopped = Some(error);
                }
            }
            stopped
        })
    });
    if let Some(error) = stopped {
        return Err(error);
    }
    let found = match outcome.into_inner() {
        Ok(Some(Ok(found))) => found?,
        Ok(Some(Err(panic))) => return Err(PyRuntimeError::new_err(said(panic.as_ref()))),
        Ok(None) | Err(_) => return Err(PyRuntimeError::new_err("the computation ended without a result")),
    };
    tell(py, running, &watch)?;
    for note in watch.take_notes() {
        running.warn.call1(py, (note,))?;
    }
    Ok(found)
}

/// Tells the callback what is new.
fn tell(py: Python<'_>, running: &Running, watch: &Watch) -> PyResult<()> {
    let Some(callback) = &running.progress else { return Ok(()) };
    for event in watch.take_events() {
        callback.call1(py, (event.stage, event.done, event.total))?;
    }
    Ok(())
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a computation failed that should not have: {}", text.unwrap_or_default())
}
