//! Panics of libraries that read foreign files, as errors.
//!
//! Decoders and runtimes are meant to give errors for whatever a file says. Where one panics all the same, the file is
//! at fault for us, and a person must not see the library's own words on the terminal.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many guarded calls are under way. Libraries have threads of their own, so one flag per thread would not do.
static GUARDED: AtomicUsize = AtomicUsize::new(0);
static HOOK: Once = Once::new();

/// Runs `work`; a panic in it becomes its message.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARDED.load(Ordering::SeqCst) == 0 {
                before(info);
            }
        }));
    });
    GUARDED.fetch_add(1, Ordering::SeqCst);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.fetch_sub(1, Ordering::SeqCst);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "no reason was given".to_owned()).replace('\n', " ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_words() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(guarded::<()>(|| panic!("broken\nat {}", 3)), Err("broken at 3".to_owned()));
    }
}
