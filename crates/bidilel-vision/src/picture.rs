//! Pixels: red, green and blue bytes, row after row.

/// A picture in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `height x width x 3` bytes.
    pub pixels: Vec<u8>,
}

/// A part of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Picture {
    /// A picture of one color.
    pub(crate) fn plain(width: u32, height: u32, color: [u8; 3]) -> Self {
        let count = width as usize * height as usize;
        Self { width, height, pixels: color.iter().copied().cycle().take(count * 3).collect() }
    }

    /// Left and right exchanged.
    pub(crate) fn mirrored(&self) -> Self {
        let mut mirrored = self.clone();
        for row in mirrored.pixels.chunks_exact_mut(self.width as usize * 3) {
            for (left, right) in (0..self.width as usize / 2).map(|x| (x, self.width as usize - 1 - x)) {
                for channel in 0..3 {
                    row.swap(left * 3 + channel, right * 3 + channel);
                }
            }
        }
        mirrored
    }

    /// Puts a smaller picture on this one.
    pub(crate) fn put(&mut self, other: &Self, x: u32, y: u32) {
        let (width, length) = (self.width as usize, other.width as usize * 3);
        for (row, pixels) in other.pixels.chunks_exact(length).enumerate() {
            let start = ((y as usize + row) * width + x as usize) * 3;
            self.pixels[start..start + length].copy_from_slice(pixels);
        }
    }
}
