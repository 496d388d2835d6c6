//! Pictures in another size, as Pillow makes them, bit by bit.
//!
//! Networks were trained on pictures that Pillow resized, and other resamplers shift every feature. For an output
//! pixel `i`, with `s = input / output` and `f = max(s, 1)`, weights are `k((j + 1/2 - (i + 1/2) s) / f)` over the input
//! pixels `j`, normalized to sum 1: the kernel `k` grows with the reduction, which is what keeps fine patterns from
//! turning into coarse ones. Weights are rounded to 22 bits and sums are whole numbers, so every machine gives the
//! same bytes. Rows are made first, then columns, rounded to bytes between.

use crate::picture::{Picture, Window};

/// The kernel that pixels are weighted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// The nearest pixel, no weights.
    Nearest,
    /// A triangle of width 2.
    Bilinear,
    /// Cubic convolution with `a = -1/2` (Keys, 1981).
    Bicubic,
}

impl Filter {
    fn support(self) -> f64 {
        match self {
            Self::Nearest => 0.0,
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        const A: f64 = -0.5;
        let x = x.abs();
        match self {
            Self::Bilinear => (1.0 - x).max(0.0),
            Self::Bicubic if x < 1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
            Self::Bicubic if x < 2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * A,
            Self::Bicubic | Self::Nearest => 0.0,
        }
    }
}

/// Bits of a weight: a byte times a weight, summed, fits 32 bits with a sign and one to spare.
const BITS: u32 = 22;

/// The input pixels of one output pixel, and their weights.
struct Taps {
    first: usize,
    weights: Vec<i32>,
}

/// The part `window` of the picture in the size `full`, without making the rest of it.
pub(crate) fn resize(picture: &Picture, full: (u32, u32), window: Window, filter: Filter) -> Picture {
    let columns = taps(picture.width, full.0, window.x, window.width, filter);
    let rows = taps(picture.height, full.1, window.y, window.height, filter);
    // Only the rows that the second pass will look at.
    let first = rows.iter().map(|taps| taps.first).min().unwrap_or(0);
    let last = rows.iter().map(|taps| taps.first + taps.weights.len()).max().unwrap_or(0);
    let (width, height) = (window.width as usize, window.height as usize);
    let stride = picture.width as usize * 3;
    let mut middle = vec![0_u8; width * 3 * (last - first)];
    for (out, row) in middle.chunks_exact_mut(width * 3).zip(picture.pixels.chunks_exact(stride).skip(first))
    {
        for (pixel, taps) in out.chunks_exact_mut(3).zip(&columns) {
            let mut sums = [1_i32 << (BITS - 1); 3];
            let inputs = row[taps.first * 3..].chunks_exact(3);
            for (input, &weight) in inputs.zip(&taps.weights) {
                for (sum, &value) in sums.iter_mut().zip(input) {
                    *sum += i32::from(value) * weight;
                }
            }
            for (value, sum) in pixel.iter_mut().zip(sums) {
                *value = byte(sum);
            }
        }
    }
    let mut pixels = vec![0_u8; width * 3 * height];
    let mut sums = vec![0_i32; width * 3];
    for (out, taps) in pixels.chunks_exact_mut(width * 3).zip(&rows) {
        sums.fill(1 << (BITS - 1));
        let inputs = middle.chunks_exact(width * 3).skip(taps.first - first);
        for (input, &weight) in inputs.zip(&taps.weights) {
            for (sum, &value) in sums.iter_mut().zip(input) {
                *sum += i32::from(value) * weight;
            }
        }
        for (value, &sum) in out.iter_mut().zip(&sums) {
            *value = byte(sum);
        }
    }
    Picture { width: window.width, height: window.height, pixels }
}

fn byte(sum: i32) -> u8 {
    u8::try_from((sum >> BITS).clamp(0, 255)).expect("it was clamped")
}

/// The taps of the output pixels `start .. start + count` of a line.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places of pixels are positive, weights below 2, and cutting off is the rule that Pillow has"
)]
fn taps(input: u32, output: u32, start: u32, count: u32, filter: Filter) -> Vec<Taps> {
    let scale = f64::from(input) / f64::from(output);
    let stretch = scale.max(1.0);
    let support = filter.support() * stretch;
    let one = 1 << BITS;
    let at = |pixel: u32| {
        let center = (f64::from(pixel) + 0.5) * scale;
        // Pillow leaves a side as it is that keeps its length, and has its own rule for the nearest pixel.
        if input == output {
            return Taps { first: pixel as usize, weights: vec![one] };
        }
        if filter == Filter::Nearest {
            return Taps { first: (center as usize).min(input as usize - 1), weights: vec![one] };
        }
        let first = (center - support + 0.5).max(0.0) as usize;
        let last = ((center + support + 0.5) as usize).min(input as usize).max(first + 1);
        let raw: Vec<f64> =
            (first..last).map(|tap| filter.weight((tap as f64 - center + 0.5) / stretch)).collect();
        let sum: f64 = raw.iter().sum();
        let weights = raw.iter().map(|weight| (weight / sum * f64::from(one)).round() as i32).collect();
        Taps { first, weights }
    };
    (start..start + count).map(at).collect()
}
