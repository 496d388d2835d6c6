//! Failures as a person reads them: one `error:` line, a `hint:` where one helps.

use std::io::{self, Write};
use std::process::ExitCode;

/// Prints a failure and gives the exit status for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // Whoever reads our output may stop reading, as `head` does: nothing has failed then.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    let mut stderr = io::stderr().lock();
    // Nobody is left to tell if stderr is gone too.
    let _ = writeln!(stderr, "error: {}", chain.join(": ").replace('\n', " "));
    if let Some(hint) = error.chain().find_map(hint) {
        let _ = writeln!(stderr, "\nhint: {hint}");
    }
    ExitCode::FAILURE
}

/// Prints what is wrong with how the program was called, and gives the exit status for that.
pub(crate) fn usage(error: &dyn std::error::Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::from(2)
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let direct = cause.downcast_ref::<io::Error>();
    let inner = direct.or_else(|| cause.source().and_then(|source| source.downcast_ref::<io::Error>()));
    inner.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<bidilel::Error>() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref::<bidilel_vision::Error>() {
        return error.hint();
    }
    cause.downcast_ref::<bidilel_data::Error>().and_then(bidilel_data::Error::hint)
}
