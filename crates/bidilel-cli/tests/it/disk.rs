//! Files on disk while others use them: permissions, locks, orphans, signals, files that change while they are read.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::{Folder, PATIENCE, bidilel};

fn start(words: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("bidilel"));
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Tests that were started in the background, or by `nohup`, ignore signals, and what they start would, too.
    #[expect(unsafe_code, reason = "`signal` is one of the few calls that are allowed between fork and exec")]
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command.spawn().expect("it starts")
}

/// What a child has said when it has ended. One that hangs is ended, and where its threads wait is told.
fn end_of(child: Child) -> Output {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(PATIENCE).map_or_else(
        |_| {
            let threads = waits_of(id);
            Command::new("kill").args(["-s", "KILL", &id.to_string()]).status().expect("kill");
            panic!("it hangs: {threads:?}")
        },
        |output| output.expect("it ends"),
    )
}

/// The names of a process's threads and the kernel functions that they wait in, where the system tells them.
fn waits_of(id: u32) -> Vec<[String; 2]> {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let told = |task: &Path, file| fs::read_to_string(task.join(file)).unwrap_or_default().trim().to_owned();
    tasks.map(|task| ["comm", "wchan"].map(|file| told(&task.path(), file))).collect()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn pipe(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn holds_something(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn a_private_file_stays_private_when_it_is_replaced() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    fs::write(&model, "old").expect("writable");
    fs::set_permissions(&model, PermissionsExt::from_mode(0o600)).expect("ours");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let mode = fs::metadata(&model).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_signal_leaves_no_temporary_file_and_a_kill_leaves_one_for_the_next_run() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let out = folder.beside("out");
    fs::create_dir(&out).expect("writable");
    let target = format!("{out}/p.csv");
    for (signal, left) in [("INT", 0), ("TERM", 0), ("HUP", 0), ("KILL", 1)] {
        let child = start(&["convert", "synthetic:cub", &format!("{out}/copy")]);
        // An empty one is that of the question whether there could be one, and goes by itself.
        wait_until("a file in a temporary folder", || {
            names(Path::new(&out)).iter().any(|name| holds_something(&Path::new(&out).join(name)))
        });
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().expect("kill").success());
        let ended = end_of(child);
        assert!(!ended.status.success(), "{signal}: {ended:?}");
        assert_eq!(names(Path::new(&out)).len(), left, "{signal}: {:?}", names(Path::new(&out)));
    }
    let features = folder.file("cnn.npy");
    assert_eq!(bidilel(&["predict", &model, features.to_str().expect("plain"), "--out", &target]).status, 0);
    assert_eq!(names(Path::new(&out)), ["p.csv"], "the orphan is gone");
}

#[test]
fn a_second_run_cannot_write_to_a_journal_in_use() {
    let folder = Folder::generated();
    let journal = folder.beside("journal.jsonl");
    let words = ["tune", &folder.data(), "--strategy", "grid", "--alpha", "1,10", "--journal", &journal];
    assert_eq!(bidilel(&words).status, 0);
    let before = fs::read(&journal).expect("a journal");
    let held = File::open(&journal).expect("a journal");
    held.lock().expect("a lock");
    let ran = bidilel(&[&words[..], &["--resume"]].concat());
    assert!(ran.error().contains("journal.jsonl`: another run is writing to it"), "{}", ran.stderr);
    assert_eq!(fs::read(&journal).expect("a journal"), before);
    drop(held);
    assert_eq!(bidilel(&[&words[..], &["--resume"]].concat()).status, 0);
}

#[test]
fn a_file_that_is_cut_off_while_it_is_read_is_an_error() {
    let folder = Folder::generated();
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    // Large enough to be mapped, and more than one block of rows: 20,000 rows of 128 numbers.
    let large = folder.beside("large.npy");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (20000, 128), }";
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..20_000 * 128_u32).flat_map(|index| (index as f32 % 7.0 + 1.0).to_le_bytes()));
    // Everything after the first pages, or the end of the last page, which reads as zeros.
    for kept in [8192, bytes.len() - 1] {
        fs::write(&large, &bytes).expect("writable");
        let out = folder.beside(&format!("fifo-{kept}"));
        pipe(&out);
        let mut reader =
            File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&out).expect("the pipe");
        let child = start(&["predict", &model, &large, "--out", &out]);
        // The lines of the first block are many times what a pipe holds: the next block is not read before they are.
        wait_until("the first line", || matches!(reader.read(&mut [0]), Ok(1)));
        File::options().write(true).open(&large).expect("ours").set_len(kept as u64).expect("cut off");
        wait_until("the last line", || {
            let read = std::io::copy(&mut reader, &mut std::io::sink());
            !read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        });
        let ended = end_of(child);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{kept}: {said}");
        assert!(said.contains("large.npy`: was changed while it was being read"), "{kept}: {said}");
        assert!(said.contains("hint: nothing computed from it can be relied on"), "{kept}: {said}");
    }
}

#[test]
fn tuning_prints_its_result_even_if_it_cannot_be_written() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::generated();
    let grid = ["--strategy", "grid", "--alpha", "1,10", "--format", "json"];
    let ran = bidilel(&[&["tune", &folder.data(), "--out", "/dev/full"], &grid[..]].concat());
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("error: `/dev/full`: cannot be written"), "{}", ran.stderr);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).expect("the result");
    assert!(found["best"]["alpha"].is_f64());
}

#[test]
fn features_come_through_pipes_and_standard_input() {
    let folder = Folder::generated();
    let (model, rows) = (folder.beside("model"), folder.file("cnn.npy"));
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    let expected = bidilel(&["predict", &model, rows.to_str().expect("plain")]).stdout;
    for name in ["-", "/dev/stdin"] {
        let ran = assert_cmd::Command::cargo_bin("bidilel")
            .expect("the program")
            .args(["predict", &model, name])
            .write_stdin(fs::read(&rows).expect("features"))
            .output()
            .expect("it runs");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{name}: {ran:?}");
    }
    let fifo = folder.beside("fifo");
    pipe(&fifo);
    let child = start(&["predict", &model, &fifo]);
    fs::write(&fifo, fs::read(&rows).expect("features")).expect("it reads");
    let ended = end_of(child);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), expected);
}

#[test]
fn endings_choose_the_format() {
    let folder = Folder::generated();
    let (model, rows) = (folder.beside("model"), folder.file("cnn.npy"));
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    for (name, start) in [
        ("p.csv", "index,label"),
        ("p.json", "[\n"),
        ("p.jsonl", "{\"index\""),
        ("p.parquet", "PAR1"),
        ("p.txt", "   index"),
        ("p", "index,label"),
    ] {
        let out = folder.beside(name);
        let ran = bidilel(&["predict", &model, rows.to_str().expect("plain"), "--out", &out]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(fs::read(&out).expect("written").starts_with(start.as_bytes()), "{name}");
    }
    for (name, start) in [("r.json", "{\n"), ("r.csv", "dataset,"), ("r.md", "| "), ("r", "{\n")] {
        let out = folder.beside(name);
        assert_eq!(bidilel(&["evaluate", &folder.data(), "--out", &out]).status, 0);
        let text = fs::read_to_string(&out).expect("written");
        assert!(text.starts_with(start), "{name}: {text}");
    }
}

#[test]
fn files_outside_of_a_dataset_are_noted() {
    let folder = Folder::generated();
    let elsewhere = folder.beside("elsewhere.npy");
    fs::copy(folder.file("cnn.npy"), &elsewhere).expect("copied");
    for file in ["../elsewhere.npy", &elsewhere] {
        let text = fs::read_to_string(folder.file("dataset.toml")).expect("a manifest");
        folder.edit("dataset.toml", |text| text + &format!("\n[visual.far]\nfile = \"{file}\"\n"));
        let ran = bidilel(&["evaluate", &folder.data(), "--visual", "far", "--format", "json"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let note = format!("names a file outside of its folder, `{file}`");
        assert!(ran.stderr.contains(&note), "{}", ran.stderr);
        assert!(bidilel(&["inspect", &folder.data()]).stdout.contains(&note));
        fs::write(folder.file("dataset.toml"), text).expect("writable");
    }
    assert!(!bidilel(&["evaluate", &folder.data()]).stderr.contains("outside"));
}
