//! A camera in the woods: drawings of animals by their looks, and the tiny networks that tell these apart.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// What an animal looks like, in the words of the tiny text network.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of a description, yes or no")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    color: [f64; 3],
    striped: bool,
    spotted: bool,
    large: bool,
    horned: bool,
}

impl Looks {
    /// The looks that a description speaks of.
    pub(crate) fn of(description: &str) -> Self {
        let colors = [
            ("red", [0.85, 0.2, 0.15]),
            ("green", [0.2, 0.75, 0.25]),
            ("blue", [0.2, 0.3, 0.85]),
            ("bluish", [0.2, 0.3, 0.85]),
            ("yellow", [0.9, 0.8, 0.2]),
            ("brown", [0.5, 0.35, 0.2]),
            ("white", [0.95, 0.95, 0.95]),
            ("gray", [0.55, 0.55, 0.55]),
            ("black", [0.12, 0.12, 0.12]),
            ("dark", [0.12, 0.12, 0.12]),
        ];
        let has = |word: &str| description.contains(word);
        Self {
            color: colors.iter().find(|(word, _)| has(word)).map_or([0.7; 3], |(_, color)| *color),
            striped: has("stripe"),
            spotted: has("spot"),
            large: has("large") || has("big"),
            horned: has("horn"),
        }
    }

    /// One picture of such an animal; every number gives another.
    pub(crate) fn drawing(self, number: u32) -> String {
        let mut state = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut jitter = |most: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            most * ((state >> 33) as f64 / f64::from(1 << 30) - 1.0)
        };
        let shade = |value: f64| ((value + 0.0).clamp(0.0, 1.0) * 255.0).round();
        let mut color = self.color;
        color.iter_mut().for_each(|value| *value += jitter(0.04));
        let body = format!("rgb({},{},{})", shade(color[0]), shade(color[1]), shade(color[2]));
        let size = if self.large { 27.0 } else { 15.0 } + jitter(1.0);
        let (x, y) = (32.0 + jitter(2.0), 36.0 + jitter(2.0));
        let mut text = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\"><rect width=\"64\" height=\"64\" fill=\"#9ab\"/>",
        );
        let _ = write!(
            text,
            "<ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{size}\" ry=\"{}\" fill=\"{body}\"/>",
            0.8 * size
        );
        let mark = if self.color[0] + self.color[1] + self.color[2] > 1.0 { "#111" } else { "#eee" };
        for place in -2..=2 {
            let at = x + f64::from(place) * size / 3.0;
            if self.striped {
                let _ = write!(
                    text,
                    "<rect x=\"{}\" y=\"{}\" width=\"2.4\" height=\"{}\" fill=\"{mark}\"/>",
                    at - 1.2,
                    y - 0.6 * size,
                    1.2 * size
                );
            }
            if self.spotted {
                for row in [-0.35, 0.35] {
                    let _ = write!(
                        text,
                        "<circle cx=\"{at}\" cy=\"{}\" r=\"2.2\" fill=\"{mark}\"/>",
                        y + row * size
                    );
                }
            }
        }
        if self.horned {
            let top = y - 0.75 * size;
            let _ = write!(
                text,
                "<path d=\"M{} {top} l-6 -10 h4 l6 10 z M{} {top} l6 -10 h-4 l-6 10 z\" fill=\"#620\"/>",
                x - 4.0,
                x + 4.0
            );
        }
        text + "</svg>"
    }
}

/// A picture that shows no animal: bright colors in squares.
pub(crate) fn nothing(number: u32) -> String {
    let mut text = String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\">");
    for square in 0..16_u32 {
        let color = ["#f0f", "#0ff", "#ff0", "#fff"][((square * 7 + number * 3 + square / 4) % 4) as usize];
        let _ = write!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"16\" height=\"16\" fill=\"{color}\"/>",
            square % 4 * 16,
            square / 4 * 16
        );
    }
    text + "</svg>"
}

/// A folder with the networks, in which commands are run.
pub(crate) struct Camera {
    root: TempDir,
}

impl Camera {
    pub(crate) fn new() -> Self {
        let camera = Self { root: TempDir::new().expect("a folder") };
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (from, to) in [
            ("bidilel-vision/tests/fixtures/networks/looks.onnx", "net.onnx"),
            ("bidilel-text/tests/fixtures/tokens.onnx", "text.onnx"),
            ("bidilel-text/tests/fixtures/tokenizer.json", "tokenizer.json"),
        ] {
            fs::copy(crates.join(from), camera.path(to)).expect("a fixture");
        }
        camera
    }

    pub(crate) fn folder(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// Pictures of a species.
    pub(crate) fn shoot(&self, folder: &str, description: &str, numbers: std::ops::Range<u32>) {
        for number in numbers {
            self.put(&format!("{folder}/{number:04}.jpg"), Looks::of(description).drawing(number));
        }
    }
}

/// Species with their descriptions, and whether there are pictures of them.
pub(crate) const SPECIES: [(&str, &str, bool); 13] = [
    ("fox", "a small red animal", true),
    ("tiger", "a large yellow cat with stripes", true),
    ("leopard", "a large yellow cat with spots", true),
    ("panther", "a large black cat", true),
    ("wolf", "a large gray animal", true),
    ("bear", "a large brown animal", true),
    ("elk", "a large brown deer with horns", true),
    ("fawn", "a small brown deer with spots", true),
    ("jay", "a small blue bird", true),
    ("ibex", "a small gray animal with horns", true),
    ("skunk", "a small black animal with stripes", true),
    ("snow leopard", "a large white cat with spots", false),
    ("bongo", "a large red deer with stripes and horns", false),
];

/// The species as a table, and pictures of those that have some.
pub(crate) fn camera() -> Camera {
    let camera = Camera::new();
    let mut table = String::from("name,description\n");
    for (kind, (name, description, known)) in (0_u32..).zip(SPECIES) {
        let _ = writeln!(table, "{name},{description}");
        if known {
            camera.shoot(&format!("photos/{name}"), description, kind * 100..kind * 100 + 8);
        }
    }
    camera.put("species.csv", table);
    camera
}
