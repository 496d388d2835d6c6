//! A picture as the network wants it: its size, what is cut off, and its numbers.
//!
//! A byte `x` of channel `c` becomes `(x / 255 - mean[c]) / std[c]`, or `(x - mean[c]) / std[c]`, in the order of
//! operations of torchvision, so that the numbers are the same to the last bit.

use crate::decode::Decoded;
use crate::error::Contradiction;
use crate::picture::{Picture, Window};
use crate::resample::Filter;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Size {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// The longest side that an input may have.
    pub(crate) const MOST: u32 = 8192;

    /// As wide as high.
    pub const fn square(side: u32) -> Self {
        Self { width: side, height: side }
    }

    /// `224`, or `171x128`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let side = |text: &str| match text.parse() {
            Ok(side @ 1..=Self::MOST) => Ok(side),
            _ => {
                Err("expected pixels such as 224, or width x height such as 171x128, at most 8192".to_owned())
            }
        };
        match text.split_once('x') {
            Some((width, height)) => Ok(Self { width: side(width)?, height: side(height)? }),
            None => side(text).map(Self::square),
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}x{}", self.width, self.height)
    }
}

/// How a picture of any shape comes to the size of the network's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// Resized with its proportions until it covers `resize`, and cut to `size` around the center.
    Crop,
    /// Resized with its proportions until it fits into `size`, and filled up with the background.
    Pad,
    /// Resized to `resize` without regard to its proportions, and cut to `size` around the center.
    Stretch,
}

/// Which views of a picture go through the network; their features are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Crops {
    /// The center.
    Center,
    /// The center and the four corners, and all of them mirrored.
    Ten,
}

/// What the numbers run to, from 0, before mean and std.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Range {
    /// To 1.
    #[serde(rename = "1")]
    One,
    /// To 255.
    #[serde(rename = "255")]
    Bytes,
}

/// The order of a tensor's dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Channels first: batch, channels, (frames,) rows, columns.
    Nchw,
    /// Channels last: batch, (frames,) rows, columns, channels.
    Nhwc,
}

/// The order of the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Red first.
    Rgb,
    /// Blue first, as Caffe and OpenCV have it.
    Bgr,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Preprocess {
    /// Of the network's input.
    pub size: Size,
    /// Before the edges are cut off.
    pub resize: Size,
    /// How it comes to that size.
    pub fit: Fit,
    /// With which kernel.
    pub filter: Filter,
    /// Which views.
    pub crops: Crops,
    /// Before mean and std.
    pub range: Range,
    /// One a channel, in the order of `channels`.
    pub mean: [f32; 3],
    /// One a channel, in the order of `channels`.
    pub std: [f32; 3],
    /// Of the tensor.
    pub layout: Layout,
    /// Of the tensor.
    pub channels: Channels,
    /// What fills up, and shows through.
    pub background: [u8; 3],
}

impl Preprocess {
    /// Fails for settings that contradict each other.
    pub fn check(&self) -> Result<(), Contradiction> {
        let (size, resize) = (self.size, self.resize);
        if self.fit != Fit::Pad && (resize.width < size.width || resize.height < size.height) {
            return Err(Contradiction::Resize { resize, size });
        }
        if self.std.iter().any(|&std| std == 0.0 || !std.is_finite()) {
            return Err(Contradiction::StandardDeviation);
        }
        if self.crops == Crops::Ten && (self.fit == Fit::Pad || resize == size) {
            return Err(Contradiction::TenCrops);
        }
        Ok(())
    }

    /// The views of a decoded picture.
    pub(crate) fn views(&self, decoded: &Decoded) -> Result<Vec<Picture>, String> {
        let (width, height) = decoded.size();
        let Size { width: w, height: h } = self.size;
        let (x, y) = match self.fit {
            Fit::Stretch => (f64::from(self.resize.width), f64::from(self.resize.height)),
            Fit::Crop => {
                covering((width, height), (f64::from(self.resize.width), f64::from(self.resize.height)))
            }
            Fit::Pad => inside((width, height), (f64::from(w), f64::from(h))),
        };
        if x.max(y) > f64::from(u32::MAX) {
            return Err(format!("its {width} x {height} pixels are too narrow a strip to be resized"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, positive, and in range as was just seen"
        )]
        let full = (x as u32, y as u32);
        if self.fit == Fit::Pad {
            let whole = Window { x: 0, y: 0, width: full.0, height: full.1 };
            let inner = decoded.window(full, whole, self.filter)?;
            let mut canvas = Picture::plain(w, h, self.background);
            canvas.put(&inner, (w - full.0) / 2, (h - full.1) / 2);
            return Ok(vec![canvas]);
        }
        let (right, bottom) = (full.0 - w, full.1 - h);
        let part = |x: u32, y: u32| decoded.window(full, Window { x, y, width: w, height: h }, self.filter);
        let center = part(half(right), half(bottom))?;
        if self.crops == Crops::Center {
            return Ok(vec![center]);
        }
        let mut views = vec![part(0, 0)?, part(right, 0)?, part(0, bottom)?, part(right, bottom)?, center];
        let mirrored: Vec<Picture> = views.iter().map(Picture::mirrored).collect();
        views.extend(mirrored);
        Ok(views)
    }

    /// What each byte becomes in each channel of the tensor.
    pub(crate) fn table(&self) -> [[f32; 256]; 3] {
        std::array::from_fn(|channel| {
            std::array::from_fn(|byte| {
                let value = byte as f32;
                let value = if self.range == Range::Bytes { value } else { value / 255.0 };
                (value - self.mean[channel]) / self.std[channel]
            })
        })
    }

    /// Appends one view, or the frames of one clip, to a tensor.
    pub(crate) fn append(&self, table: &[[f32; 256]; 3], frames: &[&Picture], tensor: &mut Vec<f32>) {
        let source = |channel: usize| if self.channels == Channels::Bgr { 2 - channel } else { channel };
        match self.layout {
            Layout::Nchw => {
                for (channel, values) in table.iter().enumerate() {
                    for frame in frames {
                        let bytes = frame.pixels.iter().skip(source(channel)).step_by(3);
                        tensor.extend(bytes.map(|&byte| values[usize::from(byte)]));
                    }
                }
            }
            Layout::Nhwc => {
                for frame in frames {
                    for pixel in frame.pixels.chunks_exact(3) {
                        let value = |channel: usize| table[channel][usize::from(pixel[source(channel)])];
                        tensor.extend((0..3).map(value));
                    }
                }
            }
        }
    }
}

/// Half, rounded to the even neighbor as torchvision's center crop does.
fn half(whole: u32) -> u32 {
    let below = whole / 2;
    below + (whole % 2) * (below % 2)
}

/// The size with the proportions of `size` whose one side is that of `frame` and whose other is not below.
fn covering(size: (f64, f64), frame: (f64, f64)) -> (f64, f64) {
    // The longer side is rounded down as torchvision does it: a multiplication, then a division.
    let (width, height) = ((frame.1 * size.0 / size.1).floor(), (frame.0 * size.1 / size.0).floor());
    if width >= frame.0 { (width, frame.1) } else { (frame.0, height.max(frame.1)) }
}

/// The largest size with those proportions inside of `frame`; no side vanishes.
fn inside(size: (f64, f64), frame: (f64, f64)) -> (f64, f64) {
    let (width, height) = ((frame.1 * size.0 / size.1).round(), (frame.0 * size.1 / size.0).round());
    if width <= frame.0 { (width.max(1.0), frame.1) } else { (frame.0, height.clamp(1.0, frame.1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_torchvision() {
        let frame = (256.0, 256.0);
        assert_eq!(covering((500.0, 375.0), frame), (341.0, 256.0));
        assert_eq!(covering((375.0, 500.0), frame), (256.0, 341.0));
        assert_eq!(covering((100.0, 100.0), frame), frame);
        assert_eq!(covering((101.0, 100.0), frame), (258.0, 256.0));
        assert_eq!(inside((500.0, 375.0), frame), (256.0, 192.0));
        assert_eq!(inside((30_000.0, 1.0), frame), (256.0, 1.0));
        assert_eq!([31, 32, 33, 34, 35].map(half), [16, 16, 16, 17, 18]);
    }

    #[test]
    fn sizes_are_read_in_both_forms() {
        assert_eq!(Size::parse("224"), Ok(Size::square(224)));
        assert_eq!(Size::parse("171x128"), Ok(Size { width: 171, height: 128 }));
        for bad in ["", "0", "x", "12x", "-3", "99999", "2.5"] {
            assert!(Size::parse(bad).is_err(), "{bad}");
        }
    }
}
