//! A drawing as a PNG file, through resvg. Text is drawn as outlines, so that fonts of the machine change nothing.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// The pixels of an SVG whose text is outlines, twice as many as its size says in either direction.
///
/// # Errors
/// A drawing that has no size, or is too large for memory; what the renderer says.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, String> {
    let tree = Tree::from_str(svg, &Options::default()).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the drawing has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the drawing is too large")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

/// Pixels per unit of the drawing's size.
const SCALE: f32 = 1.5;

#[cfg(test)]
mod tests {
    use super::super::Theme;
    use super::super::canvas::{Anchor, Canvas, Medium};
    use super::*;

    fn drawn(theme: Theme, text: &str) -> Pixmap {
        let mut canvas = Canvas::new(theme, Medium::Outlines);
        canvas.text((10.0, 30.0), Anchor::Start, 20.0, theme.ink, text);
        let bytes = png(&canvas.finish((100.0, 40.0), "a title", "")).expect("a picture");
        Pixmap::decode_png(&bytes).expect("a PNG file")
    }

    #[test]
    fn text_is_drawn_without_a_font_and_the_background_is_that_of_the_theme() {
        let (empty, text) = (drawn(Theme::TRANSPARENT, ""), drawn(Theme::TRANSPARENT, "Abc"));
        assert_eq!((empty.width(), empty.height()), (300, 120));
        let inked = |pixels: &Pixmap| pixels.pixels().iter().filter(|pixel| pixel.alpha() > 0).count();
        assert_eq!(inked(&empty), 0, "a transparent background");
        assert!(inked(&text) > 500, "letters: {}", inked(&text));
        assert_eq!(inked(&drawn(Theme::DARK, "")), 300 * 120, "a dark background");
    }
}
