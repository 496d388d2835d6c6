//! Progress for a person, and the times of the stages.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bidilel_math::{Check, Observer};
use bidilel_report::{CheckReport, RunData, visible};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How much is printed to stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Nothing.
    Quiet,
    /// Bars on a terminal, and notes.
    Normal,
    /// A line for every stage, and notes.
    Verbose,
}

/// Shows the running stage and adds up the times of all stages.
pub(crate) struct Progress {
    verbosity: Verbosity,
    bars: bool,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    stage: Option<(&'static str, Instant)>,
    seconds: BTreeMap<String, f64>,
    bar: ProgressBar,
    last_draw: Instant,
    notes: Vec<String>,
    checks: Vec<CheckReport>,
    /// Iterations of the first top-down stage, where they are kept.
    steps: Option<Steps>,
}

/// Iterations with their values.
#[derive(Default)]
struct Steps {
    /// One list per minimization.
    series: Vec<Vec<(usize, f64)>>,
    /// Whether there are too many minimizations to keep this one.
    is_full: bool,
    /// Whether the stage has ended: later ones are of other runs, or without some classes.
    is_over: bool,
}

impl Progress {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let now = Instant::now();
        let state = State {
            stage: None,
            seconds: BTreeMap::new(),
            bar: ProgressBar::hidden(),
            last_draw: now,
            notes: Vec::new(),
            checks: Vec::new(),
            steps: None,
        };
        let bars = verbosity == Verbosity::Normal && std::io::stderr().is_terminal();
        Self { verbosity, bars, started: now, state: Mutex::new(state) }
    }

    /// How much is printed.
    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Ends the last stage and returns the seconds of all, with `total`.
    pub(crate) fn finish(&self) -> BTreeMap<String, f64> {
        let mut state = self.state();
        self.end_stage(&mut state);
        let mut seconds = state.seconds.clone();
        seconds.insert("total".to_owned(), self.started.elapsed().as_secs_f64());
        seconds
    }

    /// Prints a line to stderr, above what is drawn there.
    pub(crate) fn line(&self, text: &str) {
        self.state().bar.suspend(|| say(text));
    }

    /// The self-checks of the stages, each with its worst result.
    pub(crate) fn checks(&self) -> Vec<CheckReport> {
        self.state().checks.clone()
    }

    /// The iterations of the next top-down stage are kept.
    pub(crate) fn keep_steps(&self) {
        self.state().steps.get_or_insert_default();
    }

    /// The iterations that were kept, with their values: one list per minimization.
    pub(crate) fn steps(&self) -> Vec<Vec<(usize, f64)>> {
        self.state().steps.as_ref().map_or(Vec::new(), |steps| steps.series.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere must not turn into a second one here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_stage(&self, state: &mut State) {
        let Some((name, since)) = state.stage.take() else { return };
        let seconds = since.elapsed().as_secs_f64();
        *state.seconds.entry(name.to_owned()).or_default() += seconds;
        state.bar.finish_and_clear();
        if self.verbosity == Verbosity::Verbose {
            say(&format!("{:<12} {seconds:8.2} s", title(name)));
        }
    }
}

impl State {
    /// Keeps an iteration; one that does not count on begins another minimization.
    fn keep(&mut self, step: usize, value: f64) {
        if !matches!(self.stage, Some(("top_down", _))) {
            return;
        }
        let Some(steps) = self.steps.as_mut().filter(|steps| !steps.is_over) else { return };
        if step == 0 || steps.series.is_empty() {
            steps.is_full = steps.series.len() == RunData::MAX_MINIMIZATIONS;
            if !steps.is_full {
                steps.series.push(Vec::new());
            }
        }
        if let Some(last) = steps.series.last_mut().filter(|_| !steps.is_full) {
            last.push((step, value));
        }
    }
}

impl Observer for Progress {
    fn stage(&self, name: &'static str) {
        let mut state = self.state();
        self.end_stage(&mut state);
        if name != "top_down"
            && let Some(steps) = &mut state.steps
        {
            // An embedder may name its stage again for each of its parts.
            steps.is_over |= !steps.series.is_empty();
        }
        state.stage = Some((name, Instant::now()));
        if self.bars {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} {prefix:<12} {msg} {elapsed}"));
            bar.set_prefix(title(name));
            bar.enable_steady_tick(Duration::from_millis(120));
            state.bar = bar;
        }
    }

    fn progress(&self, done: usize, total: usize) {
        if !self.bars {
            return;
        }
        let state = self.state();
        if state.bar.length().is_none() {
            state.bar.set_style(style("{spinner} {prefix:<12} [{bar:32}] {percent:>3} %  {eta} left"));
            state.bar.set_length(total as u64);
        }
        state.bar.set_position(done as u64);
    }

    fn step(&self, step: usize, value: f64) {
        let mut state = self.state();
        state.keep(step, value);
        if self.bars && state.last_draw.elapsed() > Duration::from_millis(100) {
            state.bar.set_message(format!("iteration {step}, at {value:.6}"));
            state.last_draw = Instant::now();
        }
    }

    fn check(&self, check: &Check) {
        let mut state = self.state();
        if self.verbosity == Verbosity::Verbose {
            let Check { what, deviation, bound, .. } = check;
            say(&format!("  checked: {what} is off by {deviation:.1e}, at most {bound:.0e}"));
        }
        CheckReport::add(&mut state.checks, check);
    }

    fn note(&self, message: &str) {
        let mut state = self.state();
        // Notes that repeat for every trial of a family are printed once.
        if self.verbosity == Verbosity::Quiet || state.notes.iter().any(|earlier| earlier == message) {
            return;
        }
        state.notes.push(message.to_owned());
        state.bar.suspend(|| say(&format!("note: {message}")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.state().bar.finish_and_clear();
    }
}

/// Stages as the interface names them, for a person.
fn title(stage: &str) -> String {
    stage.replace('_', "-")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// Names in a line may hold anything, but do nothing to a terminal or a log.
fn say(line: &str) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_iterations_of_the_first_mapping_are_kept_and_no_later_ones() {
        let progress = Progress::new(Verbosity::Quiet);
        progress.keep_steps();
        let minimized = |from: f64| (0..3).for_each(|step| progress.step(step, from / (step + 1) as f64));
        progress.stage("eigen");
        minimized(1.0);
        assert!(progress.steps().is_empty(), "another stage");
        for from in [2.0, 3.0] {
            progress.stage("top_down");
            minimized(from);
        }
        let first = progress.steps();
        assert_eq!(first.len(), 2, "an embedder of two parts");
        progress.stage("recognize");
        progress.stage("top_down");
        minimized(4.0);
        assert_eq!(progress.steps(), first, "another run");
    }
}
