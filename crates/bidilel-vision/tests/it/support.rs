//! Fixtures, and one extraction as a call.

use std::fs;
use std::path::{Path, PathBuf};

use bidilel::dataset::Rows;
use bidilel_data::Precision;
use bidilel_vision::{
    ExtractOptions, Extracted, LabelFrom, NetworkFile, NetworkOptions, Only, Pool, Preprocess, Preset, Range,
    Result, Runtime, Size, VideoOptions, discover, extract,
};
use tempfile::TempDir;

pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// Pixels as they are, in the size of the tiny networks.
pub(crate) fn plain(size: u32) -> Preprocess {
    Preprocess {
        resize: Size::square(size),
        range: Range::Bytes,
        mean: [0.0; 3],
        std: [1.0; 3],
        ..Preset::Torchvision.settings(Some(Size::square(size)))
    }
}

pub(crate) struct Work {
    root: TempDir,
    pub(crate) network: PathBuf,
    pub(crate) layer: Option<String>,
    pub(crate) options: ExtractOptions,
    pub(crate) runtime: Runtime,
    pub(crate) library: Option<PathBuf>,
}

impl Work {
    pub(crate) fn new(network: &str, preprocess: Preprocess) -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("in")).unwrap();
        let options = ExtractOptions {
            most_bytes: 1 << 30,
            preprocess,
            pool: Pool::Mean,
            batch: 4,
            precision: Precision::Float32,
            video: VideoOptions::default(),
            out: root.path().join("features.npy"),
            resume: false,
            csv_safe: false,
            stop_at_bad: false,
        };
        let network = fixture(&format!("networks/{network}.onnx"));
        Self { root, network, layer: None, options, runtime: Runtime::Rten, library: None }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.path().join("in")
    }

    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn put_picture(&self, name: &str) {
        self.put(name, &fs::read(fixture("pictures").join(name)).unwrap());
    }

    pub(crate) fn run(&self) -> Result<Extracted> {
        self.run_until(usize::MAX)
    }

    /// Runs, and is killed (as a panic) when so many files are done.
    pub(crate) fn run_until(&self, most: usize) -> Result<Extracted> {
        let found = discover(&self.folder(), Only::Both, LabelFrom::Top)?;
        let file = NetworkFile::open(&self.network)?;
        let mut network = file.load(&self.network_options())?;
        extract(&found, &file, &mut network, &self.options, &|done, _| assert!(done < most, "killed"))
    }

    pub(crate) fn network_options(&self) -> NetworkOptions {
        NetworkOptions {
            runtime: self.runtime,
            library: self.library.clone(),
            layer: self.layer.clone(),
            threads: 2,
        }
    }

    pub(crate) fn rows(&self) -> Vec<Vec<f32>> {
        let array = bidilel_data::array::open(&self.options.out, None).unwrap();
        let mut row = vec![0.0; array.dim()];
        let mut read = |index| {
            array.read(index, &mut row);
            row.clone()
        };
        (0..array.count()).map(&mut read).collect()
    }

    /// Names of what lies beside the folder of pictures.
    pub(crate) fn written(&self) -> Vec<String> {
        let names = fs::read_dir(self.root.path()).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "in")
            .collect();
        names.sort();
        names
    }
}

/// An uncompressed picture of one colour, in bytes that need no encoder.
pub(crate) fn bitmap(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    let row = (width as usize * 3).next_multiple_of(4);
    let size = 54 + row * height as usize;
    let mut bytes = b"BM".to_vec();
    bytes.extend(u32::try_from(size).unwrap().to_le_bytes());
    bytes.extend([0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]);
    bytes.extend(width.to_le_bytes());
    bytes.extend(height.to_le_bytes());
    bytes.extend([1, 0, 24, 0]);
    bytes.resize(54, 0);
    for _ in 0..height {
        let start = bytes.len();
        (0..width).for_each(|_| bytes.extend([colour[2], colour[1], colour[0]]));
        bytes.resize(start + row, 0);
    }
    bytes
}
