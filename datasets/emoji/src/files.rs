//! The bytes of the files of both datasets.

/// The files of one dataset.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) name: &'static str,
    pub(crate) classes: &'static [u8],
    pub(crate) characters: &'static [u8],
    pub(crate) labels: &'static [u8],
    pub(crate) features: &'static [u8],
    pub(crate) pictures: &'static [u8],
    pub(crate) thumbnails: &'static [u8],
    /// Values and names, where the classes have attributes.
    pub(crate) attributes: Option<(&'static [u8], &'static [u8])>,
    pub(crate) sentences: &'static [u8],
    pub(crate) unseen: &'static [u8],
    pub(crate) random_splits: &'static [u8],
}

macro_rules! bytes {
    ($folder:literal, $file:literal) => {
        include_bytes!(concat!("../", $folder, "/", $file))
    };
}

macro_rules! files {
    ($name:literal, $folder:literal, $attributes:expr) => {
        Files {
            name: $name,
            classes: bytes!($folder, "classes.txt"),
            characters: bytes!($folder, "characters.txt"),
            labels: bytes!($folder, "labels.npy"),
            features: bytes!($folder, "efficientnet-lite0.npy"),
            pictures: bytes!($folder, "pictures.txt"),
            thumbnails: bytes!($folder, "pictures.zip"),
            attributes: $attributes,
            sentences: bytes!($folder, "sentences.npy"),
            unseen: bytes!($folder, "unseen.txt"),
            random_splits: bytes!($folder, "random-splits.npy"),
        }
    };
}

pub(crate) static ANIMALS: Files = files!(
    "emoji",
    "animals",
    Some((bytes!("animals", "attributes.npy"), bytes!("animals", "attribute-names.txt")))
);

pub(crate) static THINGS: Files = files!("emoji-things", "things", None);
