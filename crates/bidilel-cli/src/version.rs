//! `bidilel --version --verbose`: what this program computes with.

use std::ffi::OsString;

use bidilel_math::simd::{LEVEL_VARIABLE, Level};

/// The answer, where both were asked for. clap answers `--version` alone, before it looks at anything else.
pub(crate) fn answer(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let (mut version, mut verbose) = (false, false);
    for argument in arguments.skip(1) {
        match argument.to_str() {
            Some("--version" | "-V") => version = true,
            Some("--verbose" | "-v") => verbose = true,
            Some("-Vv" | "-vV") => (version, verbose) = (true, true),
            _ => return None,
        }
    }
    (version && verbose).then(describe)
}

/// The features of the package, and whether this build has them.
const FEATURES: [(&str, bool); 7] = [
    ("emoji", cfg!(feature = "emoji")),
    ("hdf5", cfg!(feature = "hdf5")),
    ("ort", cfg!(feature = "ort")),
    ("parquet", cfg!(feature = "parquet")),
    ("png", cfg!(feature = "png")),
    ("text", cfg!(feature = "text")),
    ("vision", cfg!(feature = "vision")),
];

fn describe() -> String {
    let levels: Vec<String> = Level::available().iter().map(ToString::to_string).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let features: Vec<&str> = FEATURES.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    format!(
        "bidilel {}\nvector instructions: {} (this processor has {}; {LEVEL_VARIABLE} forces one)\nthreads: {threads}\nbuilt for: {}-{}\nbuilt with: {features}\n",
        env!("CARGO_PKG_VERSION"),
        Level::in_use(),
        levels.join(", "),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_words_are_needed_and_no_others() {
        let ask = |words: &[&str]| answer(["bidilel"].iter().chain(words).map(OsString::from));
        for words in [&["--version", "--verbose"][..], &["-v", "--version"], &["-Vv"]] {
            assert!(ask(words).is_some_and(|said| said.contains("vector instructions: ")));
        }
        for words in [&[][..], &["--version"], &["-v"], &["evaluate", "--version", "--verbose"]] {
            assert_eq!(ask(words), None);
        }
    }

    #[test]
    fn every_feature_of_the_package_is_named() {
        let manifest = include_str!("../Cargo.toml");
        let default = manifest.lines().find_map(|line| line.strip_prefix("default = ")).unwrap();
        let names: Vec<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
        assert_eq!(default, format!("{names:?}"));
    }
}
