//! What a file is, by its first bytes.

use std::ffi::OsStr;
use std::path::Path;

use image::ImageFormat;

/// A file that features can be had from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Pixels, in one of the formats that are read.
    Raster(ImageFormat),
    /// An SVG drawing, compressed or not.
    Drawing,
    /// A film, whatever is in it: `ffmpeg` will say.
    Video,
}

/// Bytes that are looked at.
pub(crate) const HEAD: usize = 4096;

impl Kind {
    /// The kind that the content shows.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        let starts = |magic: &[u8]| head.starts_with(magic);
        let at = |offset: usize, magic: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(magic));
        Some(match () {
            () if starts(b"\xff\xd8\xff") => Self::Raster(ImageFormat::Jpeg),
            () if starts(b"\x89PNG\r\n\x1a\n") => Self::Raster(ImageFormat::Png),
            () if starts(b"GIF87a") || starts(b"GIF89a") => Self::Raster(ImageFormat::Gif),
            () if starts(b"RIFF") && at(8, b"WEBP") => Self::Raster(ImageFormat::WebP),
            () if starts(b"II*\0") || starts(b"MM\0*") || starts(b"II+\0") || starts(b"MM\0+") => {
                Self::Raster(ImageFormat::Tiff)
            }
            // Two letters alone would make a picture of a text that begins with BM.
            () if starts(b"BM") && at(6, &[0, 0, 0, 0]) => Self::Raster(ImageFormat::Bmp),
            // Still pictures of the same family (HEIC, AVIF) are no films; they are not read.
            () if at(4, b"ftyp") => {
                let brand = head.get(8..12).unwrap_or_default();
                let still = [b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis"];
                if still.iter().any(|still| brand == *still) {
                    return None;
                }
                Self::Video
            }
            () if starts(b"RIFF") && at(8, b"AVI ") => Self::Video,
            () if starts(b"\x1a\x45\xdf\xa3") || starts(b"FLV\x01") || starts(b"\x00\x00\x01\xba") => {
                Self::Video
            }
            () if starts(&[0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11]) || starts(b"OggS") => Self::Video,
            () if starts(b"G") && at(188, b"G") && at(376, b"G") => Self::Video,
            () if is_drawing(head) => Self::Drawing,
            () => return None,
        })
    }

    /// Whether the name promises a picture or a film.
    pub(crate) fn promised(path: &Path) -> bool {
        const ENDINGS: &[&str] = &[
            "jpg", "jpeg", "jpe", "png", "webp", "gif", "bmp", "tif", "tiff", "svg", "svgz", "heic", "avif",
            "mp4", "avi", "mkv", "webm", "mov", "m4v", "mpg", "mpeg", "wmv", "flv", "ts", "3gp", "ogv",
        ];
        let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
        ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
    }
}

/// Whether it is XML whose first element is `svg`, or gzip (an `.svgz`; nothing else that is read is gzip).
fn is_drawing(head: &[u8]) -> bool {
    if head.starts_with(&[0x1f, 0x8b, 8]) {
        return true;
    }
    let text = String::from_utf8_lossy(head);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    // Over the declaration, comments and the document type, to the first element.
    while let Some(after) = rest.strip_prefix("<?").or_else(|| rest.strip_prefix("<!")) {
        let end = if rest.starts_with("<!--") {
            after.find("-->").map(|at| at + 3)
        } else if rest.starts_with("<!DOCTYPE") && after.find('[') < after.find('>') && after.contains('[') {
            after.find("]>").map(|at| at + 2)
        } else {
            after.find('>').map(|at| at + 1)
        };
        let Some(end) = end else { return text.contains("<svg") };
        rest = after[end..].trim_start();
    }
    rest.starts_with("<svg") || rest.starts_with("<svg:svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_not_the_name() {
        let of = |bytes: &[u8]| Kind::of(bytes);
        assert_eq!(of(b"\xff\xd8\xff\xe0 and so on"), Some(Kind::Raster(ImageFormat::Jpeg)));
        assert_eq!(of(b"RIFF\x10\0\0\0WEBPVP8 "), Some(Kind::Raster(ImageFormat::WebP)));
        assert_eq!(of(b"RIFF\x10\0\0\0AVI LIST"), Some(Kind::Video));
        assert_eq!(of(b"\0\0\0\x20ftypisom"), Some(Kind::Video));
        assert_eq!(of(b"\0\0\0\x20ftypheic"), None);
        for drawing in [
            "<svg xmlns='x'/>",
            "\u{feff}<?xml version='1.0'?>\n<!-- > a -->\n<svg>",
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>",
            "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'x'>\n<svg>",
        ] {
            assert_eq!(of(drawing.as_bytes()), Some(Kind::Drawing), "{drawing}");
        }
        for other in
            [&b""[..], b"BMW is a car", b"hello", b"<html><svg/></html>", b"<?xml", b"\xff", b"\x89PN"]
        {
            assert_eq!(of(other), None);
        }
        assert!(Kind::promised(Path::new("a/B.JPEG")) && !Kind::promised(Path::new("notes.txt")));
    }
}
