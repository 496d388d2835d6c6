//! JPEG, PNG, WebP, GIF, BMP and TIFF to red, green and blue bytes, upright and over a background.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use super::jpeg;
use crate::picture::Picture;

/// A file whose size is known and allowed, and whose pixels are not decoded yet.
pub(super) struct Header<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
    orientation: Orientation,
    /// About what decoding will take.
    pub(super) bytes: u64,
}

impl<'a> Header<'a> {
    /// Reads the header, and refuses what would take too much memory before any of it is taken.
    pub(super) fn read(bytes: &'a [u8], format: ImageFormat, most: u64) -> Result<Self, String> {
        if format == ImageFormat::Jpeg {
            jpeg::check_end(bytes)?;
        }
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(most.saturating_mul(2));
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(reason)?;
        let (width, height) = decoder.dimensions();
        // A progressive JPEG keeps two bytes a coefficient besides, and all that is no red, green and blue is copied.
        let factor = if format == ImageFormat::Jpeg { 3 } else { 1 };
        let copy = if decoder.color_type() == ColorType::Rgb8 { 0 } else { 3 };
        let pixels = u64::from(width) * u64::from(height);
        let taken = decoder.total_bytes().saturating_mul(factor).saturating_add(pixels.saturating_mul(copy));
        if taken > most {
            return Err(format!(
                "its {width} x {height} pixels would take {} MiB, more than the {} MiB allowed",
                taken.div_ceil(1 << 20),
                most >> 20
            ));
        }
        if width == 0 || height == 0 {
            return Err("has no pixels".to_owned());
        }
        // What cannot be understood of the camera's notes does not make the pixels worse.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        Ok(Self { decoder: Box::new(decoder), orientation, bytes: taken })
    }

    /// Decodes the pixels.
    pub(super) fn decode(self, background: [u8; 3]) -> Result<Picture, String> {
        let mut image = DynamicImage::from_decoder(self.decoder).map_err(reason)?;
        image.apply_orientation(self.orientation);
        let (width, height) = (image.width(), image.height());
        let pixels = if image.color().has_alpha() {
            let mut pixels = Vec::with_capacity(width as usize * height as usize * 3);
            for pixel in image.into_rgba8().pixels() {
                let [red, green, blue, alpha] = pixel.0;
                let over = |color: u8, behind: u8| {
                    let sum =
                        u32::from(color) * u32::from(alpha) + u32::from(behind) * u32::from(255 - alpha);
                    u8::try_from((sum + 127) / 255).expect("a mean of two bytes is a byte")
                };
                pixels.extend([
                    over(red, background[0]),
                    over(green, background[1]),
                    over(blue, background[2]),
                ]);
            }
            pixels
        } else {
            image.into_rgb8().into_raw()
        };
        Ok(Picture { width, height, pixels })
    }
}

fn reason(error: ImageError) -> String {
    match error {
        ImageError::Limits(_) => "would take more memory than is allowed".to_owned(),
        ImageError::Unsupported(error) => format!("cannot be read: {error}"),
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "is cut off: the file ends too early".to_owned()
        }
        error => format!("is damaged: {error}"),
    }
}
