//! Pools of threads, one per running call.
//!
//! A pool that calls share would make a short call wait for a long one of another thread, and so would Ctrl-C. A call checks
//! a pool out and brings it back: idle ones are kept, for starting threads takes longer than many a call.
//!
//! A process that was forked has none of the threads of its parent, so that pools belong to the process that made them.

use std::ops::Deref;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Idle pools that are kept: calls of a few numbers of threads, some of them at once.
const MAX_IDLE_POOLS: usize = 4;

/// The pools that no call uses, that which was used last at the end.
static IDLE: Mutex<Vec<Own>> = Mutex::new(Vec::new());

/// A pool, the number of threads that was asked for (0 is as many as there are processors), and the process that made it.
struct Own {
    pool: ThreadPool,
    threads: usize,
    process: u32,
}

/// A pool that no other call uses, until it is dropped.
pub(crate) struct Pool(Option<Own>);

impl Deref for Pool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        &self.0.as_ref().expect("it is taken out only when it is dropped").pool
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let Some(own) = self.0.take() else { return };
        let mut idle = idle();
        idle.push(own);
        let surplus = (idle.len() > MAX_IDLE_POOLS).then(|| idle.remove(0));
        drop(idle);
        surplus.into_iter().for_each(end);
    }
}

/// A pool of that many threads; as many as there are processors where none are asked for.
pub(crate) fn pool(threads: Option<usize>) -> PyResult<Pool> {
    let threads = threads.unwrap_or(0);
    let mut pools = idle();
    let (own, strange): (Vec<Own>, Vec<Own>) = pools.drain(..).partition(|one| one.process == process::id());
    *pools = own;
    let found = pools.iter().rposition(|one| one.threads == threads).map(|at| pools.remove(at));
    drop(pools);
    strange.into_iter().for_each(end);
    if found.is_some() {
        return Ok(Pool(found));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("bidilel-{i}")).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start the threads: {error}")))?;
    Ok(Pool(Some(Own { pool, threads, process: process::id() })))
}

/// Ends the threads of a pool, where this process has them: dropping another's would wait for them.
fn end(own: Own) {
    if own.process == process::id() { drop(own) } else { std::mem::forget(own) }
}

fn idle() -> MutexGuard<'static, Vec<Own>> {
    // A panic elsewhere leaves the list as it was.
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}
