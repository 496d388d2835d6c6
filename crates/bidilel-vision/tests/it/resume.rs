//! A run that is stopped goes on, and ends with the same bytes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::{Work, bitmap, plain};

fn filled() -> Work {
    let work = Work::new("layers", plain(16));
    for index in 0..11_u8 {
        work.put(
            &format!("{}/{index:02}.bmp", index % 3),
            &bitmap(20, 17 + u32::from(index), [index * 9, 3, 99 - index]),
        );
    }
    work.put("1/broken.png", b"\x89PNG\r\n\x1a\n and no more");
    work.put_picture("photo.jpg");
    work
}

const OUTPUTS: [&str; 4] = ["features.npy", "features.csv", "features.skipped.csv", "features.network.json"];

fn outputs(work: &Work) -> [Vec<u8>; 4] {
    OUTPUTS.map(|name| fs::read(work.out(name)).unwrap())
}

#[test]
fn a_run_that_is_killed_anywhere_ends_with_the_same_bytes() {
    let mut work = filled();
    work.run().unwrap();
    let whole = outputs(&work);
    for most in [4, 8, 12] {
        for name in OUTPUTS {
            fs::remove_file(work.out(name)).unwrap();
        }
        let killed = catch_unwind(AssertUnwindSafe(|| work.run_until(most)));
        assert!(killed.is_err());
        assert_eq!(
            work.written(),
            ["features.npy.part", "features.npy.part.jsonl"],
            "nothing under the final name"
        );
        let refused = work.run().unwrap_err();
        assert!(refused.hint().unwrap().contains("continue it"));
        // What the disk did not get whole is done again.
        let part = work.out("features.npy.part");
        let length = fs::metadata(&part).unwrap().len();
        if most == 8 {
            fs::File::options().write(true).open(&part).unwrap().set_len(length - 3).unwrap();
        }
        work.options.resume = true;
        let extracted = work.run().unwrap();
        assert!(extracted.resumed > 0 && extracted.resumed < 13 || most == 8);
        assert_eq!(outputs(&work), whole);
        assert_eq!(work.written().len(), OUTPUTS.len(), "nothing is left over");
        work.options.resume = false;
    }
}

#[test]
fn a_second_run_cannot_write_to_what_another_is_extracting() {
    let mut work = filled();
    assert!(catch_unwind(AssertUnwindSafe(|| work.run_until(4))).is_err());
    let held = fs::File::open(work.out("features.npy.part.jsonl")).unwrap();
    held.lock().unwrap();
    let before = fs::read(work.out("features.npy.part")).unwrap();
    for resume in [false, true] {
        work.options.resume = resume;
        let error = work.run().unwrap_err();
        assert!(error.to_string().ends_with("another run is writing to it"), "{error}");
        assert!(error.hint().unwrap().contains("wait"));
    }
    assert_eq!(fs::read(work.out("features.npy.part")).unwrap(), before);
    drop(held);
    work.run().unwrap();
}

#[test]
fn other_settings_files_or_networks_are_not_mixed() {
    let mut work = filled();
    let killed = catch_unwind(AssertUnwindSafe(|| work.run_until(8)));
    assert!(killed.is_err());
    work.options.resume = true;
    let refused = |work: &Work| {
        let error = work.run().unwrap_err().to_string();
        assert!(error.contains("another network, other settings or other files"), "{error}");
    };
    let before = work.options.clone();
    work.options.preprocess.mean = [1.0; 3];
    refused(&work);
    work.options = before.clone();
    work.options.batch = 5;
    refused(&work);
    work.options = before;
    work.put("0/new.bmp", &bitmap(3, 3, [1, 1, 1]));
    refused(&work);
    fs::remove_file(work.folder().join("0/new.bmp")).unwrap();
    work.run().unwrap();
    work.options.resume = true;
    assert_eq!(work.run().unwrap().resumed, 0, "nothing to go on with is no error");
}

#[test]
fn threads_change_no_byte() {
    let work = filled();
    work.run().unwrap();
    let first = outputs(&work);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| work.run()).unwrap();
    assert_eq!(outputs(&work), first);
}
