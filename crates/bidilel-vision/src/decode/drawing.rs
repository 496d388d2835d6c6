//! SVG drawings, painted at the size that is wanted: nothing is resampled.

use resvg::{tiny_skia, usvg};

use super::{Decoding, raster};
use crate::kind::Kind;
use crate::picture::{Picture, Window};

/// Reads a drawing. Text is not painted: fonts differ from machine to machine, and so would features.
pub(super) fn parse(bytes: &[u8], decoding: Decoding) -> Result<usvg::Tree, String> {
    let inner = usvg::ImageHrefResolver::default_data_resolver();
    let options = usvg::Options {
        image_href_resolver: usvg::ImageHrefResolver {
            resolve_data: Box::new(move |mime, data, options| {
                // A picture inside must not take more than one outside might.
                match Kind::of(&data) {
                    Some(Kind::Raster(format)) => {
                        raster::Header::read(&data, format, decoding.most_bytes).ok()?;
                        inner(mime, data, options)
                    }
                    _ => inner(mime, data, options),
                }
            }),
            // What a drawing names outside of itself is not opened: it may be any file of this machine.
            resolve_string: Box::new(|_, _| None),
        },
        ..usvg::Options::default()
    };
    usvg::Tree::from_data(bytes, &options).map_err(|error| format!("is no SVG that can be read: {error}"))
}

/// Paints the part `window` of a drawing of the size `full`.
pub(super) fn render(
    tree: &usvg::Tree,
    full: (u32, u32),
    window: Window,
    background: [u8; 3],
) -> Result<Picture, String> {
    let mut canvas = tiny_skia::Pixmap::new(window.width, window.height)
        .ok_or_else(|| format!("cannot be painted in {} x {}", window.width, window.height))?;
    let [red, green, blue] = background;
    canvas.fill(tiny_skia::Color::from_rgba8(red, green, blue, 255));
    let size = tree.size();
    #[expect(clippy::cast_possible_truncation, reason = "the painter works in single precision")]
    let scale = |full: u32, size: f32| (f64::from(full) / f64::from(size)) as f32;
    let transform =
        tiny_skia::Transform::from_scale(scale(full.0, size.width()), scale(full.1, size.height()))
            .post_translate(-(window.x as f32), -(window.y as f32));
    resvg::render(tree, transform, &mut canvas.as_mut());
    // Opaque below, so opaque above: colors need no division by alpha.
    let pixels = canvas.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Ok(Picture { width: window.width, height: window.height, pixels })
}
