//! What a network takes, as its file says.

use crate::error::{Contradiction, Result};
use crate::onnx::Graph;
use crate::preprocess::{Layout, Preprocess, Size};

/// The input of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Pictures at a time, if only that many will do.
    pub batch: Option<usize>,
    /// Frames of a clip, for networks that take clips; 0 where any number goes.
    pub frames: Option<usize>,
    /// The size of the pictures, if only that size will do.
    pub size: Option<Size>,
    /// The order of the dimensions, if the shape shows it.
    pub layout: Option<Layout>,
}

/// The most numbers that a batch may have: 4 GiB of them. A file may claim any size.
const MOST: usize = 1 << 30;

impl Input {
    /// Reads it from a graph, or says what is there instead of pictures.
    pub(super) fn of(graph: &Graph) -> std::result::Result<Self, String> {
        let [input] = &graph.inputs[..] else {
            let names: Vec<&str> = graph.inputs.iter().map(|input| input.name.as_str()).collect();
            return Err(format!(
                "expected a network with one input, found {}: {}",
                names.len(),
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            ));
        };
        let name = &input.name;
        if input.element != 1 {
            let found = input.element;
            return Err(format!(
                "its input `{name}` takes elements of ONNX type {found}, expected float32 (1)"
            ));
        }
        let shape = input.shape.clone().unwrap_or_else(|| vec![None; 4]);
        let rank = shape.len();
        let three = |at: usize| shape[at] == Some(3);
        let layout = match rank {
            4 | 5 if three(1) => Some(Layout::Nchw),
            4 | 5 if three(rank - 1) => Some(Layout::Nhwc),
            4 | 5 if shape[1].is_none() || shape[rank - 1].is_none() => None,
            _ => {
                let sizes = shape.iter().map(|size| size.map_or("?".to_owned(), |size| size.to_string()));
                let shown = sizes.collect::<Vec<_>>().join(" x ");
                return Err(format!(
                    "its input `{name}` is {shown}, expected pictures (batch x 3 x height x width) or clips (batch x \
                     3 x frames x height x width), or the same with channels last"
                ));
            }
        };
        let first = if layout == Some(Layout::Nhwc) { 1 } else { 2 };
        let frames = (rank == 5).then(|| shape[first].unwrap_or(0));
        let place = first + usize::from(rank == 5);
        let side = |at: usize| shape[at].and_then(|side| u32::try_from(side).ok());
        let size = match (layout, side(place), side(place + 1)) {
            (Some(_), Some(height), Some(width)) => Some(Size { width, height }),
            _ => None,
        };
        let largest = size.map_or(0, |size| size.width.max(size.height));
        if largest > Size::MOST {
            return Err(format!(
                "its input `{name}` takes pictures of {largest} pixels, more than {}",
                Size::MOST
            ));
        }
        Ok(Self { batch: shape[0], frames, size, layout })
    }

    /// The shape of a batch.
    pub(crate) fn shape(&self, preprocess: &Preprocess, batch: usize, frames: usize) -> Result<Vec<usize>> {
        let (height, width) = (preprocess.size.height as usize, preprocess.size.width as usize);
        let mut shape = match self.frames {
            Some(_) => vec![frames, height, width],
            None => vec![height, width],
        };
        let channels = if preprocess.layout == Layout::Nchw { 0 } else { shape.len() };
        shape.insert(channels, 3);
        shape.insert(0, batch);
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        if count.is_none_or(|count| count > MOST) {
            return Err(Contradiction::Batch { shape }.into());
        }
        Ok(shape)
    }
}
