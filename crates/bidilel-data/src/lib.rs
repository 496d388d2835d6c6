//! Bytes on disk to a checked [`Dataset`](bidilel::dataset::Dataset), and back.
//!
//! A dataset is a folder with a `dataset.toml` that names its files: class names and lists as text, everything else
//! as numeric arrays. [`open`] maps and checks them, [`write()`] makes such a folder, [`mod@array`] reads single files.
//! Features are never loaded here: opening ten gigabytes takes milliseconds.
//!
//! ```
//! use std::fs;
//! use bidilel_data::array::NpyWriter;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! fs::write(folder.path().join("classes.txt"), "horse\nzebra\n")?;
//! fs::write(folder.path().join("labels.txt"), "horse\nhorse\nzebra\n")?;
//!
//! let mut features = NpyWriter::new(Vec::new(), &[3, 2])?;
//! features.write(&[0.9_f32, 0.1, 0.8, 0.2, 0.7, 0.9])?;
//! fs::write(folder.path().join("pixels.npy"), features.finish()?)?;
//!
//! let mut attributes = NpyWriter::new(Vec::new(), &[2, 2])?;
//! attributes.write(&[1.0_f32, 0.0, 1.0, 1.0])?;
//! fs::write(folder.path().join("attributes.npy"), attributes.finish()?)?;
//!
//! fs::write(folder.path().join("dataset.toml"), r#"
//!     name    = "stripes"
//!     classes = "classes.txt"
//!     labels  = "labels.txt"
//!     visual.pixels       = { file = "pixels.npy" }
//!     semantic.attributes = { file = "attributes.npy", metric = "euclidean" }
//!     split.standard      = { unseen = ["zebra"] }
//! "#)?;
//!
//! let dataset = bidilel_data::open(folder.path())?.dataset;
//! assert_eq!(dataset.labels, [0, 0, 1]);
//!
//! let copy = folder.path().join("copy");
//! bidilel_data::write(&dataset, &copy, bidilel_data::WriteOptions::default())?;
//! let again = bidilel_data::open(&copy)?.dataset;
//! assert_eq!(again.splits[0].kind, dataset.splits[0].kind);
//! # Ok(())
//! # }
//! ```

pub mod array;
mod atomic;
pub mod check;
mod class_texts;
pub mod container;
pub mod descriptors;
mod error;
mod file;
mod folder;
mod indices;
mod layout;
mod mismatch;
mod names;
mod network_record;
mod reading;
mod room;
mod scratch;
pub mod table;
pub mod text;
mod text_encoder;
pub mod words;
mod write;

pub use atomic::{
    TemporaryFolder, copy_into, lock_for_writing, probe, probe_folder, remove_temporaries, write_atomically,
};
pub use check::{Inspection, inspect, inspect_with};
pub use class_texts::{ClassText, ClassTexts, TextColumns};
pub use error::{Counted, Error, Result};
pub use file::{FileBytes, check_unchanged, map, mapped_at, read_all};
pub use folder::check_manifest;
pub use mismatch::{Mismatch, Unknown};
pub use names::{closest, composed as composed_name};
pub use network_record::{network_record, network_record_path, sha256, write_network_record};
pub use reading::{Opened, OpenedTags, has_tags, open, open_tagged, open_with};
pub use scratch::Scratch;
pub use text_encoder::{AnyError, TextEncoder, TextRequest, TextVectors};
pub use write::{
    Cells, ColumnType, Precision, Prediction, PredictionColumns, PredictionTable, TableWriter, VectorFile,
    WriteOptions, check_target, write, write_watched,
};
