//! Small files for the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bidilel_data::array::{NpyElement, NpyWriter};
use bidilel_data::container::Container;
use bidilel_data::{Inspection, Opened};
use bidilel_math::Silent;
use faer::Mat;
use tempfile::TempDir;

/// The path of a file that the script in the folder of fixtures has written.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

pub(crate) fn fixture_bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

/// What is in a dataset, and what is wrong with it.
pub(crate) fn inspect(path: &Path) -> Inspection {
    bidilel_data::inspect(path, &Silent).expect("nobody stops it")
}

/// The container in some bytes.
pub(crate) fn container(bytes: Vec<u8>) -> bidilel_data::Result<Container> {
    Container::from_bytes(Path::new("x"), Arc::new(bytes))
}

/// The error of opening, or of reading a key.
pub(crate) fn message(bytes: Vec<u8>, key: &str) -> String {
    let read = |container: Container| match container.array(Some(key)) {
        Ok(array) => panic!("{array:?}"),
        Err(error) => error.to_string(),
    };
    container(bytes).map_or_else(|error| error.to_string(), read)
}

/// A `.npy` file with any header.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    npy_with_header(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"), data)
}

pub(crate) fn npy_with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// A `.npy` file as the library writes it.
pub(crate) fn array<T: NpyElement>(shape: &[usize], values: &[T]) -> Vec<u8> {
    let mut writer = NpyWriter::new(Vec::new(), shape).unwrap();
    writer.write(values).unwrap();
    writer.finish().unwrap()
}

/// A dataset of 4 instances and 3 classes that a test can spoil.
pub(crate) struct Sample(TempDir);

pub(crate) const MANIFEST: &str = r#"
name    = "sample"
classes = "classes.txt"
labels  = "labels.npy"

[visual.zoom]
file = "zoom.npy"

[visual.area]
file = "area.npy"
transpose = true

[semantic.words]
file   = "words.npy"
metric = "cosine"

[semantic.attributes]
file   = "attributes.npy"
metric = "euclidean"
names  = "attribute-names.txt"

[split.standard]
unseen     = ["cat"]
validation = "validation.txt"

[split.random]
file = "random.npy"

[split.proposed]
train       = "train.npy"
test_seen   = { file = "seen.npy", one_based = true }
test_unseen = "unseen.npy"
"#;

impl Sample {
    pub(crate) fn new() -> Self {
        let sample = Self(tempfile::tempdir().unwrap());
        sample.put("dataset.toml", MANIFEST);
        sample.put("classes.txt", "cat\ndog\nwolf\n");
        sample.put("labels.npy", array(&[4], &[0_i64, 1, 1, 2]));
        sample.put("zoom.npy", array(&[4, 2], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]));
        sample.put("area.npy", array(&[1, 4], &[1.0_f64, 2.0, 3.0, 4.0]));
        sample.put("words.npy", array(&[3, 2], &[-1.0_f64, 2.0, -3.0, 4.0, 5.0, 6.0]));
        sample.put("attributes.npy", array(&[3, 2], &[0.0_f64, 12.5, -1.0, 3.0, 4.0, -1.0]));
        sample.put("attribute-names.txt", "black\nbig\n");
        sample.put("validation.txt", "wolf\n");
        sample.put("random.npy", array(&[2, 3], &[0_u8, 1, 0, 1, 0, 1]));
        sample.put("train.npy", array(&[2], &[2_i64, 1]));
        sample.put("seen.npy", array(&[1], &[4_i64]));
        sample.put("unseen.npy", array(&[1], &[0_i64]));
        sample
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The `dataset.toml` with a piece of it replaced.
    pub(crate) fn edit(&self, old: &str, new: &str) -> &Self {
        assert!(MANIFEST.contains(old), "{old}");
        self.put("dataset.toml", MANIFEST.replacen(old, new, 1));
        self
    }

    pub(crate) fn open(&self) -> Opened {
        bidilel_data::open(self.path()).unwrap()
    }

    /// The message and hint of the error, without the name of the temporary folder.
    pub(crate) fn error(&self) -> (String, String) {
        let error = bidilel_data::open(self.path()).unwrap_err();
        let folder = format!("{}/", self.path().display());
        (error.to_string().replace(&folder, ""), error.hint().unwrap_or_default())
    }
}

/// The matrix of the Python script, as the library shows it: row r, column c of the file holds r + c / 8.
pub(crate) fn features(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(columns, rows, |column, row| row as f64 + column as f64 / 8.0)
}
