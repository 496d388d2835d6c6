//! Pictures to features, as a user types it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use tempfile::TempDir;

use crate::support::{Ran, bidilel};

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bidilel-vision/tests/fixtures").join(path)
}

struct Pictures {
    root: TempDir,
}

impl Pictures {
    fn new() -> Self {
        Self { root: TempDir::new().expect("a temporary folder") }
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.root.path().join("in").join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, bytes).expect("writable");
    }

    fn copy(&self, name: &str, target: &str) {
        self.put(target, &fs::read(fixture("pictures").join(name)).expect("a fixture"));
    }

    fn path(&self, name: &str) -> String {
        self.root.path().join(name).to_str().expect("a plain path").to_owned()
    }

    fn extract(&self, network: &str, more: &[&str]) -> Ran {
        let network = fixture(&format!("networks/{network}.onnx"));
        let (folder, out) = (self.path("in"), self.path("features.npy"));
        let network = network.to_str().expect("a plain path");
        let fixed = ["extract", &folder, "--network", network, "--out", &out, "--runtime", "rten"];
        bidilel(&[&fixed[..], more].concat())
    }

    fn written(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// A black PNG of any size with one bit a pixel, without holding its pixels.
fn black_png(width: u32, height: u32) -> Vec<u8> {
    let chunk = |out: &mut Vec<u8>, name: &[u8], data: &[u8]| {
        out.extend(u32::try_from(data.len()).expect("short").to_be_bytes());
        let start = out.len();
        out.extend(name);
        out.extend(data);
        let mut sum = Crc::new();
        sum.update(&out[start..]);
        out.extend(sum.sum().to_be_bytes());
    };
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row = vec![0; 1 + width.div_ceil(8) as usize];
    (0..height).for_each(|_| packed.write_all(&row).expect("memory takes it"));
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([1, 0, 0, 0, 0]);
    chunk(&mut png, b"IHDR", &header);
    chunk(&mut png, b"IDAT", &packed.finish().expect("memory takes it"));
    chunk(&mut png, b"IEND", &[]);
    png
}

fn bad_folder() -> Pictures {
    let pictures = Pictures::new();
    let jpeg = fs::read(fixture("pictures/photo.jpg")).expect("a fixture");
    pictures.put("cats/broken.jpg", &jpeg[..jpeg.len() / 2]);
    pictures.put("cats/empty.jpg", b"");
    pictures.put("cats/text.png", b"I am a text.");
    pictures.put("dogs/wide.png", &black_png(30_000, 500));
    pictures.put("dogs/huge.png", &black_png(30_000, 30_000));
    pictures.copy("cmyk.jpg", "dogs/cmyk.jpg");
    pictures.copy("photo.png", "cats/photo.png");
    pictures.put("cats/notes.txt", b"not a picture, and does not say so");
    pictures
}

#[test]
fn a_folder_with_bad_files_gives_the_good_ones_and_a_list() {
    let pictures = bad_folder();
    let ran = pictures
        .extract("mean", &["--size", "32", "--resize", "32", "--picture-memory", "256", "--format", "json"]);
    let result = ran.json();
    assert_eq!((&result["rows"], &result["dimensions"]), (&3.into(), &3.into()));
    assert_eq!(result["other_files"], 1);
    assert_eq!(result["runtime"], "rten");
    let list = fs::read_to_string(pictures.path("features.csv")).expect("the list");
    assert_eq!(list, "index,path,label\n0,cats/photo.png,cats\n1,dogs/cmyk.jpg,dogs\n2,dogs/wide.png,dogs\n");
    let skipped = fs::read_to_string(pictures.path("features.skipped.csv")).expect("the other list");
    let expected = "path,problem\n\
        cats/broken.jpg,is cut off: the file ends before the picture does\n\
        cats/empty.jpg,is empty\n\
        cats/text.png,\"is no picture or video, whatever its name says\"\n\
        dogs/huge.png,\"its 30000 x 30000 pixels would take 3434 MiB, more than the 256 MiB allowed\"\n";
    assert_eq!(skipped, expected);
    assert_eq!(
        pictures.written(),
        ["features.csv", "features.network.json", "features.npy", "features.skipped.csv", "in"]
    );
    assert!(ran.stderr.contains("note: skipped `cats/empty.jpg`: is empty"), "{}", ran.stderr);

    let ran =
        pictures.extract("mean", &["--size", "32", "--resize", "32", "--picture-memory", "256", "--strict"]);
    assert_eq!(ran.status, 1, "strict makes a status of what was skipped");
    assert!(ran.stdout.contains("4 of 7 files could not be read: see "), "{}", ran.stdout);
    assert!(ran.stdout.contains("features.npy: 3 rows of 3 features, float32"), "{}", ran.stdout);
}

/// A shell takes address space away, and the program still gets through.
#[cfg(target_os = "linux")]
#[test]
fn large_pictures_fit_into_bounded_memory() {
    let pictures = Pictures::new();
    for index in 0..6 {
        pictures.put(&format!("{index}.png"), &black_png(30_000, 1_000));
    }
    let program = assert_cmd::cargo::cargo_bin("bidilel");
    let network = fixture("networks/mean.onnx");
    // Six at a time would be 720 MB, one is 120 MB.
    let script = "ulimit -v 600000; exec \"$0\" \"$@\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        // Address space that the allocator sets aside for every thread is no memory.
        .env("MALLOC_ARENA_MAX", "1")
        .arg(program)
        .args(["extract", &pictures.path("in"), "--out", &pictures.path("features.npy"), "--threads", "6"])
        .args(["--runtime", "rten", "--size", "32", "--format", "json", "--network"])
        .arg(network)
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["rows"], 6, "{result}");
}

#[test]
fn features_become_a_dataset_that_can_be_looked_at() {
    let pictures = Pictures::new();
    for (label, name) in
        [("cats", "photo.png"), ("cats", "grey.png"), ("dogs", "alpha.png"), ("dogs", "photo.gif")]
    {
        pictures.copy(name, &format!("{label}/{name}"));
    }
    let (out, half) = (pictures.path("pets"), pictures.path("again"));
    let ran = pictures.extract("layers", &["--layer", "pool", "--dataset", &out]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("a dataset of 2 classes"), "{}", ran.stdout);
    let shown = bidilel(&["inspect", &out, "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!((&shown["instances"], &shown["classes"]), (&4.into(), &2.into()), "{shown}");
    let ran = pictures.extract("layers", &["--dataset", &out]);
    assert!(ran.error().ends_with("already exists and is not empty"), "{}", ran.stderr);
    pictures.copy("photo.png", "homeless.png");
    let ran = pictures.extract("layers", &["--dataset", &half, "--dtype", "float16"]);
    assert!(ran.error().contains("`homeless.png` lies in no subfolder"), "{}", ran.stderr);
    assert!(!Path::new(&half).exists());
}

#[test]
fn layers_are_listed_with_their_shapes() {
    let network = fixture("networks/layers.onnx");
    let network = network.to_str().expect("a plain path");
    let ran = bidilel(&["extract", "--network", network, "--list-layers", "--runtime", "rten"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "1 x 5 x 7 x 7  Conv               conv");
    assert_eq!(lines[4], "1 x 7          Gemm               logits  (output)");
    let ran =
        bidilel(&["extract", "--network", network, "--list-layers", "--runtime", "rten", "--format", "json"]);
    assert_eq!(ran.json()["layers"][3]["shape"], serde_json::json!([1, 5]));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_written() {
    let pictures = Pictures::new();
    pictures.copy("photo.png", "a/photo.png");
    let network = pictures.path("in/a/photo.png");
    let none = pictures.path("none");
    let cases: [(&str, &[&str], &str, &str); 9] = [
        ("layers", &["--layer", "Pool"], "has no layer `Pool`", "is it `pool`?"),
        ("layers", &["--size", "17"], "takes pictures of 16x16, not of 17x17", ""),
        ("layers", &["--layout", "nhwc"], "the network takes channels first (nchw)", ""),
        ("layers", &["--resize", "8"], "cannot be cut to 16x16", "give a larger --resize"),
        ("layers", &["--std", "1,0,1"], "must be a number other than 0", "--std"),
        ("layers", &["--crops", "10", "--fit", "pad"], "ten crops need", "--resize"),
        ("layers", &["--network", &network], "cannot be used multiple times", ""),
        ("two", &[], "expected a network with one input, found 2", ""),
        (
            "layers",
            &["--runtime", "ort", "--onnxruntime", &none],
            "ONNX Runtime cannot be used",
            "ORT_DYLIB_PATH",
        ),
    ];
    for (name, more, words, hint) in cases {
        let network = fixture(&format!("networks/{name}.onnx"));
        let (folder, out) = (pictures.path("in"), pictures.path("features.npy"));
        let fixed = ["extract", &folder, "--network", network.to_str().expect("plain"), "--out", &out];
        let ran = bidilel(&[&fixed[..], more].concat());
        assert_ne!(ran.status, 0);
        assert!(ran.stderr.contains(words) && ran.stderr.contains(hint), "{more:?}: {}", ran.stderr);
        assert_eq!(pictures.written(), ["in"], "{more:?}");
    }
    let out = pictures.path("features.csv");
    let ran = pictures.extract("layers", &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let good = fixture("networks/layers.onnx");
    let good = good.to_str().expect("plain");
    let ran = bidilel(&["extract", &pictures.path("in"), "--network", good, "--out", &out]);
    assert!(ran.usage().contains("written as .npy"));
    let ran = bidilel(&["extract", &none, "--network", good, "--out", &pictures.path("x.npy")]);
    assert!(ran.error().contains("no such file or folder"));
    let ran =
        bidilel(&["extract", &pictures.path("in"), "--network", &network, "--out", &pictures.path("x.npy")]);
    assert!(ran.error().contains("is no network that can be used"), "{}", ran.stderr);
    let ran = bidilel(&["extract", &pictures.path("in"), "--network", good]);
    assert_eq!(ran.status, 2, "where to write must be said");
    pictures.put("film.avi", b"RIFF\0\0\0\0AVI LIST");
    let ran = pictures.extract("layers", &["--ffmpeg", &none]);
    assert!(ran.error().contains("film.avi` is a video"), "{}", ran.stderr);
    assert!(ran.stderr.contains("apt install ffmpeg"), "{}", ran.stderr);
    let ran = pictures.extract("layers", &["--only", "pictures"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn a_finished_extraction_says_so_and_is_left_alone() {
    let pictures = Pictures::new();
    pictures.copy("photo.png", "a/photo.png");
    assert_eq!(pictures.extract("layers", &[]).status, 0);
    let before = fs::read(pictures.path("features.npy")).expect("features");
    let again = pictures.extract("layers", &["--resume"]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert!(again.stderr.contains("is finished: 1 rows, 0 files skipped"), "{}", again.stderr);
    assert_eq!(fs::read(pictures.path("features.npy")).expect("features"), before);
    // It is not that of other files.
    pictures.copy("photo.png", "a/second.png");
    let more = pictures.extract("layers", &["--resume"]);
    assert!(more.error().contains("is finished, but of 1 files, and there are 2 now"), "{}", more.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_that_are_no_utf8_come_through_byte_for_byte() {
    use std::os::unix::ffi::OsStrExt;
    let pictures = Pictures::new();
    let photo = fs::read(fixture("pictures/photo.png")).expect("a fixture");
    // Latin-1 names, two of which would be the same if what is no UTF-8 were replaced.
    for name in [&b"caf\xe9"[..], b"caf\xe8", b"=2+3"] {
        let folder = Path::new(&pictures.path("in")).join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(&folder).expect("writable");
        fs::write(folder.join("1.png"), &photo).expect("writable");
    }
    let ran = pictures.extract("layers", &["--csv-safe"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let list = fs::read(pictures.path("features.csv")).expect("a list");
    let lines: Vec<&[u8]> = list.split(|&byte| byte == b'\n').collect();
    assert_eq!(lines[1], b"0,'=2+3/1.png,'=2+3");
    assert_eq!(lines[2], b"1,caf\xe8/1.png,caf\\xe8");
    assert_eq!(lines[3], b"2,caf\xe9/1.png,caf\\xe9");
}
