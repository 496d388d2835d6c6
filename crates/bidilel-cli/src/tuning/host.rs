//! The program's side of a search: the journal, the budget, and a live table of the best so far.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bidilel::settings::Settings;
use bidilel::tune::{Host, Stage};
use bidilel_math::{Check, Observer};
use bidilel_report::settings_line;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::journal::ScoreBook;
use crate::progress::{Progress, Verbosity};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// After this time.
    Time(Duration),
    /// After this many evaluations, each one setting on one fold.
    Evaluations(usize),
}

impl Budget {
    /// `30s`, `5m`, `2h`, or a number of evaluations.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let seconds = match unit {
            "" => {
                let count = text.parse::<usize>().map_err(|_| FORMS.to_owned())?;
                return if count == 0 { Err(NOTHING.to_owned()) } else { Ok(Self::Evaluations(count)) };
            }
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(FORMS.to_owned()),
        };
        let length = number.parse::<f64>().map_err(|_| FORMS.to_owned())? * seconds;
        let time = Duration::try_from_secs_f64(length).map_err(|_| FORMS.to_owned())?;
        if time.is_zero() { Err(NOTHING.to_owned()) } else { Ok(Self::Time(time)) }
    }
}

const FORMS: &str = "expected a time such as 30s, 5m or 2h, or a number of evaluations";
const NOTHING: &str = "a budget of zero leaves nothing to do";
/// Settings in the live table.
const SHOWN: usize = 5;

/// The host of a search in a terminal.
pub(crate) struct Console<'a> {
    journal: Option<&'a dyn ScoreBook>,
    budget: Option<Budget>,
    progress: &'a Progress,
    started: Instant,
    state: Mutex<State>,
    bar: ProgressBar,
}

#[derive(Default)]
struct State {
    stage: &'static str,
    planned: usize,
    done: usize,
    since: Option<Instant>,
    /// Settings as text, with the sum and number of their scores.
    settings: Vec<(String, f64, usize)>,
    drawn: Option<Instant>,
}

impl<'a> Console<'a> {
    pub(crate) fn new(
        journal: Option<&'a dyn ScoreBook>,
        budget: Option<Budget>,
        progress: &'a Progress,
    ) -> Self {
        let bar = if progress.verbosity() == Verbosity::Normal && std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
        let (started, state) = (Instant::now(), Mutex::new(State::default()));
        Self { journal, budget, progress, started, state, bar }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self, state: &State) -> String {
        let left = state.since.map_or(0.0, |since| {
            let each = since.elapsed().as_secs_f64() / state.done.max(1) as f64;
            each * state.planned.saturating_sub(state.done) as f64
        });
        let mut best: Vec<&(String, f64, usize)> = state.settings.iter().collect();
        best.sort_by(|a, b| (b.1 / b.2 as f64).total_cmp(&(a.1 / a.2 as f64)));
        let rows = best
            .iter()
            .take(SHOWN)
            .map(|(name, sum, count)| format!("\n  {:5.1} %  {name}", 100.0 * sum / *count as f64));
        let elapsed = self.started.elapsed().as_secs_f64();
        let head = format!(
            "{}: {} of {} evaluations, {elapsed:.0} s, about {left:.0} s left in this stage",
            state.stage, state.done, state.planned
        );
        head + &rows.collect::<String>()
    }
}

impl Host for Console<'_> {
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        self.journal?.recall(key, fold)
    }

    fn record(&self, key: &str, fold: usize, score: f64) -> bidilel::Result<()> {
        match self.journal {
            Some(journal) => {
                journal.record(key, fold, score).map_err(|source| bidilel::Error::Journal { source })
            }
            None => Ok(()),
        }
    }

    fn planned(&self, stage: Stage, evaluations: usize) {
        let mut state = self.state();
        (state.stage, state.planned, state.done) = (stage.name(), evaluations, 0);
        state.since = Some(Instant::now());
        if self.progress.verbosity() == Verbosity::Verbose {
            // A closed standard error is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{}: {evaluations} evaluations", stage.name());
        }
    }

    fn evaluated(&self, settings: &Settings, _: usize, score: f64) {
        let mut state = self.state();
        state.done += 1;
        let name = settings_line(settings);
        match state.settings.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + score, *count + 1),
            None => state.settings.push((name, score, 1)),
        }
        let due = state.drawn.is_none_or(|drawn| drawn.elapsed() > Duration::from_millis(100));
        if !self.bar.is_hidden() && due {
            self.bar.set_message(self.table(&state));
            state.drawn = Some(Instant::now());
        }
    }

    fn evaluations_left(&self, used: usize) -> usize {
        match self.budget {
            Some(Budget::Evaluations(budget)) => budget.saturating_sub(used),
            _ => usize::MAX,
        }
    }

    fn may_continue(&self) -> bool {
        match self.budget {
            Some(Budget::Time(time)) => self.started.elapsed() < time,
            _ => true,
        }
    }
}

/// Remarks of the search, between the lines of the table.
impl Observer for Console<'_> {
    fn check(&self, check: &Check) {
        self.bar.suspend(|| self.progress.check(check));
    }

    fn note(&self, message: &str) {
        self.bar.suspend(|| self.progress.note(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_times_or_counts_and_never_nothing() {
        assert_eq!(Budget::parse("30s"), Ok(Budget::Time(Duration::from_secs(30))));
        assert_eq!(Budget::parse("1.5m"), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!(Budget::parse("100"), Ok(Budget::Evaluations(100)));
        for bad in ["0", "0s", "-1s", "ten", "5d", "", "nans", "1e999h"] {
            assert!(Budget::parse(bad).is_err(), "{bad}");
        }
    }
}
