//! `encode`: local descriptors in, feature rows out, whatever they lie in and however many threads there are.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bidilel_data::array::{NpyElement, NpyWriter};
use tempfile::TempDir;

use crate::support::{Ran, bidilel};

const CLASSES: usize = 12;
const CLIPS: usize = 8;
const DIM: usize = 6;

/// Numbers that look random and are always the same, evenly between -1 and 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "24 bits are what a float holds")]
        let share = (self.0 >> 40) as f32 / 16_777_216.0;
        2.0 * share - 1.0
    }
}

/// How often each of four kinds of descriptor occurs in a class: also its description.
fn shares(class: usize) -> [f32; 4] {
    let (first, second) = (class % 4, (class % 4 + 1 + class / 4) % 4);
    let mut shares = [0.05; 4];
    (shares[first], shares[second]) = (0.6, 0.3);
    shares
}

/// The descriptors of a clip: each is one of four kinds, with noise.
fn clip(class: usize, clip: usize) -> Vec<[f32; DIM]> {
    let mut noise = Noise((class * 1000 + clip) as u64 + 7);
    let count = 40 + 7 * ((class + clip) % 5);
    (0..count)
        .map(|_| {
            let (mut left, mut kind) = (f32::midpoint(noise.next(), 1.0), 0);
            while kind < 3 && left > shares(class)[kind] {
                left -= shares(class)[kind];
                kind += 1;
            }
            std::array::from_fn(|d| if d == kind { 3.0 } else { 0.0 } + 0.6 * noise.next())
        })
        .collect()
}

fn save<T: NpyElement>(path: &Path, shape: &[usize], values: &[T]) {
    let mut writer = NpyWriter::new(Vec::new(), shape).expect("a small array");
    writer.write(values).expect("as many as there are");
    fs::write(path, writer.finish().expect("complete")).expect("writable");
}

struct Clips {
    root: TempDir,
}

impl Clips {
    /// A folder `clips` with a subfolder a class and a file a clip.
    fn new() -> Self {
        let clips = Self { root: TempDir::new().expect("a temporary folder") };
        for class in 0..CLASSES {
            fs::create_dir_all(clips.path(&format!("clips/class{class:02}"))).expect("writable");
            for number in 0..CLIPS {
                let rows = clip(class, number);
                let path = clips.path(&format!("clips/class{class:02}/clip{number:02}.npy"));
                save(&path, &[rows.len(), DIM], rows.as_flattened());
            }
        }
        clips
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain path").to_owned()
    }

    fn encode(&self, from: &str, out: &str, extra: &[&str]) -> Ran {
        let mut words: Vec<String> =
            vec!["encode".to_owned(), self.text(from), "--out".to_owned(), self.text(out)];
        // What ends in `@` is the name of a file in the folder.
        words.extend(extra.iter().map(|word| match word.strip_suffix('@') {
            Some(name) => self.text(name),
            None => (*word).to_owned(),
        }));
        bidilel(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The rows of a run that must succeed.
    fn rows(&self, from: &str, extra: &[&str]) -> Vec<u8> {
        let ran = self.encode(from, "rows.npy", extra);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        fs::read(self.path("rows.npy")).expect("rows")
    }

    /// Fails, says all this, and leaves nothing.
    fn refuses(&self, from: &str, extra: &[&str], parts: &[&str]) {
        let ran = self.encode(from, "refused.npy", extra);
        let error = ran.error();
        assert!(parts.iter().all(|part| ran.stderr.contains(part)), "{} should say {parts:?}", ran.stderr);
        assert!(error.len() < 400, "{error}");
        let left: Vec<_> = fs::read_dir(self.root.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains("refused") || name.starts_with('.'))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// All descriptors in one array, clips mixed: `all.npy` and `items.npy`; together: `sorted.npy`, `offsets.npy`.
    fn one_array(&self) {
        let clips: Vec<Vec<[f32; DIM]>> =
            (0..CLASSES * CLIPS).map(|item| clip(item / CLIPS, item % CLIPS)).collect();
        let mut offsets = vec![0_i64];
        for rows in &clips {
            offsets.push(offsets.last().expect("a zero") + i64::try_from(rows.len()).expect("few"));
        }
        let sorted: Vec<[f32; DIM]> = clips.concat();
        save(&self.path("sorted.npy"), &[sorted.len(), DIM], sorted.as_flattened());
        save(&self.path("offsets.npy"), &[offsets.len()], &offsets);
        // A round robin: the first descriptor of every clip, then the second, and so on.
        let longest = clips.iter().map(Vec::len).max().expect("clips");
        let places = (0..longest).flat_map(|i| (0..clips.len()).map(move |item| (item, i)));
        let mixed: Vec<(usize, [f32; DIM])> =
            places.filter_map(|(item, i)| Some((item, *clips[item].get(i)?))).collect();
        let values: Vec<[f32; DIM]> = mixed.iter().map(|(_, row)| *row).collect();
        let owners: Vec<i64> = mixed.iter().map(|&(item, _)| i64::try_from(item).expect("few")).collect();
        save(&self.path("all.npy"), &[values.len(), DIM], values.as_flattened());
        save(&self.path("items.npy"), &[owners.len()], &owners);
    }
}

const SMALL: [&str; 4] = ["--components", "4", "--pca", "5"];

#[test]
fn encoded_descriptors_are_a_dataset_that_is_recognized() {
    // A Fisher vector does not count how many fall to a component, but it sees how kinds mix within one.
    for (method, components) in [("fisher", "2"), ("bag", "4")] {
        let clips = Clips::new();
        fs::create_dir(clips.path("data")).expect("writable");
        let ran = clips.encode("clips", "data/kinds.npy", &["--method", method, "--components", components]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("[visual.kinds]"), "{}", ran.stdout);
        let table = fs::read_to_string(clips.path("data/kinds.csv")).expect("names");
        assert!(
            table.starts_with("index,item,label,descriptors\n0,class00/clip00.npy,class00,40\n"),
            "{table}"
        );
        let mut manifest = fs::read_to_string(clips.path("data/kinds.toml")).expect("a manifest");
        manifest += "[semantic.shares]\nfile = \"shares.npy\"\nmetric = \"euclidean\"\n";
        manifest += "[split.standard]\nunseen = [\"class02\", \"class05\", \"class07\"]\n";
        fs::write(clips.path("data/dataset.toml"), manifest).expect("writable");
        let described: Vec<f32> = (0..CLASSES).flat_map(shares).collect();
        save(&clips.path("data/shares.npy"), &[CLASSES, 4], &described);
        let folder = clips.text("data");
        let options = ["--dim", "4", "--neighbors", "5", "--format", "json"];
        let result = bidilel(&[&["evaluate", &folder], &options[..]].concat()).json();
        let accuracy = result["accuracy"]["per_class"].as_f64().expect("an accuracy");
        assert!(accuracy > 0.7, "{method}: {accuracy}, by chance 0.33");
        assert_eq!(bidilel(&["inspect", &folder]).status, 0);
    }
}

#[test]
fn rows_do_not_depend_on_where_the_descriptors_lie() {
    let clips = Clips::new();
    clips.one_array();
    let mut list = String::new();
    for item in 0..CLASSES * CLIPS {
        writeln!(list, "clips/class{:02}/clip{:02}.npy", item / CLIPS, item % CLIPS).expect("text");
    }
    fs::write(clips.path("list.txt"), list).expect("writable");
    let sample = [&SMALL[..], &["--sample", "100000"]].concat();
    let expected = clips.rows("clips", &sample);
    assert_eq!(clips.rows("list.txt", &sample), expected, "a list of files");
    let offsets = [&sample[..], &["--offsets", "offsets.npy@"]].concat();
    assert_eq!(clips.rows("sorted.npy", &offsets), expected, "one array, by offsets");
    // Items that are mixed are put together before anything is drawn.
    let items = [&sample[..], &["--items", "items.npy@"]].concat();
    assert_eq!(clips.rows("all.npy", &items), expected, "one array, in any order");
}

#[test]
fn columns_keys_and_text_are_found() {
    let clips = Clips::new();
    let expected = clips.rows("clips", &[&SMALL[..], &["--columns", "1..6"]].concat());
    // The same numbers as text, with two more columns in front: %.9g gives a float back as it was.
    for class in 0..CLASSES {
        fs::create_dir_all(clips.path(&format!("texts/class{class:02}"))).expect("writable");
        for number in 0..CLIPS {
            let mut text = String::new();
            for row in clip(class, number) {
                let cells: Vec<String> = row[1..].iter().map(ToString::to_string).collect();
                writeln!(text, "{number}\t0.5\t{}", cells.join("\t")).expect("text");
            }
            fs::write(clips.path(&format!("texts/class{class:02}/clip{number:02}.txt")), text)
                .expect("writable");
        }
    }
    assert_eq!(clips.rows("texts", &[&SMALL[..], &["--columns", "2..7"]].concat()), expected);
    clips.refuses("texts", &["--columns", "2..8"], &["clip00.txt", "columns 2..8", "7 columns"]);
}

#[test]
fn a_saved_encoder_gives_the_same_rows_and_so_does_any_number_of_threads() {
    let clips = Clips::new();
    for extra in
        [&[][..], &["--reduce", "9"], &["--reduce", "9", "--reduce-by", "randomized"], &["--method", "bag"]]
    {
        let learn = [&SMALL[..], extra, &["--save-encoder", "encoder@"]].concat();
        let expected = clips.rows("clips", &learn);
        assert_eq!(clips.rows("clips", &["--encoder", "encoder@"]), expected, "{extra:?}");
        for threads in ["1", "2", "3"] {
            let rows = clips.rows("clips", &[&SMALL[..], extra, &["--threads", threads]].concat());
            assert_eq!(rows, expected, "{extra:?}, {threads} threads");
        }
    }
}

#[test]
fn the_result_says_what_was_learned_and_reductions_are_clipped_aloud() {
    let clips = Clips::new();
    let ran =
        clips.encode("clips", "f.npy", &[&SMALL[..], &["--reduce", "3000", "--format", "json"]].concat());
    assert!(ran.stderr.contains("so --reduce 3000 is 40"), "{}", ran.stderr);
    let result = ran.json();
    assert_eq!((result["items"].as_u64(), result["raw_dim"].as_u64()), (Some(96), Some(40)));
    assert_eq!(result["dim"], 40);
    assert!(result["learned"]["log_likelihood"].as_f64().expect("a number").is_finite());
    let kept = result["learned"]["reduction"]["variance_kept"].as_f64().expect("a share");
    assert!((kept - 1.0).abs() < 1e-9, "{kept}");
    assert!(result["learned"]["reduction"]["residual"].is_null(), "an exact PCA has no residual to tell");
    let randomized = [&SMALL[..], &["--reduce", "5", "--reduce-by", "randomized"]].concat();
    let ran = clips.encode("clips", "f.npy", &randomized);
    assert!(ran.stdout.contains("randomized with residuals up to"), "{}", ran.stdout);
}

#[test]
fn items_without_descriptors() {
    let clips = Clips::new();
    save::<f32>(&clips.path("clips/class03/empty.npy"), &[0, DIM], &[]);
    fs::write(clips.path("clips/class04/nothing.txt"), "").expect("writable");
    clips.refuses("clips", &SMALL, &["empty.npy", "has no descriptors", "hint: ", "--empty zero"]);
    let rows = clips.rows("clips", &[&SMALL[..], &["--empty", "zero"]].concat());
    let row = |item: usize| &rows[128 + item * 160..128 + (item + 1) * 160];
    assert_eq!(rows.len(), 128 + 98 * 160);
    // Names in order: `empty.npy` follows the clips of its class, and so does `nothing.txt`.
    assert!(row(32).iter().all(|&byte| byte == 0) && row(41).iter().all(|&byte| byte == 0));
    assert!(row(0).iter().any(|&byte| byte != 0));
    // Nothing but empty items: rows of zeros from an encoder, an error without one.
    clips.rows("clips", &[&SMALL[..], &["--empty", "zero", "--save-encoder", "encoder@"]].concat());
    fs::create_dir(clips.path("void")).expect("writable");
    fs::write(clips.path("void/nothing.txt"), "").expect("writable");
    let rows = clips.rows("void", &["--empty", "zero", "--encoder", "encoder@"]);
    assert!(rows.len() == 128 + 160 && rows[128..].iter().all(|&byte| byte == 0));
    clips.refuses("void", &["--empty", "zero"], &["components must be at most", "0 of 0"]);
    clips.one_array();
    // Numbers from 0 where the file counts from 1: item 0 has nothing.
    let shifted: Vec<i64> = (0..CLASSES * CLIPS)
        .flat_map(|item| vec![i64::try_from(item).expect("few") + 1; clip(item / CLIPS, item % CLIPS).len()])
        .collect();
    save(&clips.path("from-one.npy"), &[shifted.len()], &shifted);
    let by = ["--components", "4", "--items", "from-one.npy@"];
    clips.refuses("sorted.npy", &by, &["item 0 of", "sorted.npy", "has no descriptors"]);
    assert_eq!(
        clips.rows("sorted.npy", &[&by[..], &["--one-based"]].concat()),
        clips.rows("sorted.npy", &["--components", "4", "--offsets", "offsets.npy@"])
    );
}

#[test]
fn descriptors_that_cannot_be_used() {
    let clips = Clips::new();
    let bad = clips.path("clips/class01/clip05.npy");
    let good = fs::read(&bad).expect("a clip");
    let mut poked = good.clone();
    let place = 128 + 4 * (DIM * 9 + 2);
    poked[place..place + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&bad, poked).expect("writable");
    clips.refuses("clips", &SMALL, &["clip05.npy", "row 9, column 2 is NaN", "hint: "]);
    save(&bad, &[4, 5], &[1.0_f32; 20]);
    clips.refuses("clips", &SMALL, &["clip05.npy", "6 dimensions", "clip00.npy", "found 5"]);
    save(&bad, &[6], &[1.0_f32; 6]);
    clips.refuses("clips", &SMALL, &["clip05.npy", "a matrix of descriptors x dimensions"]);
    fs::write(&bad, b"\x93NUMPY\x01").expect("writable");
    clips.refuses("clips", &SMALL, &["clip05.npy", "header"]);
    fs::write(&bad, good).expect("writable");
    clips.refuses("clips", &["--components", "4", "--pca", "7"], &["pca must be between 1 and 6", "7"]);
    clips.refuses("clips", &["--components", "90000"], &["components must be at most", "90000"]);
    clips.refuses("clips", &["--sample", "100"], &["components must be at most", "100 of", "256"]);
    clips.refuses("clips", &["--components", "4", "--key", "x"], &["clip00.npy", "no keys"]);
    clips.refuses("nowhere", &SMALL, &["nowhere", "no such file"]);
    clips.refuses("clips/class01/clip01.npy", &SMALL, &["says nothing of items", "--offsets"]);
    save(&clips.path("clips/stray.npy"), &[2, DIM], &[0.5_f32; 2 * DIM]);
    clips.refuses("clips", &SMALL, &["stray.npy", "label is not known", "--labels none"]);
    fs::create_dir(clips.path("bare")).expect("writable");
    fs::write(clips.path("bare/README.md"), "nothing").expect("writable");
    clips.refuses("bare", &SMALL, &["bare", "no file of descriptors"]);
    save(&clips.path("same.npy"), &[50, DIM], &[0.5_f32; 50 * DIM]);
    save(&clips.path("halves.npy"), &[2], &[0_i64, 25]);
    clips.refuses("same.npy", &["--components", "4", "--offsets", "halves.npy@"], &["pca", "do not vary"]);
    let plain = ["--components", "4", "--offsets", "halves.npy@", "--pca", "none"];
    clips.refuses("same.npy", &plain, &["distinct points", "hint: lower --components"]);
}

#[test]
fn divisions_of_one_array_that_do_not_fit() {
    let clips = Clips::new();
    clips.one_array();
    let by = |name: &str, values: &[i64]| save(&clips.path(name), &[values.len()], values);
    by("late.npy", &[3, 40]);
    clips.refuses("sorted.npy", &["--offsets", "late.npy@"], &["late.npy", "row 0", "expected 0"]);
    by("back.npy", &[0, 50, 40]);
    clips.refuses("sorted.npy", &["--offsets", "back.npy@"], &["back.npy", "row 2", "at least 50"]);
    by("far.npy", &[0, 50, 4_000_000]);
    clips.refuses("sorted.npy", &["--offsets", "far.npy@"], &["far.npy", "row 2", "at most"]);
    by("minus.npy", &[0, -1]);
    clips.refuses("sorted.npy", &["--offsets", "minus.npy@"], &["minus.npy", "-1"]);
    by("few.npy", &[0, 0, 1]);
    clips.refuses("sorted.npy", &["--items", "few.npy@"], &["few.npy", "one per descriptor", "found 3"]);
    let mut items: Vec<i64> =
        vec![0; (0..CLASSES * CLIPS).map(|item| clip(item / CLIPS, item % CLIPS).len()).sum()];
    items[17] = 1_000_000_000_000;
    by("wild.npy", &items);
    clips.refuses("sorted.npy", &["--items", "wild.npy@"], &["wild.npy", "row 17", "1000000000000"]);
    fs::write(clips.path("names.txt"), "only one\n").expect("writable");
    clips.refuses(
        "sorted.npy",
        &["--offsets", "offsets.npy@", "--names", "names.txt@"],
        &["names.txt", "expected 96 names", "found 1"],
    );
    clips.refuses(
        "sorted.npy",
        &["--offsets", "offsets.npy@", "--labels", "names.txt@"],
        &["names.txt", "expected 96 labels", "found 1"],
    );
}

#[test]
fn encoders_that_cannot_be_used() {
    let clips = Clips::new();
    clips.rows("clips", &[&SMALL[..], &["--save-encoder", "encoder@"]].concat());
    let good = fs::read(clips.path("encoder")).expect("an encoder");
    let with = ["--encoder", "bad@"];
    for length in [0, 5, 100, good.len() - 8] {
        fs::write(clips.path("bad"), &good[..length]).expect("writable");
        clips.refuses("clips", &with, &["bad"]);
    }
    let mut negative = good.clone();
    let end = negative.len();
    // The last tensor is what comes last by name: the variances of the mixture lie before the projection.
    negative[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    fs::write(clips.path("bad"), &negative).expect("writable");
    clips.refuses("clips", &with, &["bad", "not a usable encoder", "not finite"]);
    let newer = String::from_utf8_lossy(&good[8..600]).replacen("\\\"format\\\":1", "\\\"format\\\":7", 1);
    let mut bytes = good.clone();
    bytes[8..600].copy_from_slice(newer.as_bytes());
    fs::write(clips.path("bad"), &bytes).expect("writable");
    clips.refuses("clips", &with, &["format version 7", "newer bidilel"]);
    save(&clips.path("bad"), &[2], &[1.0_f32, 2.0]);
    clips.refuses("clips", &with, &["bad", "not a safetensors file"]);
    clips.refuses("clips", &["--encoder", "missing@"], &["missing", "no such file"]);
    // Fitted to other descriptors.
    let ran = clips.encode("clips", "refused.npy", &["--encoder", "encoder@", "--columns", "0..4"]);
    assert!(
        ran.error().contains("expected 6 dimensions") && ran.error().contains("found 4"),
        "{}",
        ran.stderr
    );
    assert_eq!(clips.encode("clips", "x.npy", &["--encoder", "encoder@", "--components", "3"]).status, 2);
}

#[test]
fn outputs_that_cannot_be_written() {
    let clips = Clips::new();
    for (out, parts) in [("missing/f.npy", "no such file or folder"), ("clips", "found a folder")] {
        let ran = clips.encode("clips", out, &SMALL);
        assert!(ran.error().contains(parts), "{}", ran.stderr);
    }
    let ran = clips.encode("clips", "f.csv", &SMALL);
    assert!(ran.usage().contains("written as .npy"), "{}", ran.stderr);
    let ran = clips.encode("clips", "f.npy", &[&SMALL[..], &["--save-encoder", "missing/e@"]].concat());
    assert!(ran.error().contains("no such file or folder"), "{}", ran.stderr);
    assert!(!clips.path("f.npy").exists());
}
