//! The files that ship with the crate, held against the numbers that the paper printed.

use bidilel_experiments::{Experiment, NAMES, Show, Views, source};

fn all() -> impl Iterator<Item = (&'static str, Experiment)> {
    NAMES.iter().map(|&name| {
        let text = source(name).unwrap_or_else(|| panic!("no file for {name}"));
        (name, Experiment::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")))
    })
}

#[test]
fn every_published_number_has_a_cell_and_every_cell_of_the_paper_a_number() {
    for (name, table) in all() {
        let numbers = table.numbers.as_ref().unwrap_or_else(|| panic!("{name} has no published table"));
        let mut printed = 0;
        for row in &table.rows {
            for column in &table.columns {
                let number = table.published(&row.id, &column.id);
                let cell = table.cell(row, column);
                assert!(number.is_none() || cell.is_some(), "{name}: {} {}", row.id, column.id);
                // Figures are printed without numbers, and extra rows are ours.
                let expected = cell.is_some() && !row.extra && !numbers.rows.is_empty();
                assert_eq!(number.is_some(), expected, "{name}: {} {}", row.id, column.id);
                printed += usize::from(number.is_some());
            }
        }
        let listed = numbers.rows.values().flatten().filter(|text| *text != "-").count();
        assert_eq!(printed, listed, "{name}: rows and columns are joined by id, none may be left over");
    }
}

#[test]
fn tables_have_the_sizes_of_the_paper() {
    let sizes: Vec<(&str, usize, usize)> = all()
        .map(|(name, table)| (name, table.rows.iter().filter(|row| !row.extra).count(), table.columns.len()))
        .collect();
    assert_eq!(
        sizes,
        [
            ("hyper-parameters", 12, 4),
            ("enabling-techniques", 23, 7),
            ("joint-learners", 8, 3),
            ("gamma", 4, 3),
            ("object-recognition", 18, 6),
            ("action-recognition", 15, 7),
            ("representations", 5, 5),
        ]
    );
}

#[test]
fn tables_and_figures_are_named_as_in_the_source_of_the_paper() {
    let labels: Vec<String> = all().filter_map(|(_, table)| table.paper).collect();
    assert_eq!(
        labels,
        [
            "table_d, fig_hyperparameter",
            "table_sslCpr",
            "table_sje",
            "fig_semComb",
            "table_objectresults",
            "table_actionresults",
            "fig_repcomb_ucf101_51, fig_repcomb_ucf101_81, fig_repcomb_hmdb51",
        ]
    );
}

#[test]
fn numbers_of_features_are_those_of_the_paper() {
    let datasets = Experiment::named("object-recognition").expect("a table").datasets;
    let visual = |dataset: &str, name: &str| datasets[dataset].visual(name).dim;
    let semantic = |dataset: &str, name: &str| datasets[dataset].semantic(name).dim;
    for dataset in ["awa", "cub"] {
        assert_eq!([visual(dataset, "googlenet"), visual(dataset, "vgg19")], [Some(1024), Some(4096)]);
    }
    assert_eq!(
        [semantic("awa", "att"), semantic("cub", "att"), semantic("ucf101", "att")],
        [85, 312, 115].map(Some)
    );
    assert_eq!(
        ["awa", "cub", "ucf101", "hmdb51"].map(|name| semantic(name, "wv")),
        [300, 400, 300, 300].map(Some)
    );
    // The paper does not say how many features bags and the two parts of MBH together have.
    for name in ["mbh", "hog-bof", "gist3d", "stlpc"] {
        assert_eq!(
            (visual("ucf101", name), datasets["ucf101"].visual(name).stand_in_dim.is_some()),
            (None, true)
        );
    }
}

#[test]
fn cells_are_what_the_paper_describes() {
    let named = |name: &str| Experiment::named(name).expect(name);
    let at = |table: &Experiment, row: &str, column: &str| {
        let find = |lines: &[bidilel_experiments::Line], id: &str| {
            lines.iter().find(|line| line.id == id).unwrap_or_else(|| panic!("no {id}")).clone()
        };
        table.cell(&find(&table.rows, row), &find(&table.columns, column)).expect("a cell")
    };
    let objects = named("object-recognition");
    let cell = at(&objects, "bidilel-sp/vgg19", "cub/att+wv");
    assert_eq!((&cell.dataset[..], cell.starts, cell.semantic.len()), ("cub", 5, 2));
    assert_eq!(cell.settings["init"], "random");
    let after = cell.search.after.expect("the weights are chosen after the other settings");
    assert_eq!((after.axes.len(), cell.search.axes[0].values.len()), (0, 9));
    let other = at(&objects, "dap/googlenet", "awa/att");
    assert_eq!((other.starts, other.search.is_single()), (1, true));

    let actions = named("action-recognition");
    let cell = at(&actions, "bidilel/c3d+hog+hof+mbh", "ucf101:81-20/wv");
    assert_eq!((cell.split.as_deref(), cell.visual.len(), cell.views), (Some("81-20"), 4, Views::Named));
    let split = actions.datasets["ucf101"].split("81-20");
    assert_eq!(split.draw.map(|draw| (draw.trials, draw.unseen)), Some((30, 20)));
    assert_eq!(actions.datasets["ucf101"].folds, Some(3));

    let representations = named("representations");
    let cell = at(&representations, "3", "hmdb51:26-25/wv");
    assert_eq!((cell.views, cell.visual.len()), (Views::First(3), 11));

    let weights = named("gamma");
    let search = at(&weights, "awa/vgg19/att+wv", "self-training").search;
    let values = |axes: &[bidilel::tune::Axis]| -> Vec<f64> {
        axes[0].values.iter().map(|value| value.as_f64().expect("a number")).collect()
    };
    assert_eq!(values(&search.axes), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], "what is chosen among");
    assert_eq!(values(&search.drawn), [0.0, 1.0], "the ends of the figure");

    let settings = named("hyper-parameters");
    assert_eq!(at(&settings, "awa/vgg19/att", "dim").show, Show::Setting("dim".to_owned()));
}
