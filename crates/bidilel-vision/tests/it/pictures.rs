//! Pixels are those that Pillow makes.

use std::fs;

use bidilel_vision::{Crops, Filter, Fit, Pool, Preprocess, Size};
use serde_json::Value;

use crate::support::{Work, bitmap, fixture, plain};

/// The pixels of the one picture of a folder, from the network that gives back its input.
fn pixels(name: &str, preprocess: Preprocess) -> Vec<f32> {
    let mut work = Work::new("identity", preprocess);
    work.options.pool = Pool::Flatten;
    work.put_picture(name);
    let extracted = work.run().unwrap();
    assert_eq!((extracted.rows, &extracted.skipped[..]), (1, &[][..]), "{name}");
    work.rows().remove(0)
}

#[test]
fn every_format_orientation_and_kernel_gives_pillows_pixels() {
    let cases = fs::read(fixture("references/cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&cases).unwrap();
    assert!(cases.len() > 30);
    for case in cases {
        let (name, file) = (case["picture"].as_str().unwrap(), case["file"].as_str().unwrap());
        let side = |key: &str| Size::square(u32::try_from(case[key].as_u64().unwrap()).unwrap());
        let fit = match case["fit"].as_str().unwrap() {
            "crop" => Fit::Crop,
            "pad" => Fit::Pad,
            _ => Fit::Stretch,
        };
        let filter = if case["filter"] == "bicubic" { Filter::Bicubic } else { Filter::Bilinear };
        let size = side("size");
        let found = pixels(name, Preprocess { resize: side("resize"), fit, filter, ..plain(size.width) });
        let reference = fs::read(fixture("references").join(file)).unwrap();
        let plane = reference.len() / 3;
        let differences: Vec<f32> = (0..reference.len())
            .map(|index| (f32::from(reference[index]) - found[index % 3 * plane + index / 3]).abs())
            .collect();
        let most = differences.iter().copied().fold(0.0, f32::max);
        let mean = differences.iter().sum::<f32>() / differences.len() as f32;
        // Lossy formats leave the last bits to the decoder, and CMYK the conversion; all else is exact.
        let lossy = name.ends_with("jpg") || name == "lossy.webp";
        let allowed = match name {
            "alpha.png" | "alpha.webp" | "grey.png" | "cmyk.tif" => (1.0, 0.5),
            _ if lossy => (4.0, 1.0),
            _ => (0.0, 0.0),
        };
        assert!(
            most <= allowed.0 && mean <= allowed.1,
            "{file}: differs by {most} at most, {mean} in the mean"
        );
    }
}

#[test]
fn drawings_are_painted_at_the_size_that_is_wanted() {
    for name in ["drawing.svg", "packed.svgz"] {
        // 40 x 20, padded to 64 x 64: 16 rows of white, 32 of the drawing, 16 of white.
        let found = pixels(name, Preprocess { fit: Fit::Pad, ..plain(64) });
        let at = |x: usize, y: usize| [0, 1, 2].map(|channel| found[(channel * 64 + y) * 64 + x]);
        assert_eq!(at(5, 15), [255.0; 3]);
        assert_eq!(at(5, 16), [255.0, 0.0, 0.0]);
        assert_eq!(at(31, 47), [255.0, 0.0, 0.0], "the edge is sharp");
        assert_eq!(at(60, 30), [255.0; 3], "nothing is drawn there");
        let [red, green, blue] = at(40, 30);
        assert!(
            (red - 127.5).abs() < 1.0 && (green - 127.5).abs() < 1.0 && blue > 254.0,
            "half blue over white"
        );
    }
    let black = pixels("drawing.svg", Preprocess { fit: Fit::Stretch, background: [0, 9, 0], ..plain(40) });
    assert_eq!((black[39], black[1600 + 39]), (0.0, 9.0), "what is not painted is background");
}

#[test]
fn ten_crops_are_the_mean_over_center_corners_and_mirrors() {
    // Mirrored and mirrored again: the mean of ten is symmetric, and its sum that of the five crops.
    let ten = Preprocess { crops: Crops::Ten, resize: Size::square(20), ..plain(16) };
    let found = pixels("photo.png", ten.clone());
    for row in found.chunks_exact(16) {
        for x in 0..8 {
            assert!((row[x] - row[15 - x]).abs() < 1e-4);
        }
    }
    let one = pixels("photo.png", Preprocess { crops: Crops::Center, ..ten });
    let green = |pixels: &[f32]| pixels[256..512].iter().sum::<f32>();
    // Green rises downwards and does not change to the right: corners average to the center.
    assert!((green(&found) / green(&one) - 1.0).abs() < 0.01);
}

#[test]
fn a_strip_of_thirty_thousand_pixels_takes_little() {
    let mut work = Work::new("mean", plain(8));
    work.put("a.bmp", &bitmap(30_000, 1, [9, 8, 7]));
    work.put("b.bmp", &bitmap(1, 30_000, [1, 2, 3]));
    assert_eq!(work.run().unwrap().rows, 2);
    assert_eq!(work.rows(), [[9.0, 8.0, 7.0], [1.0, 2.0, 3.0]]);
    work.options.preprocess.fit = Fit::Pad;
    assert_eq!(work.run().unwrap().rows, 2);
    // One row of eight is the picture, the rest is white.
    assert_eq!(
        work.rows()[0],
        [(255.0 * 7.0 + 9.0) / 8.0, (255.0 * 7.0 + 8.0) / 8.0, (255.0 * 7.0 + 7.0) / 8.0]
    );
}
