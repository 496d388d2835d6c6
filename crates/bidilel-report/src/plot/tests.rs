//! Laws of all charts.

use super::*;

fn every_kind() -> Vec<Chart> {
    let bar = |name: &str, value: f64| crate::Bar {
        name: name.to_owned(),
        value,
        low: value - 0.1,
        high: value + 0.1,
        group: "one".to_owned(),
    };
    let names = || vec!["<seal>".to_owned(), "whale & co".to_owned()];
    let line = Layer::Line {
        name: "a".to_owned(),
        points: vec![(0.0, 0.2), (1.0, 0.4)],
        errors: vec![0.1, 0.0],
        marks: true,
        chosen: Some(1),
    };
    let dots = Layer::Dots { name: "b".to_owned(), points: vec![(0.0, f64::NAN), (1.0, 0.3)] };
    let plot = Plot {
        x: Axis::named("x", names()),
        y: Axis::percent("y"),
        layers: vec![line, dots, Layer::Guide { name: "c".to_owned(), ends: [(0.0, 0.1), (1.0, 0.2)] }],
    };
    let columns = Layer::Columns { name: String::new(), columns: vec![(0.0, 1.0, 3.0), (1.0, 2.0, 0.0)] };
    let histogram = Plot { x: Axis::new("x"), y: Axis::log("y"), layers: vec![columns] };
    let empty = Plot { x: Axis::new(""), y: Axis::new(""), layers: vec![Layer::line("", Vec::new())] };
    let map = Map {
        landmarks: vec![(0.0, 1.0)],
        embeddings: vec![("<seal>".to_owned(), (1.0, 1.0))],
        right: vec![(0.5, 0.5)],
        wrong: Vec::new(),
    };
    let nowhere = Map { landmarks: Vec::new(), embeddings: Vec::new(), right: Vec::new(), wrong: Vec::new() };
    let drawings = vec![
        Drawing::Plot(plot),
        Drawing::Plot(histogram),
        Drawing::Plot(empty),
        Drawing::Bars(BarPlot {
            axis: "%".to_owned(),
            chance: 0.1,
            bars: vec![bar("<seal>", 0.4), bar("y", 0.0)],
        }),
        Drawing::Bars(BarPlot { axis: String::new(), chance: f64::NAN, bars: Vec::new() }),
        Drawing::Matrix(Matrix { rows: names(), columns: names(), counts: vec![vec![3, 1], vec![0, 0]] }),
        Drawing::Matrix(Matrix { rows: Vec::new(), columns: Vec::new(), counts: Vec::new() }),
        Drawing::Map(map),
        Drawing::Map(nowhere),
    ];
    drawings.into_iter().map(|drawing| Chart::new("name", "A <title>", "What & why", drawing)).collect()
}

#[test]
fn charts_are_well_formed_and_have_no_number_that_is_none() {
    for chart in every_kind() {
        for text in [chart.svg(Theme::LIGHT), chart.svg(Theme::TRANSPARENT), chart.inline()] {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            assert!(!text.contains("<seal>") && !text.contains("<title>A <"), "names are text: {text}");
            assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        }
    }
}

#[test]
fn a_file_has_a_title_a_description_and_the_colors_of_its_theme_and_a_part_of_the_page_those_of_the_page() {
    let chart = &every_kind()[0];
    let (light, dark, page) = (chart.svg(Theme::LIGHT), chart.svg(Theme::DARK), chart.inline());
    assert!(
        light.contains("<title>A &lt;title&gt;</title>") && light.contains("<desc>What &amp; why</desc>")
    );
    assert!(light.contains("#ffffff") && dark.contains("#141820") && !dark.contains("#ffffff"));
    assert!(page.contains("var(--ink)") && page.contains("role=\"img\" aria-label=\"A &lt;title&gt;. What"));
    assert!(!chart.svg(Theme::TRANSPARENT).contains("#ffffff"));
    for name in [">a</text>", ">b</text>", ">c</text>", ">x</text>", ">y</text>"] {
        assert!(light.contains(name), "axes and legend: {name}");
    }
}

#[cfg(feature = "png")]
#[test]
fn every_chart_becomes_pixels() {
    for chart in every_kind() {
        let bytes = chart.png(Theme::LIGHT).expect("a picture");
        assert_eq!(&bytes[1..4], b"PNG", "{}", chart.title);
    }
}
