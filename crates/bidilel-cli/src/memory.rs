//! Memory: settings of the C library's allocator, and how much the program has had.

/// Allocations of at least this many bytes are mapped one by one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_THRESHOLD_BYTES: i32 = 1 << 20;
/// Bytes at the end of the heap that stay when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TRIM_THRESHOLD_BYTES: i32 = 32 << 20;
/// Threads per arena, from which smaller blocks come.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const THREADS_PER_ARENA: usize = 4;

/// Makes the allocator return freed memory to the system soon.
///
/// The C library raises its mmap threshold, up to 32 MiB, when large blocks are freed. Matrices of a few megabytes then
/// fragment the heap: tuning on 24,295 x 1,024 features took 66 MB more. It also gives every thread its own arena, whose
/// free blocks other threads cannot use: one arena for two threads takes 20 MB less and as long. With a fixed mmap threshold
/// it gives back the end of the heap whenever 128 KiB there are free: an iteration that makes a block of half a megabyte
/// in every step got new pages from the system, and cleared, in every step.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn limit_retained() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let arenas = i32::try_from(threads.div_ceil(THREADS_PER_ARENA)).unwrap_or(i32::MAX);
    #[expect(
        unsafe_code,
        reason = "calls of the C library, which set three numbers before there are threads"
    )]
    // SAFETY: no pointers are involved, and a value that it does not like is refused.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, arenas);
    }
}

/// Other systems do so by themselves, or have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_retained() {}

/// Forgets how much memory the program has had, so that [`peak`] counts from here on; whether the system lets it.
pub(crate) fn forget_peak() -> bool {
    // Linux: 5 resets the high-water mark of resident memory.
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most resident memory since [`forget_peak`], in bytes, where the system says so.
pub(crate) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
