//! Pools of threads, one per number of threads.
//!
//! A process that was forked has none of the threads of its parent, so that pools belong to the process that made them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that made them, and the pools by their number of threads; 0 is as many as there are processors.
type Pools = (u32, HashMap<usize, Arc<ThreadPool>>);

static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(|| Mutex::new((std::process::id(), HashMap::new())));

/// A pool of that many threads; as many as there are processors where none are asked for.
pub(crate) fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    // A panic elsewhere leaves the map as it was.
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if pools.0 != std::process::id() {
        // Dropping a pool waits for its threads, which this process does not have.
        std::mem::forget(std::mem::take(&mut pools.1));
        pools.0 = std::process::id();
    }
    let threads = threads.unwrap_or(0);
    if let Some(pool) = pools.1.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("bidilel-{i}")).build();
    let pool = Arc::new(
        pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start the threads: {error}")))?,
    );
    pools.1.insert(threads, Arc::clone(&pool));
    Ok(pool)
}
