//! Journals made by recipes of a fuzz target are continued or refused.

#[path = "../../../../fuzz/src/crafted.rs"]
#[expect(unreachable_pub, dead_code, reason = "it is part of a crate of its own elsewhere")]
mod crafted;
#[path = "../../src/tuning/journal.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "a module of the program, with its own tests")]
mod journal;
#[path = "../../../../fuzz/src/journals.rs"]
#[expect(unreachable_pub, reason = "it is part of a crate of its own elsewhere")]
mod journals;

use std::fs;

use journal::{Journal, ScoreBook};
use journals::FINGERPRINT;

/// Opens a journal that was just closed. A process that another test starts at that moment holds a copy of its handle,
/// and with it the lock, until it becomes the program.
fn reopened(path: &std::path::Path) -> Journal {
    for _ in 0..100 {
        match Journal::open(path, FINGERPRINT, true) {
            Err(error) if error.to_string().ends_with("another run is writing to it") => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            other => return other.expect("what was written can be read"),
        }
    }
    panic!("the lock was never released")
}

#[test]
fn a_journal_of_any_recipe_is_continued_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.jsonl");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    let mut continued = 0;
    for round in 0..1000 {
        let recipe: Vec<u8> = (0..usize::from(byte()) / 4).map(|_| byte()).collect();
        let text = journals::journal(&mut crafted::Recipe::new(&recipe));
        fs::write(&path, &text).expect("writable");
        let Ok(open) = Journal::open(&path, FINGERPRINT, true) else {
            assert_eq!(fs::read(&path).expect("still there"), text, "round {round}: what is refused stays");
            continue;
        };
        let before = open.len();
        open.record(r#"{"alpha":"new"}"#, 7, 0.5).expect("a line");
        drop(open);
        let again = reopened(&path);
        let found = (again.len(), again.recall(r#"{"alpha":"new"}"#, 7));
        assert_eq!(found, (before + 1, Some(0.5)), "round {round}");
        continued += usize::from(before > 0);
    }
    assert!(continued > 10, "{continued} of them have lines");
}
