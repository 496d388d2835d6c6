//! The one border to a library that panics on some damaged files.
//!
//! It checks most of what a file says, but adds up some offsets unchecked and expects a dictionary where a page says
//! that there is one. Such a file is an error like any other, without a word on the terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use crate::error::{Error, Result};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that calls the library; what it shares with the caller is only read.
pub(super) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                report(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    QUIET.set(before);
    result.unwrap_or_else(|_| {
        Err(Error::Malformed { path: path.to_owned(), problem: "the Parquet table is damaged".to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let result: Result<()> = guarded(Path::new("x"), || panic!("no"));
        assert_eq!(result.unwrap_err().to_string(), "`x`: the Parquet table is damaged");
        assert_eq!(guarded(Path::new("x"), || Ok(1)).unwrap(), 1);
        assert!(!QUIET.get());
    }
}
