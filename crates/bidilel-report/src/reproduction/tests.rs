//! Layouts of a small table.

use unicode_width::UnicodeWidthStr;

use super::cell::tests::{number, run};
use super::*;

fn table() -> Reproduction {
    let classes = |by: f64| [0.41, 0.52, 0.63].map(|value| value + by);
    let measured = |by, published| TableCell::accuracy(&[run("standard", 0, &classes(by))], false, published);
    let missing = || {
        let note = Some("CUB-200-2011".to_owned());
        TableCell::without(
            CellStatus::Missing,
            CellUnit::Accuracy,
            Some(number(0.476, Some(0.001), None)),
            note,
        )
    };
    let empty = || TableCell::without(CellStatus::Empty, CellUnit::Accuracy, None, None);
    let mut substitute = measured(0.05, Some(number(0.9, None, None)));
    substitute.substitute = true;
    let row = |labels: [&str; 3], cells: Vec<TableCell>| TableRow {
        id: labels.join("/"),
        labels: labels.map(str::to_owned).to_vec(),
        group: None,
        cells,
    };
    let column = |id: &str, labels: [&str; 2]| TableColumn {
        id: id.to_owned(),
        labels: labels.map(str::to_owned).to_vec(),
    };
    let mut first =
        row(["AwA", "Vgg19", "WV"], vec![measured(0.0, Some(number(0.5, None, None))), substitute, empty()]);
    mark_best(&mut first.cells.iter_mut().collect::<Vec<_>>());
    Reproduction {
        experiment: "small".to_owned(),
        title: "Accuracy % of a & b".to_owned(),
        published: Some("table_1".to_owned()),
        spread: "standard-error".to_owned(),
        stub: ["Dataset", "Vis. Rep.", "Sem. Rep."].map(str::to_owned).to_vec(),
        columns: vec![
            column("pca", ["LSM", "PCA"]),
            column("slpp", ["LSM", "d_y"]),
            column("svr", ["SVR", "α"]),
        ],
        rows: vec![
            first,
            row(["AwA", "Vgg19", "Att"], vec![measured(-0.2, None), empty(), empty()]),
            row(["CUB", "Vgg19", "WV"], vec![missing(), missing(), missing()]),
        ],
        figures: vec![CurveFigure {
            dataset: "awa".to_owned(),
            title: "AwA: alpha".to_owned(),
            x_label: "alpha".to_owned(),
            y_label: "per-class accuracy".to_owned(),
            series: vec![CurveSeries {
                name: "Vgg19 WV".to_owned(),
                points: vec![
                    FigurePoint { x: 0.1, y: 0.5, error: Some(0.01) },
                    FigurePoint { x: 1.0, y: 0.25, error: None },
                ],
            }],
        }],
        missing: vec![MissingData {
            what: "CUB-200-2011".to_owned(),
            get: "pictures of birds".to_owned(),
            put: "data/cub".to_owned(),
        }],
        notes: vec!["§ AwA: `sentences` stands for WV".to_owned()],
        manifest: Manifest {
            version: "0".to_owned(),
            experiment: "f".to_owned(),
            seed: 0,
            reduced: None,
            data: Vec::new(),
            machines: vec![Machine { os: "os".to_owned(), processor: "p".to_owned(), threads: 1 }],
        },
    }
}

#[test]
fn text_has_the_layout_of_the_paper() {
    insta::assert_snapshot!(table().text(None), @r#"
    Accuracy % of a & b

                                                 LSM                                     SVR
    Dataset  Vis. Rep.  Sem. Rep.                PCA                   d_y                 α
    AwA      Vgg19      WV         52.0 (50.0, +2.0)  57.0§ (90.0, -33.0*)                 -
                        Att                     32.0                     -                 -

    CUB      Vgg19      WV          n/a (47.6 ± 0.1)      n/a (47.6 ± 0.1)  n/a (47.6 ± 0.1)

    ours (published, difference)
    ± standard error over trials
    * p < 0.05, ** p < 0.01, *** p < 0.001: Student's test over our unseen classes against the published number
    § other data than the published
    n/a: the data are missing
    § AwA: `sentences` stands for WV
    missing: CUB-200-2011. Get pictures of birds, and put it into data/cub
    "#);
    let narrow = table().text(Some(60));
    assert!(narrow.lines().all(|line| line.width() <= 60), "{narrow}");
    assert!(narrow.contains("LSM PCA"), "headers of one line: {narrow}");
}

#[test]
fn markdown_marks_the_best() {
    insta::assert_snapshot!(table().markdown(), @r#"
    **Accuracy % of a &amp; b**

    |  |  |  | LSM |  | SVR |
    | :--- | :--- | :--- | ---: | ---: | ---: |
    | Dataset | Vis. Rep. | Sem. Rep. | PCA | d_y | α |
    | AwA | Vgg19 | WV | **52.0** (50.0, +2.0) | **57.0§** (90.0, -33.0\*) | - |
    |  |  | Att | 32.0 | - | - |
    |  |  |  |  |  |  |
    | CUB | Vgg19 | WV | n/a (47.6 ± 0.1) | n/a (47.6 ± 0.1) | n/a (47.6 ± 0.1) |

    - bold: our best of a row or column, and what a signed-rank test does not tell from it
    - ours (published, difference)
    - ± standard error over trials
    - \* p &lt; 0.05, \*\* p &lt; 0.01, \*\*\* p &lt; 0.001: Student's test over our unseen classes against the published number
    - § other data than the published
    - n/a: the data are missing
    - § AwA: `sentences` stands for WV
    - missing: CUB-200-2011. Get pictures of birds, and put it into data/cub
    "#);
}

#[test]
fn latex_spans_headers_and_rules_parts() {
    insta::assert_snapshot!(table().latex(), @r#"
    % Needs \usepackage{graphicx}.
    % missing: CUB-200-2011. Get pictures of birds, and put it into data/cub
    \begin{table*}[t]
    \centering
    \caption{Accuracy \% of a \& b.}
    \label{tab:small}
    \medskip
    \renewcommand{\arraystretch}{1.15}\setlength{\tabcolsep}{4pt}
    \resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%
    \begin{tabular}{lll|ccc}
    \hline
     &  &  & \multicolumn{2}{c}{\textbf{LSM}} & \textbf{SVR} \\
    \cline{4-6}
    \textbf{Dataset} & \textbf{Vis. Rep.} & \textbf{Sem. Rep.} & \textbf{PCA} & \textbf{$d_{y}$} & \textbf{$\alpha$} \\
    \hline
    \rule{0pt}{2.9ex}AwA & Vgg19 & WV & \textbf{52.0} & \textbf{57.0$^{\S}$} & - \\[-0.8ex]
     &  &  & {\footnotesize (50.0, $+2.0$)} & {\footnotesize (90.0, $-33.0^{*}$)} &  \\[0.3ex]
     &  & Att & 32.0 & - & - \\
    \hline
    \rule{0pt}{2.9ex}CUB & Vgg19 & WV & n/a & n/a & n/a \\[-0.8ex]
     &  &  & {\footnotesize (47.6 $\pm$ 0.1)} & {\footnotesize (47.6 $\pm$ 0.1)} & {\footnotesize (47.6 $\pm$ 0.1)} \\[0.3ex]
    \hline
    \end{tabular}}

    \medskip
    \parbox{\textwidth}{\footnotesize\raggedright
    Bold: our best of a row or column, and what a signed-rank test does not tell from it.\par
    Ours (published, difference).\par
    $\pm$ standard error over trials.\par
    * p \textless{} 0.05, ** p \textless{} 0.01, *** p \textless{} 0.001: Student's test over our unseen classes against the published number.\par
    $^{\S}$ other data than the published.\par
    n/a: the data are missing.\par
    $^{\S}$ AwA: \texttt{sentences} stands for WV.}
    \end{table*}
    "#);
}

#[test]
fn line_ends_and_markup_in_the_words_of_users_change_no_layout() {
    let mut table = table();
    table.title = "One | <b>two</b>\n\nthree".to_owned();
    table.notes = vec!["a <note>\n\nof `two` lines".to_owned()];
    table.missing[0].get = "birds\n\\end{table*}".to_owned();
    let markdown = table.markdown();
    assert!(markdown.starts_with("**One \\| &lt;b&gt;two&lt;/b&gt;  three**\n"), "{markdown}");
    assert!(markdown.contains("\n- a &lt;note&gt;  of `two` lines\n"), "{markdown}");
    let latex = table.latex();
    assert!(latex.contains("\\caption{One \\textbar{} \\textless{}b"), "{latex}");
    assert!(
        latex.contains("two\\textless{}/b\\textgreater{}  three.}"),
        "a blank line ends a caption: {latex}"
    );
    assert!(latex.contains("% missing: CUB-200-2011. Get birds \\end{table*}, and"), "{latex}");
    assert_eq!(latex.matches("\n\\end{table*}").count(), 1, "{latex}");
}

#[test]
fn the_legend_says_what_marks_of_published_numbers_and_spreads_are() {
    let mut table = table();
    let marked = |mark: &str| {
        let published = PublishedNumber { mark: mark.to_owned(), ..number(0.9, None, None) };
        TableCell::accuracy(&[run("standard", 0, &[0.4, 0.5])], false, Some(published))
    };
    let legend = |table: &Reproduction| table.legend().join("\n");
    assert!(!legend(&table).contains(['†', '‡']), "{}", legend(&table));
    table.rows[1].cells = vec![marked("†"), marked("‡"), marked("")];
    table.spread = "standard-deviation".to_owned();
    for line in [
        "† published of other unseen classes: not tested",
        "‡ published over instances: the difference is from our accuracy over instances, and not tested",
        "± standard deviation over runs",
    ] {
        assert!(table.text(None).lines().any(|other| other == line), "{line}: {}", table.text(None));
    }
    table.rows.truncate(1);
    assert!(!legend(&table).contains('±'), "no number has a spread: {}", legend(&table));
}

#[test]
fn scripts_get_one_line_per_cell_and_per_point() {
    let table = table();
    let csv = table.cells_table().render(crate::Format::Csv);
    assert_eq!(csv.lines().count(), 1 + 9);
    assert!(csv.contains("small,AwA/Vgg19/WV,pca,measured,0.52,,0.5,"), "{csv}");
    assert!(csv.contains("CUB/Vgg19/WV,svr,missing,,,0.476,0.001,"), "{csv}");
    let points = table.points_table().expect("curves").render(crate::Format::Csv);
    assert_eq!(
        points,
        "figure,series,x_label,x,y,error\nAwA: alpha,Vgg19 WV,alpha,0.1,0.5,0.01\nAwA: alpha,Vgg19 WV,alpha,1,0.25,\n"
    );
    assert_eq!(Reproduction { figures: Vec::new(), ..table.clone() }.points_table(), None);
    assert_eq!(table.counts(), (3, 6));
    let json = serde_json::to_string(&table).expect("JSON");
    let mut back: Reproduction = serde_json::from_str(&json).expect("the same");
    // Units are for tests alone, and are not written.
    back.rows.iter_mut().zip(&table.rows).for_each(|(back, row)| {
        back.cells.iter_mut().zip(&row.cells).for_each(|(back, cell)| back.units.clone_from(&cell.units));
    });
    assert_eq!(back, table);
}

#[test]
fn figures_of_a_dataset_are_charts_on_one_scale_with_a_logarithmic_axis_where_values_span_it() {
    let mut table = table();
    let first = table.figures[0].clone();
    let point = |x, y| FigurePoint { x, y, error: None };
    let series =
        vec![CurveSeries { name: "Vgg19 WV".to_owned(), points: vec![point(0.01, 0.1), point(100.0, 0.2)] }];
    table.figures.push(CurveFigure { title: "CUB: alpha".to_owned(), series, ..first });
    let charts = table.charts();
    let names: Vec<&str> = charts.iter().map(|chart| &chart.name[..]).collect();
    assert_eq!(names, ["small-awa-alpha", "small-cub-alpha"]);
    // Another dataset has a scale of its own.
    table.figures[1].dataset = "cub".to_owned();
    let alone = table.charts()[1].svg(crate::Theme::LIGHT);
    assert!(alone.contains(">20</text>") && !alone.contains(">60</text>"), "{alone}");
    let [linear, log] = [0, 1].map(|index| charts[index].svg(crate::Theme::LIGHT));
    // Both reach from the lowest to the highest point of either.
    assert!(
        [&linear, &log].iter().all(|svg| svg.contains(">10</text>") && svg.contains(">60</text>")),
        "{linear}"
    );
    assert!(
        linear.contains(">0.4</text>") && !log.contains(">0.4</text>") && log.contains(">100</text>"),
        "{log}"
    );
}
