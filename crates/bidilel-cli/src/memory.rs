//! How memory is asked of the system.

/// Blocks of at least so many bytes are asked for one by one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1 << 20;

/// Has large blocks given back to the system as soon as they are let go.
///
/// The C library raises that size, up to 32 MiB, as it sees large blocks come and go; matrices of a few megabytes then stay
/// with the program as holes between others, and tuning on 24,295 x 1,024 features took 66 MB more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn give_back_large_blocks() {
    #[expect(unsafe_code, reason = "a call of the C library, which sets one number before there are threads")]
    // SAFETY: no pointers are involved, and a value that it does not like is refused.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Other systems do so by themselves, or have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back_large_blocks() {}
