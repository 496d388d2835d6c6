//! Failures on stderr: one `error:` line, and a `hint:` where there is one.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use bidilel_report::visible;

use crate::{hints, options};

/// Status of a command line that is wrong, whatever the data are.
const WRONG_USE: u8 = 2;

/// A mistake in the command line, found before any data are read.
#[derive(Debug)]
struct Usage(String);

/// A failure with a hint that only the program can give.
#[derive(Debug)]
struct Hinted {
    message: String,
    hint: String,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Usage {}
impl std::error::Error for Hinted {}

/// A command line that is wrong: its status is 2.
pub(crate) fn usage(message: impl fmt::Display) -> anyhow::Error {
    Usage(message.to_string()).into()
}

/// A failure with what to do about it.
pub(crate) fn hinted(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
    Hinted { message: message.to_string(), hint: hint.into() }.into()
}

/// A failure of the library, with settings named as options.
pub(crate) fn worded(error: &bidilel::Error) -> String {
    match error {
        bidilel::Error::Setting { setting, expected, found } => {
            format!("{} must be {expected}, found {found}", options::option(setting))
        }
        other => other.to_string(),
    }
}

/// A feature that was switched off in this build.
pub(crate) fn left_out(part: &str, feature: &str) -> anyhow::Error {
    let hint = format!("build it with the feature `{feature}`, which is on by default");
    hinted(format!("this bidilel was built without {part}"), hint)
}

/// Prints a failure and gives the exit status for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A broken pipe is no failure: the reader, such as `head`, has enough.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let words = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<bidilel::Error>().map_or_else(|| cause.to_string(), worded)
    };
    let chain: Vec<String> = error.chain().map(words).collect();
    let mut stderr = io::stderr().lock();
    // Messages of libraries may have several lines; names may hold anything.
    let message = chain.join(": ").replace('\n', " ");
    // A closed standard error cannot be reported.
    let _ = writeln!(stderr, "error: {}", visible(&message));
    if let Some(hint) = hint_of(error) {
        let _ = writeln!(stderr, "\nhint: {}", visible(&hint));
    }
    let wrong_use = error.downcast_ref::<Usage>().is_some();
    if wrong_use { ExitCode::from(WRONG_USE) } else { ExitCode::FAILURE }
}

/// What to do about a failure, where there is something to say.
pub(crate) fn hint_of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(hint)
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let direct = cause.downcast_ref::<io::Error>();
    let inner = direct.or_else(|| cause.source().and_then(|source| source.downcast_ref::<io::Error>()));
    inner.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<bidilel::Error>() {
        return hints::for_library(error);
    }
    #[cfg(feature = "vision")]
    if let Some(error) = cause.downcast_ref::<bidilel_vision::Error>() {
        return hints::for_vision(error);
    }
    #[cfg(feature = "text")]
    if let Some(error) = cause.downcast_ref::<bidilel_text::Error>() {
        return hints::for_text(error);
    }
    if let Some(error) = cause.downcast_ref::<Hinted>() {
        return Some(error.hint.clone());
    }
    cause.downcast_ref::<bidilel_data::Error>().and_then(hints::for_data)
}
