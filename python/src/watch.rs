//! The observer of a computation: what it has to say, kept until the calling thread asks; and whether it is to stop.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bidilel_math::{Check, Observer};
use bidilel_report::CheckReport;

/// What a callback is told: a stage, and how much of it is done where that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    /// The stage.
    pub(crate) stage: &'static str,
    /// Parts that are done, or the iteration of an optimizer.
    pub(crate) done: usize,
    /// All parts; none where their number is not known.
    pub(crate) total: Option<usize>,
}

/// Gathers progress, notes, checks and times.
pub(crate) struct Watch {
    cancelled: AtomicBool,
    started: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Stages that were entered and the last progress of each, since somebody asked.
    events: Vec<Event>,
    stage: Option<(&'static str, Instant)>,
    seconds: BTreeMap<String, f64>,
    checks: Vec<CheckReport>,
    notes: Vec<String>,
    /// Parts of a stage that are counted one by one.
    done: usize,
    planned: usize,
    finished: bool,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            started: Instant::now(),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// The computation stops at the next point at which it asks.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The computation is over.
    pub(crate) fn finish(&self) {
        self.state().finished = true;
        self.changed.notify_all();
    }

    /// Waits until the computation is over, but no longer than this; whether it goes on.
    pub(crate) fn wait(&self, most: Duration) -> bool {
        let waiting = self.changed.wait_timeout_while(self.state(), most, |state| !state.finished);
        !waiting.unwrap_or_else(PoisonError::into_inner).0.finished
    }

    /// What has happened since this was last asked.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.state().events)
    }

    /// The stage has this many parts, of which none is done.
    pub(crate) fn plan(&self, parts: usize) {
        let mut state = self.state();
        (state.done, state.planned) = (0, parts);
        state.report(0, Some(parts));
    }

    /// Another part of the stage is done.
    pub(crate) fn count(&self) {
        let mut state = self.state();
        state.done += 1;
        let (done, planned) = (state.done, state.planned);
        state.report(done.min(planned), Some(planned));
    }

    /// Remarks for the user, each once.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.state().notes)
    }

    /// Ends the last stage and returns the seconds of all, with `total`.
    pub(crate) fn timings(&self) -> BTreeMap<String, f64> {
        let mut state = self.state();
        state.end_stage();
        let mut seconds = state.seconds.clone();
        seconds.insert("total".to_owned(), self.started.elapsed().as_secs_f64());
        seconds
    }

    /// The self-checks of the stages, each with its worst result.
    pub(crate) fn checks(&self) -> Vec<CheckReport> {
        self.state().checks.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere must not turn into a second one here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end_stage(&mut self) {
        if let Some((name, since)) = self.stage.take() {
            *self.seconds.entry(name.to_owned()).or_default() += since.elapsed().as_secs_f64();
        }
    }

    /// Replaces the last event of the stage: a callback needs no more than the newest.
    fn report(&mut self, done: usize, total: Option<usize>) {
        let Some((stage, _)) = self.stage else { return };
        match self.events.last_mut() {
            Some(last) if last.stage == stage => (last.done, last.total) = (done, total),
            _ => self.events.push(Event { stage, done, total }),
        }
    }
}

impl Observer for Watch {
    fn stage(&self, name: &'static str) {
        let mut state = self.state();
        state.end_stage();
        state.stage = Some((name, Instant::now()));
        state.events.push(Event { stage: name, done: 0, total: None });
    }

    fn progress(&self, done: usize, total: usize) {
        self.state().report(done, Some(total));
    }

    fn step(&self, step: usize, _: f64) {
        self.state().report(step, None);
    }

    fn check(&self, check: &Check) {
        CheckReport::add(&mut self.state().checks, check);
    }

    fn note(&self, message: &str) {
        let mut state = self.state();
        if !state.notes.iter().any(|earlier| earlier == message) {
            state.notes.push(message.to_owned());
        }
    }

    fn poll(&self) -> ControlFlow<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
