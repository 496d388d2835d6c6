//! Numbers that are right on every machine, in every unit, and say so.

use assert_cmd::Command;
use bidilel_math::simd::{LEVEL_VARIABLE, Level};

use crate::support::{Folder, bidilel};

/// What a person reads of an evaluation: percent with a digit, stress with five.
fn printed(result: &serde_json::Value) -> (String, String) {
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let classes = result["classes"].as_array().expect("classes");
    let shares: Vec<String> =
        classes.iter().map(|c| format!("{:.1}", 100.0 * number(&c["accuracy"]))).collect();
    (shares.join(" "), format!("{:.5}", number(&result["stress"])))
}

fn at_level(level: Level, arguments: &[&str]) -> serde_json::Value {
    let mut command = Command::cargo_bin("bidilel").expect("the program");
    let output = command.args(arguments).env(LEVEL_VARIABLE, level.to_string()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn every_level_of_vector_instructions_prints_the_same_figures() {
    let folder = Folder::generated();
    for (bottom_up, post) in
        [("slpp", "structured"), ("pca", "none"), ("lda", "self-training"), ("cca", "none")]
    {
        let arguments =
            ["evaluate", &folder.data(), "--bottom-up", bottom_up, "--post", post, "--format", "json"];
        let expected = printed(&bidilel(&arguments).json());
        for level in Level::available() {
            assert_eq!(printed(&at_level(level, &arguments)), expected, "{bottom_up} at {level}");
        }
    }
}

/// Checks included: what is printed must not depend on the machine's number of cores.
#[test]
fn any_number_of_threads_prints_the_same_object() {
    let folder = Folder::generated();
    for learner in ["slpp", "lpp", "pca", "lda", "cca"] {
        let with = |threads: &str| {
            let data = folder.data();
            let arguments =
                ["evaluate", &data, "--bottom-up", learner, "--threads", threads, "--visual", "cnn,motion"];
            let mut result =
                bidilel(&[&arguments[..], &["--post", "structured", "--format", "json"]].concat()).json();
            result.as_object_mut().expect("an object").remove("timings");
            result
        };
        let one = with("1");
        for threads in ["2", "3", "5"] {
            assert_eq!(with(threads), one, "{learner} with {threads} threads");
        }
    }
}

#[test]
fn an_unknown_level_is_refused_and_the_one_in_use_is_told() {
    let mut command = Command::cargo_bin("bidilel").expect("the program");
    let output =
        command.args(["inspect", "builtin:emoji"]).env(LEVEL_VARIABLE, "mmx").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(said, "error: BIDILEL_SIMD must be scalar, neon, avx2 or avx512, found `mmx`\n");
    let mut command = Command::cargo_bin("bidilel").expect("the program");
    let output =
        command.args(["--version", "--verbose"]).env(LEVEL_VARIABLE, "scalar").output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.contains("vector instructions: scalar (this processor has scalar"), "{said}");
}

#[test]
fn every_stage_tells_what_it_compared() {
    let folder = Folder::generated();
    let result = bidilel(&["evaluate", &folder.data(), "--split", "random", "--format", "json"]).json();
    let checks = result["checks"].as_array().expect("checks");
    for stage in ["neighbors", "scatter", "eigen", "landmarks", "top_down"] {
        let own: Vec<_> = checks.iter().filter(|check| check["stage"] == stage).collect();
        assert!(!own.is_empty(), "{stage}");
        for check in own {
            assert_eq!(check["count"], 5, "once a trial");
            assert!(check["deviation"].as_f64() <= check["bound"].as_f64(), "{check}");
        }
    }
    assert_eq!(result["converged"], true);
    let said = bidilel(&["evaluate", &folder.data(), "--verbose"]).stderr;
    assert!(said.contains("checked: the residual of an eigenpair is off by"), "{said}");
}

/// Distances whose squares leave the range of a float ended in a stress of NaN, and in a model that no one could read.
#[test]
fn distances_that_cannot_be_squared_are_refused() {
    let folder = Folder::generated();
    let classes = std::fs::read_to_string(folder.file("classes.txt")).expect("classes").lines().count();
    for (size, fails) in [(1e155, true), (2.0, false)] {
        let distance = |i: usize, j: usize| if i == j { 0.0 } else { size * (1.0 + ((i + j) % 3) as f64) };
        let mut text = (0..classes).map(|j| format!("d{j}")).collect::<Vec<_>>().join(",") + "\n";
        for i in 0..classes {
            let row: Vec<String> = (0..classes).map(|j| format!("{:e}", distance(i, j))).collect();
            text += &(row.join(",") + "\n");
        }
        std::fs::write(folder.file("far.csv"), text).expect("writable");
        if fails {
            folder.edit("dataset.toml", |toml| {
                toml + "\n[semantic.far]\nfile = \"far.csv\"\nmetric = \"precomputed\"\n"
            });
        }
        for (command, rest) in
            [("evaluate", &["--post", "structured"][..]), ("fit", &["--out", &folder.beside("m")])]
        {
            let mut arguments = vec![command, "", "--semantic", "far"];
            let data = folder.data();
            arguments[1] = &data;
            arguments.extend(rest);
            let ran = bidilel(&arguments);
            if fails {
                assert!(ran.error().contains("but at most 1e100 can be squared"), "{}", ran.stderr);
                assert!(!folder.listing().contains(&"m".to_owned()), "no model");
            } else {
                assert_eq!(ran.status, 0, "{}", ran.stderr);
            }
        }
    }
}

/// Without a ridge LDA has no unit, and an alpha that outweighs everything is no reason to give up.
#[test]
fn features_in_another_unit_are_recognized_alike() {
    let folder = Folder::generated();
    let data = folder.data();
    let evaluate = ["evaluate", &data, "--normalize", "none", "--format", "json", "--bottom-up"];
    let both = || {
        let learners = [&["lda", "--ridge", "0"][..], &["pca"]];
        learners.map(|learner| printed(&bidilel(&[&evaluate[..], learner].concat()).json()))
    };
    let expected = both();
    for power in [15, -30] {
        folder.edit_bytes("cnn.npy", |bytes| scale(bytes, 2.0_f32.powi(power)));
        assert_eq!(both(), expected, "2^{power}");
        folder.edit_bytes("cnn.npy", |bytes| scale(bytes, 2.0_f32.powi(-power)));
    }
    let heavy = bidilel(&["evaluate", &data, "--alpha", "1e9", "--format", "json"]).json();
    assert!(heavy["accuracy"]["per_class"].as_f64() > Some(0.3));
}

/// Multiplies the single-precision numbers of an array file, behind its header.
fn scale(bytes: &mut [u8], factor: f32) {
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    for number in bytes[header..].as_chunks_mut::<4>().0 {
        *number = (f32::from_le_bytes(*number) * factor).to_le_bytes();
    }
}
