//! Running the program, and small datasets for it.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// After which a run counts as hanging, and is ended: the longest takes seconds.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

/// A finished run of the program.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The result, of a run that must have succeeded.
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// The `error:` line, of a run that must have failed cleanly: status 1, one such line, nothing on stdout.
    pub(crate) fn error(&self) -> &str {
        assert_eq!(self.status, 1, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.error_line()
    }

    /// The `error:` line, of a run that must have refused its command line: status 2, whatever the data are.
    pub(crate) fn usage(&self) -> &str {
        assert_eq!(self.status, 2, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.error_line()
    }

    fn error_line(&self) -> &str {
        assert!(self.stdout.is_empty(), "a failed run prints no result: {}", self.stdout);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        let mut lines = self.stderr.lines().filter(|line| line.starts_with("error: "));
        let line = lines.next().unwrap_or_else(|| panic!("no error line in {}", self.stderr));
        assert_eq!(lines.next(), None, "one error line");
        line
    }
}

pub(crate) fn bidilel(arguments: &[&str]) -> Ran {
    bidilel_with(arguments, &[])
}

/// A run with some variables of its environment set.
pub(crate) fn bidilel_with(arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::cargo_bin("bidilel").expect("the program");
    let Output { status, stdout, stderr } =
        command.args(arguments).envs(variables.iter().copied()).timeout(PATIENCE).output().expect("it runs");
    Ran {
        status: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).expect("UTF-8"),
        stderr: String::from_utf8(stderr).expect("UTF-8"),
    }
}

/// A run in a folder.
pub(crate) fn bidilel_in(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::cargo_bin("bidilel").expect("the program");
    let Output { status, stdout, stderr } =
        command.current_dir(folder).args(arguments).timeout(PATIENCE).output().expect("it runs");
    Ran {
        status: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).expect("UTF-8"),
        stderr: String::from_utf8(stderr).expect("UTF-8"),
    }
}

/// A generated dataset that a test may damage.
pub(crate) struct Folder {
    root: TempDir,
}

impl Folder {
    pub(crate) fn generated() -> Self {
        let root = TempDir::new().expect("a temporary folder");
        let data = root.path().join("data");
        let ran = bidilel(&["generate", "--scale", "0.3", "--seed", "4", &text(&data)]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        Self { root }
    }

    pub(crate) fn data(&self) -> String {
        text(&self.root.path().join("data"))
    }

    /// A path beside the dataset.
    pub(crate) fn beside(&self, name: &str) -> String {
        text(&self.root.path().join(name))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root.path().join("data").join(name)
    }

    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let path = self.file(name);
        let before = std::fs::read_to_string(&path).expect("a text file");
        std::fs::write(&path, change(before)).expect("writable");
    }

    pub(crate) fn edit_bytes(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.file(name);
        let mut bytes = std::fs::read(&path).expect("a file");
        change(&mut bytes);
        std::fs::write(&path, bytes).expect("writable");
    }

    /// Writes another number of rows into an array's header, of the same length in digits.
    pub(crate) fn relabel_rows(&self, name: &str, before: usize, after: usize) {
        self.edit_bytes(name, |bytes| {
            let (old, new) = (format!("({before},"), format!("({after},"));
            assert_eq!(old.len(), new.len(), "the header keeps its length");
            let place =
                bytes.windows(old.len()).position(|window| window == old.as_bytes()).expect("the shape");
            bytes[place..place + new.len()].copy_from_slice(new.as_bytes());
        });
    }

    /// Names of everything beside the dataset: what a failed run must not add to.
    pub(crate) fn listing(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("a plain path").to_owned()
}
