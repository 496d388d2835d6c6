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
        Drawing::Matrix(Matrix {
            rows: names(),
            columns: names(),
            counts: vec![vec![3, 1], vec![0, 0]],
            known: 1,
        }),
        Drawing::Matrix(Matrix { rows: Vec::new(), columns: Vec::new(), counts: Vec::new(), known: 0 }),
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
fn characters_without_an_outline_are_told() {
    let chart = Chart { title: "熊 and bear".to_owned(), ..every_kind().swap_remove(0) };
    assert_eq!(chart.boxes().into_iter().collect::<Vec<_>>(), ['熊']);
    assert!(chart.svg(Theme::LIGHT).contains(">熊 and bear</text>"), "a viewer of SVG has a font for it");
}

#[cfg(feature = "png")]
#[test]
fn every_chart_becomes_pixels() {
    for chart in every_kind() {
        let bytes = chart.png(Theme::LIGHT).expect("a picture");
        assert_eq!(&bytes[1..4], b"PNG", "{}", chart.title);
    }
}

#[test]
fn shares_that_are_alike_stay_between_0_and_100_percent() {
    let drawn = |share: f64| {
        let layers = vec![Layer::line("", vec![(0.0, share), (1.0, share)])];
        let plot = Plot { x: Axis::new("x"), y: Axis::percent("y"), layers };
        Chart::new("name", "title", "what", Drawing::Plot(plot)).svg(Theme::LIGHT)
    };
    assert!(drawn(1.0).contains(">100</text>") && !drawn(1.0).contains(">102</text>"), "{}", drawn(1.0));
    assert!(drawn(0.0).contains(">0</text>") && !drawn(0.0).contains(">\u{2212}"), "{}", drawn(0.0));
    assert!(drawn(0.5).contains(">46</text>") && drawn(0.5).contains(">54</text>"), "{}", drawn(0.5));
}

#[test]
fn the_legend_has_a_line_for_a_line_without_marks() {
    let line = |name: &str, marks: bool| Layer::Line {
        name: name.to_owned(),
        points: vec![(0.0, 0.1), (1.0, 0.2)],
        errors: Vec::new(),
        marks,
        chosen: None,
    };
    let drawn = |marks: bool| {
        let plot = Plot { x: Axis::new("x"), y: Axis::new("y"), layers: vec![line("a", marks)] };
        Chart::new("name", "title", "what", Drawing::Plot(plot)).svg(Theme::LIGHT)
    };
    assert_eq!([true, false].map(|marks| drawn(marks).matches("scale(").count()), [3, 0]);
}

#[test]
fn a_matrix_parts_known_classes_from_unseen_ones() {
    let drawn = |known: usize| {
        let names = || ["seal", "whale", "squid"].map(str::to_owned).to_vec();
        let matrix = Matrix { rows: names(), columns: names(), counts: vec![vec![1, 0, 0]; 3], known };
        Chart::new("name", "title", "what", Drawing::Matrix(matrix)).svg(Theme::LIGHT)
    };
    assert_eq!([0, 2].map(|known| drawn(known).contains("true classes, the known first.")), [false, true]);
    assert_eq!(drawn(2).matches("<path").count(), drawn(0).matches("<path").count() + 1);
}

#[test]
fn a_matrix_of_many_classes_says_that_their_names_are_left_out() {
    let drawn = |classes: usize| {
        let names: Vec<String> = (0..classes).map(|class| format!("class {class}")).collect();
        let counts = vec![vec![1; classes]; classes];
        let matrix = Matrix { rows: names.clone(), columns: names, counts, known: 0 };
        Chart::new("confusion", "Confusion", "", Drawing::Matrix(matrix)).svg(Theme::LIGHT)
    };
    let left_out = "The names of all 61 classes are left out, for want of room.";
    let (few, many) = (drawn(60), drawn(61));
    assert!(few.contains(">class 59</text>") && !few.contains("left out"));
    assert!(!many.contains(">class 60</text>") && many.contains(left_out));
}

#[test]
fn the_line_of_guessing_strikes_no_value_through() {
    let drawn = |value: f64| {
        let bar =
            crate::Bar { name: "seal".to_owned(), value, low: value, high: value, group: String::new() };
        let best = crate::Bar { value: 1.0, low: 1.0, high: 1.0, ..bar.clone() };
        let bars = BarPlot { axis: String::new(), chance: 0.05, bars: vec![best, bar] };
        let svg = Chart::new("classes", "Classes", "", Drawing::Bars(bars)).svg(Theme::LIGHT);
        let x = |after: &str| -> f64 {
            let text = svg.split(after).next().and_then(|before| before.rsplit("x=\"").next());
            text.and_then(|text| text.split('"').next()).and_then(|x| x.parse().ok()).expect("a text")
        };
        (x(&format!(">{:.1}</text>", 100.0 * value)), x(">guessing</text>"))
    };
    for value in [0.0, 0.02, 0.049] {
        let (at, line) = drawn(value);
        assert!(at > line, "{value}: {at} at {line}");
    }
    let ((low, _), (high, _)) = (drawn(0.2), drawn(0.3));
    assert!(high - low > 20.0, "others stand behind their bars");
}
