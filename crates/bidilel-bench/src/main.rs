//! Measurements, each in one run: `cargo run --release -p bidilel-bench -- COMMAND`.
//!
//! - `all [FOLDER…]`: `peers`, `tune`, `predict` and `scale`, one after the other;
//! - `peers [FOLDER…]`: fits against NumPy, SciPy and faiss on the same data;
//! - `neighbors [ROWS…] [FOLDER…]`: exact and approximate neighbors: seconds, recall, accuracy;
//! - `tune [small | large]`: the paper's protocol, shared and naive;
//! - `predict`: rows per second from a mapped file, against the bounds of GEMM and memory;
//! - `living FOLDER [SETTINGS]`: classes that join a model: milliseconds, and accuracy against those of a fit; settings are
//!   a JSON object;
//! - `scale [rows | classes | draw]`: seconds and memory of a fit from 1,000 to 100,000 rows, and of the mapping from 50
//!   to 20,000 classes, drawn.

mod data;
mod living;
mod neighbors;
mod peers;
mod predict;
mod scale;
mod tune;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "expected: all [FOLDER…], peers [FOLDER…], neighbors [ROWS…] [FOLDER…], tune [small | large], \
                     predict, living FOLDER [SETTINGS], scale [rows | classes | draw]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let plain: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match plain[..] {
        ["all", ..] => all(&words[1..]),
        ["peers", ..] => peers::run(&words[1..]),
        ["neighbors", ..] => neighbors::run(&words[1..]),
        ["child", "scale", what, size] => scale::child(what, size),
        ["child", stage, folder] => peers::child(stage, folder),
        ["tune"] => tune::run(&tune::SIZES),
        ["tune", "small"] => tune::run(&tune::SIZES[..1]),
        ["tune", "large"] => tune::run(&tune::SIZES[1..]),
        ["predict"] => predict::run(),
        ["living", folder] => living::run(folder, "{}"),
        ["living", folder, settings] => living::run(folder, settings),
        ["scale"] => scale::rows().and_then(|()| scale::classes()),
        ["scale", "rows"] => scale::rows(),
        ["scale", "classes"] => scale::classes(),
        ["scale", "draw"] => scale::draw(),
        _ => Err(anyhow::anyhow!(USAGE)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn all(folders: &[String]) -> anyhow::Result<()> {
    peers::run(folders)?;
    tune::run(&tune::SIZES)?;
    predict::run()?;
    scale::rows()?;
    scale::classes()
}

pub(crate) fn say(line: &str) {
    // A closed standard output cannot be reported.
    let _ = writeln!(std::io::stdout(), "{line}");
}
