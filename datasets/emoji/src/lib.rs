//! The datasets that ship inside the program: `builtin:emoji` (animals) and `builtin:emoji-things` (all else).
//!
//! The same named thing drawn by up to seven artists is a real recognition problem whose names mean something. The files
//! lie in the folder of this crate, `datasets/emoji` in the repository, where a script makes them. They are compiled in, so
//! that an installed program has them in every folder. Features, labels, descriptions and splits become a [`Dataset`];
//! beside it are what only people need: a character for every class and a 64-pixel picture for every instance.
//!
//! ```
//! let animals = bidilel_emoji::open("emoji")?;
//! assert_eq!(animals.dataset.classes.len(), animals.characters.len());
//! assert_eq!(&animals.thumbnail(0)?[8..12], b"WEBP");
//! # Ok::<(), bidilel_data::Error>(())
//! ```

mod files;

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bidilel::dataset::{Dataset, Metric, Semantic, Split, SplitKind, Visual};
use bidilel_data::array::{self, Array, Base};
use bidilel_data::text::{List, list_from_bytes};
use bidilel_data::{Error, Result};
use zip::ZipArchive;

use files::{ANIMALS, Files, THINGS};

/// Names after `builtin:`, the first being that of the demonstration.
pub const NAMES: [&str; 2] = ["emoji", "emoji-things"];

/// Settings for the animals, chosen by `bidilel tune` on the known classes of the split `standard`.
pub const DEMO_SETTINGS: &str = include_str!("../demo.toml");

/// A dataset with its characters and pictures.
#[derive(Debug, Clone)]
pub struct Collection {
    /// What is learned from.
    pub dataset: Dataset,
    /// A character for every class.
    pub characters: Vec<String>,
    /// `class/style` of every instance.
    pictures: Vec<String>,
    files: &'static Files,
}

/// Opens the collection of one of [`NAMES`].
///
/// # Errors
/// [`Error::NotFound`] for any other name.
pub fn open(name: &str) -> Result<Collection> {
    match name {
        "emoji" => Collection::read(&ANIMALS),
        "emoji-things" => Collection::read(&THINGS),
        other => Err(Error::NotFound { path: PathBuf::from(format!("builtin:{other}")) }),
    }
}

impl Collection {
    fn read(files: &'static Files) -> Result<Self> {
        let classes = files.list("classes.txt", files.classes)?.unique()?.items;
        let labels = files.array("labels.npy", files.labels)?.to_indices(Base::Zero)?;
        let mut semantic = Vec::new();
        if let Some((values, names)) = files.attributes {
            let names = files.list("attribute-names.txt", names)?.items;
            semantic.push(files.semantic("attributes", values, Metric::Euclidean, Some(names))?);
        }
        semantic.push(files.semantic("sentences", files.sentences, Metric::Cosine, None)?);
        let dataset = Dataset {
            name: files.name.to_owned(),
            visual: vec![files.visual("efficientnet-lite0")?],
            semantic,
            splits: files.splits(&classes)?,
            classes,
            labels,
            networks: bidilel::Networks::default(),
        };
        let characters = files.list("characters.txt", files.characters)?.items;
        let pictures = files.list("pictures.txt", files.pictures)?.items;
        Ok(Self { dataset, characters, pictures, files })
    }

    /// The style in which an instance is drawn: `noto`, `twemoji`, …
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn style(&self, instance: usize) -> &str {
        let picture = &self.pictures[instance];
        picture.split_once('/').map_or(picture.as_str(), |(_, style)| style)
    }

    /// An instance's picture: 64 x 64 pixels, a whole WebP file.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn thumbnail(&self, instance: usize) -> Result<Vec<u8>> {
        let member = format!("{}.webp", self.pictures[instance]);
        let path = self.files.path("pictures.zip");
        let damaged = |problem: String| Error::Malformed { path: path.clone(), problem };
        let mut archive = ZipArchive::new(Cursor::new(self.files.thumbnails))
            .map_err(|error| damaged(error.to_string()))?;
        let mut file = archive.by_name(&member).map_err(|error| damaged(format!("`{member}`: {error}")))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| damaged(format!("`{member}`: {error}")))?;
        Ok(bytes)
    }
}

impl Files {
    /// A file's name in messages.
    fn path(&self, file: &str) -> PathBuf {
        Path::new(&format!("builtin:{}", self.name)).join(file)
    }

    fn list(&self, file: &str, bytes: &'static [u8]) -> Result<List> {
        list_from_bytes(&self.path(file), bytes)
    }

    fn array(&self, file: &str, bytes: &'static [u8]) -> Result<Array> {
        array::from_bytes(&self.path(file), Arc::new(bytes), None)
    }

    fn visual(&self, name: &str) -> Result<Visual> {
        let rows = self.array(&format!("{name}.npy"), self.features)?;
        let origin = format!("`{}`", rows.path().display());
        Ok(Visual { name: name.to_owned(), origin, rows: Arc::new(rows) })
    }

    fn semantic(
        &self,
        name: &str,
        values: &'static [u8],
        metric: Metric,
        dimension_names: Option<Vec<String>>,
    ) -> Result<Semantic> {
        let array = self.array(&format!("{name}.npy"), values)?;
        let origin = format!("`{}`", array.path().display());
        Ok(Semantic { name: name.to_owned(), origin, metric, vectors: array.to_matrix(), dimension_names })
    }

    /// `standard`, that of the demonstration, and the family `random`.
    fn splits(&self, classes: &[String]) -> Result<Vec<Split>> {
        let unseen = self.list("unseen.txt", self.unseen)?.items;
        let unseen = (0..classes.len()).filter(|&class| unseen.contains(&classes[class])).collect();
        let mask = self.array("random-splits.npy", self.random_splits)?.to_matrix();
        let trial = |row: usize| (0..mask.nrows()).filter(|&class| mask[(class, row)] > 0.5).collect();
        let trials = (0..mask.ncols()).map(trial).collect();
        let split = |name: &str, file: &str, kind: SplitKind| Split {
            name: name.to_owned(),
            origin: format!("`{}`", self.path(file).display()),
            kind,
        };
        Ok(vec![
            split("standard", "unseen.txt", SplitKind::Classes { unseen, validation: Vec::new() }),
            split("random", "random-splits.npy", SplitKind::Family { trials }),
        ])
    }
}
