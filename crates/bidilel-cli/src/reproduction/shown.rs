//! Tables in the making on stderr: for a person who waits.

use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use bidilel_math::{Check, Observer};
use bidilel_report::visible;

use super::host::{CellTrial, Host};
use crate::progress::{Progress, Verbosity};

/// The program as a host: a line per cell, where somebody looks.
pub(crate) struct Shown<'a> {
    fits: Hushed<'a>,
    lines: bool,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(progress: &'a Progress) -> Self {
        let lines = match progress.verbosity() {
            Verbosity::Quiet => false,
            Verbosity::Normal => std::io::stderr().is_terminal(),
            Verbosity::Verbose => true,
        };
        Self { fits: Hushed { progress, said: Mutex::default() }, lines }
    }
}

impl Shown<'_> {
    fn line(&self, text: &str) {
        if !self.lines {
            return;
        }
        self.stage_over();
        // A closed standard error is no reason to stop.
        let _ = writeln!(std::io::stderr(), "{}", visible(text));
    }
}

impl Host for Shown<'_> {
    fn observer(&self) -> &dyn Observer {
        self.fits.progress
    }

    fn of_fits(&self) -> &dyn Observer {
        &self.fits
    }

    fn chosen(&self, cell: &str) {
        self.line(&format!("              {cell}: settings chosen"));
    }

    fn measured(&self, trial: &CellTrial<'_>) {
        let CellTrial { done, total, cell, trials, .. } = trial;
        let number =
            if *trials > 1 { format!(", trial {} of {trials}", trial.trial + 1) } else { String::new() };
        let value =
            trial.per_class.map_or("chosen".to_owned(), |accuracy| format!("{:.1} %", 100.0 * accuracy));
        self.line(&format!("{done:>4} of {total}  {cell}{number}: {value}"));
    }

    fn stage_over(&self) {
        self.fits.progress.finish();
    }
}

/// Remarks of hundreds of fits are heard only by those who ask, and each once.
struct Hushed<'a> {
    progress: &'a Progress,
    said: Mutex<HashSet<String>>,
}

impl Observer for Hushed<'_> {
    fn stage(&self, name: &'static str) {
        if self.progress.verbosity() != Verbosity::Verbose {
            self.progress.stage(name);
        }
    }

    fn note(&self, message: &str) {
        let new = self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to_owned());
        if new && self.progress.verbosity() == Verbosity::Verbose {
            self.progress.note(message);
        }
    }

    fn check(&self, check: &Check) {
        self.progress.check(check);
    }

    fn poll(&self) -> ControlFlow<()> {
        self.progress.poll()
    }
}
