//! Measurements: `cargo run --release -p bidilel-bench -- tune [small | large]`.
//!
//! Each prints what it ran, the seconds it took, and the ratios that matter, in one run.

mod tune;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["tune"] => tune::run(&tune::SIZES),
        ["tune", "small"] => tune::run(&tune::SIZES[..1]),
        ["tune", "large"] => tune::run(&tune::SIZES[1..]),
        _ => Err(anyhow::anyhow!("expected: tune, with small or large if only one size is wanted")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tune::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
