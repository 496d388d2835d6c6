#![no_main]

use std::fs;

use bidilel_fuzz::crafted::Recipe;
use bidilel_fuzz::journals::{FINGERPRINT, journal};

#[path = "../../crates/bidilel-cli/src/tuning/journal.rs"]
#[allow(dead_code)]
mod tuning_journal;
use tuning_journal::{Journal, ScoreBook};

// A journal that is continued keeps its lines, takes a new one, and opens again.
libfuzzer_sys::fuzz_target!(init: bidilel_fuzz::report_own_panics(), |bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("bidilel-fuzz-{}.jsonl", std::process::id()));
    fs::write(&path, journal(&mut Recipe::new(bytes))).expect("a temporary file");
    if let Ok(open) = Journal::open(&path, FINGERPRINT, true) {
        let before = open.len();
        open.record(r#"{"alpha":"new"}"#, 7, 0.5).expect("a line");
        drop(open);
        let again = Journal::open(&path, FINGERPRINT, true).expect("what was written can be read");
        assert_eq!((again.len(), again.recall(r#"{"alpha":"new"}"#, 7)), (before + 1, Some(0.5)));
    }
});
