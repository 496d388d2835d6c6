//! Where foreign files are read: with panics caught and, for libraries that recurse, on a thread with a known stack.
//!
//! Libraries recurse as deep as a file tells them to, and an overflow of the stack ends the program without a word. The
//! main thread has 8 MiB, a worker 2 MiB or less; here it is always [`STACK_BYTES`], so that what is read does not
//! depend on who asks. Whoever can look in between asks [`is_deep`] before going further down. Our own readers go down a
//! fixed number of levels and need no thread, which would cost more than most of what they are asked.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;
use std::thread;

use super::Format;
use crate::error::{Error, Result};

/// Only the pages that are touched become memory.
const STACK_BYTES: usize = 64 << 20;
/// Beyond this a reader must turn back; the rest is for what it does without asking.
#[cfg(any(feature = "hdf5", test))]
const DEEP_BYTES: usize = 16 << 20;

thread_local! {
    /// Whether a reader runs here, of whose panics nobody is to hear.
    static READING: Cell<bool> = const { Cell::new(false) };
    /// An address near the bottom of a sandbox's stack; none elsewhere.
    static BOTTOM: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs a reader of `format`; a panic in it means that the file is damaged.
pub(super) fn run<T: Send>(
    path: &Path,
    format: Format,
    read: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    silence_panics();
    if !matches!(format, Format::Hdf5 | Format::Parquet) {
        return caught(path, format, read);
    }
    let work = || {
        BOTTOM.set(Some(address()));
        caught(path, format, read)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("reader".to_owned()).stack_size(STACK_BYTES);
        let handle = thread
            .spawn_scoped(scope, work)
            .map_err(|source| Error::Read { path: path.to_owned(), source })?;
        handle.join().unwrap_or_else(|_| Err(damaged(path, format)))
    })
}

/// What is shared with the reader is only read, so that a panic leaves nothing half done.
fn caught<T>(path: &Path, format: Format, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = READING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    READING.set(before);
    result.unwrap_or_else(|_| Err(damaged(path, format)))
}

fn damaged(path: &Path, format: Format) -> Error {
    let problem = format!("it is damaged, and cannot be read as {}", format.name());
    Error::Malformed { path: path.to_owned(), problem }
}

/// Whether a reader is further down its stack than any honest file takes it.
#[cfg(any(feature = "hdf5", test))]
pub(super) fn is_deep() -> bool {
    // Stacks grow downwards on all that Rust runs on, but nothing here depends on it.
    BOTTOM.get().is_some_and(|bottom| bottom.abs_diff(address()) > DEEP_BYTES)
}

/// About where the stack ends now.
#[inline(never)]
fn address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Keeps a library's own words about a panic off the terminal.
fn silence_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !READING.get() {
                report(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        for (format, name) in [(Format::Parquet, "a Parquet table"), (Format::Zip, "a zip archive")] {
            let result: Result<()> = run(Path::new("x"), format, || panic!("no"));
            let message = format!("`x`: it is damaged, and cannot be read as {name}");
            assert_eq!(result.unwrap_err().to_string(), message);
            assert_eq!(run(Path::new("x"), format, || Ok(1)).unwrap(), 1);
        }
        assert!(!READING.get());
    }

    #[test]
    fn there_is_room_to_notice_that_it_goes_too_deep() {
        fn down(depth: u64) -> Result<u64, u64> {
            if is_deep() { Err(depth) } else { Ok(std::hint::black_box(down(depth + 1)?) + 1) }
        }
        let depth = run(Path::new("x"), Format::Hdf5, || Ok(down(0).unwrap_err())).unwrap();
        assert!(depth > 1000, "{depth}");
        assert!(!is_deep());
    }
}
