//! An observer that cancels ends a fit soon, with an error and never with a result.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use bidilel::task::Shared;
use bidilel::{
    Error, Experiment, Method, Observer, Settings, Silent, Synthetic, Task, ZeroShotMethod, evaluate,
};

/// Cancels at a call of `poll`.
struct After {
    polls: AtomicUsize,
    limit: usize,
}

impl Observer for After {
    fn poll(&self) -> ControlFlow<()> {
        if self.polls.fetch_add(1, Ordering::Relaxed) >= self.limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn wherever_a_fit_is_cancelled_it_ends_with_an_error() {
    let dataset = Synthetic { scale: 0.5, ..Synthetic::default() }.generate(3).expect("data");
    let eszsl = r#"{"method": "eszsl"}"#;
    let [mr, uda, tmv_hlp] = [r#"{"method": "mr"}"#, r#"{"method": "uda"}"#, r#"{"method": "tmv-hlp"}"#];
    for text in [
        "{}",
        r#"{"bottom_up": "cca"}"#,
        r#"{"optimizer": "descent"}"#,
        r#"{"starts": 3}"#,
        r#"{"kernel": ["rbf"]}"#,
        eszsl,
        mr,
        uda,
        tmv_hlp,
    ] {
        let settings: Settings = serde_json::from_str(text).expect("settings");
        let choice = settings.choice(&dataset).expect("a choice");
        let trial = &dataset.trials(None).expect("a split")[0];
        let task = Task::new(&dataset, trial, &choice, &Silent).expect("a task");
        let method = Method::from_settings(&settings, 0);
        let whole = After { polls: AtomicUsize::new(0), limit: usize::MAX };
        // Nothing is kept from one fit for the next, which would ask less often.
        let fresh = || Task { shared: Shared::default(), ..task.clone() };
        method.fit(&fresh(), &whole).expect("nobody cancels");
        let polls = whole.polls.load(Ordering::Relaxed);
        assert!(polls > 0, "{text}: nobody asks");
        for limit in (0..polls).step_by((polls / 20).max(1)) {
            let watch = After { polls: AtomicUsize::new(0), limit };
            let outcome = method.fit(&fresh(), &watch);
            assert!(matches!(outcome, Err(Error::Cancelled)), "{text}: after {limit} of {polls}");
        }
        let experiment = Experiment { settings, ..Experiment::default() };
        let watch = After { polls: AtomicUsize::new(0), limit: 0 };
        assert!(matches!(evaluate(dataset.clone(), &experiment, &watch), Err(Error::Cancelled)), "{text}");
    }
}

#[test]
fn wherever_the_drawing_of_a_dataset_is_cancelled_it_ends_with_an_error() {
    let settings = Synthetic { scale: 0.1, ..Synthetic::preset("awa").expect("a preset") };
    let whole = After { polls: AtomicUsize::new(0), limit: usize::MAX };
    let drawn = settings.generate_watched(3, &whole).expect("nobody cancels");
    assert_eq!(drawn.labels, settings.generate(3).expect("data").labels);
    let polls = whole.polls.load(Ordering::Relaxed);
    assert!(polls > drawn.visual.len(), "every view asks");
    for limit in 0..polls {
        let watch = After { polls: AtomicUsize::new(0), limit };
        let outcome = settings.generate_watched(3, &watch);
        assert!(matches!(outcome, Err(Error::Cancelled)), "after {limit} of {polls}");
    }
}
