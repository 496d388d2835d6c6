//! Bytes to a picture, or to a drawing that becomes one at the size that is wanted.
//!
//! A broken or hostile file gives a reason in words, never a panic and never more memory than the limit allows.

mod drawing;
mod jpeg;
mod raster;

use std::sync::{Mutex, PoisonError};

use resvg::usvg;

use crate::guard::guarded;
use crate::kind::Kind;
use crate::picture::{Picture, Window};
use crate::resample::{self, Filter};

/// How files are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decoding {
    /// What shows through transparent pixels.
    pub(crate) background: [u8; 3],
    /// The most bytes that the pixels of one picture may take.
    pub(crate) most_bytes: u64,
}

/// A decoded file.
pub(crate) enum Decoded {
    Picture(Picture),
    Drawing(Box<usvg::Tree>, [u8; 3]),
}

/// Pictures that take more than this are decoded one at a time, so that memory does not grow with the threads.
const LARGE: u64 = 64 << 20;
static ONE_LARGE: Mutex<()> = Mutex::new(());

impl Decoded {
    /// Decodes a file, or says why not.
    pub(crate) fn read<T>(
        bytes: &[u8],
        kind: Kind,
        decoding: Decoding,
        then: impl FnOnce(&Self) -> Result<T, String>,
    ) -> Result<T, String> {
        guarded(|| match kind {
            Kind::Raster(format) => {
                let header = raster::Header::read(bytes, format, decoding.most_bytes)?;
                let _alone =
                    (header.bytes > LARGE).then(|| ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
                then(&Self::Picture(header.decode(decoding.background)?))
            }
            Kind::Drawing => {
                then(&Self::Drawing(Box::new(drawing::parse(bytes, decoding)?), decoding.background))
            }
            Kind::Video => Err("is a video".to_owned()),
        })
        .unwrap_or_else(|panic| Err(format!("the decoder gave up: {panic}")))
    }

    /// Width and height; of a drawing only their ratio means something.
    pub(crate) fn size(&self) -> (f64, f64) {
        match self {
            Self::Picture(picture) => (f64::from(picture.width), f64::from(picture.height)),
            Self::Drawing(tree, _) => (f64::from(tree.size().width()), f64::from(tree.size().height())),
        }
    }

    /// The part `window` of it in the size `full`.
    pub(crate) fn window(&self, full: (u32, u32), window: Window, filter: Filter) -> Result<Picture, String> {
        match self {
            Self::Picture(picture) => Ok(resample::resize(picture, full, window, filter)),
            Self::Drawing(tree, background) => drawing::render(tree, full, window, *background),
        }
    }
}
