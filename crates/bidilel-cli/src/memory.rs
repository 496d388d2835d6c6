//! How memory is asked of the system.

/// Blocks of at least so many bytes are asked for one by one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1 << 20;
/// Threads that get their smaller blocks from one heap.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const THREADS_OF_A_HEAP: usize = 4;

/// Has memory given back to the system soon after it is let go.
///
/// The C library raises the size from which blocks are asked for one by one, up to 32 MiB, as it sees large blocks come and
/// go; matrices of a few megabytes then stay with the program as holes between others, and tuning on 24,295 x 1,024 features
/// took 66 MB more. And it gives every thread a heap of its own, in which what is free is of no use to the others: with a
/// heap for both of two threads it takes 20 MB less, and as long.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_little() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let heaps = i32::try_from(threads.div_ceil(THREADS_OF_A_HEAP)).unwrap_or(i32::MAX);
    #[expect(unsafe_code, reason = "calls of the C library, which set two numbers before there are threads")]
    // SAFETY: no pointers are involved, and a value that it does not like is refused.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_ARENA_MAX, heaps);
    }
}

/// Other systems do so by themselves, or have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little() {}
