//! Files of users: what they may leave out, and what they are told where something is wrong.

use bidilel_experiments::{Error, Experiment};

/// The smallest file.
const SMALL: &str = r#"title = "Mine"
stub = ["label"]
head = ["visual"]

[searches.few]
grid = { alpha = [0.1, 1.0], dim = [5, 10] }

[[rows]]
label = "SLPP"
search = "few"
settings = { neighbors = 5 }

[[columns]]
dataset = "mine"
visual = ["cnn", "cnn+motion"]
semantic = "attributes"
"#;

#[test]
fn names_that_nothing_is_said_of_stand_for_themselves() {
    let mine = Experiment::parse(SMALL).expect("an experiment");
    let ids: Vec<&str> = mine.columns.iter().map(|column| &column.id[..]).collect();
    assert_eq!(ids, ["mine/cnn/attributes", "mine/cnn+motion/attributes"]);
    let cell = mine.cell(&mine.rows[0], &mine.columns[1]).expect("a cell");
    assert_eq!((&cell.dataset[..], &cell.visual[..]), ("mine", &["cnn".to_owned(), "motion".to_owned()][..]));
    assert_eq!((cell.starts, cell.search.axes.len(), &cell.settings["neighbors"]), (1, 2, &5.into()));
    assert_eq!(mine.published(&mine.rows[0].id, ids[0]), None);
}

#[test]
fn datasets_and_numbers_may_be_the_users_own() {
    let own = format!(
        "{SMALL}\n[datasets.cub.visual.vgg19]\nnames = [\"mine\"]\n\n[published]\ncolumns = [\"mine/cnn/attributes\"]\n\
         [published.rows]\n\"SLPP\" = [\"51.4 ± 0.3\"]\n"
    );
    let mine = Experiment::parse(&own).expect("an experiment");
    assert_eq!(mine.datasets["cub"].visual["vgg19"].names, ["mine"]);
    assert_eq!(mine.datasets["cub"].title.as_deref(), Some("CUB-200-2011"), "the rest is as it was");
    assert_eq!(mine.published("SLPP", "mine/cnn/attributes").expect("a number").spread, Some(0.3));
}

/// The file with one line replaced, and what is said of it.
fn error(old: &str, new: &str) -> Error {
    assert!(SMALL.contains(old), "{old}");
    Experiment::parse(&SMALL.replacen(old, new, 1)).expect_err(new)
}

#[test]
fn mistakes_are_told_with_their_line_and_key() {
    for (old, new, line, words) in [
        ("title = \"Mine\"", "titel = \"Mine\"", 1, "titel"),
        (
            "head = [\"visual\"]",
            "head = [\"views\"]",
            3,
            "must be one of dataset, visual, semantic, label, group, found `views`",
        ),
        ("alpha = [0.1, 1.0]", "alfa = [0.1, 1.0]", 6, "alfa"),
        (
            "alpha = [0.1, 1.0], dim = [5, 10] }",
            "alpha = [0.1, 1.0] }\ndrawn = { dim = [5] }",
            7,
            "`dim` is drawn beside values of `grid`, which has not even two",
        ),
        ("alpha = [0.1, 1.0]", "alpha = 0.1", 6, "`alpha` must be a list of values to try"),
        ("alpha = [0.1, 1.0]", "alpha = [0.1, -1.0]", 6, "alpha"),
        ("search = \"few\"", "search = \"many\"", 10, "must be one of few, found `many`"),
        ("neighbors = 5", "neighbours = 5", 11, "neighbours"),
        ("neighbors = 5", "neighbors = \"many\"", 11, "neighbors"),
        ("semantic = \"attributes\"", "", 8, "say nothing of `semantic`"),
        ("label = \"SLPP\"", "id = \"SLPP\"", 8, "it must have what labels it: label"),
        ("visual = [\"cnn\", \"cnn+motion\"]", "visual = [\"cnn\", \"cnn\"]", 13, "is there twice"),
        ("search = \"few\"", "search = \"few\"\nshow = \"alfa\"", 11, "`show` must be accuracy or a setting"),
        (
            "search = \"few\"",
            "search = \"few\"\nonly = [\"cnn\"]",
            11,
            "`only` must be one of mine/cnn/attributes",
        ),
        ("search = \"few\"", "serach = \"few\"", 10, "serach"),
        ("title = \"Mine\"", "title = \"Mine\"\npaper = \"table_9\"", 2, "`paper` must be one of"),
        ("title = \"Mine\"", "title = \"Mine", 1, ""),
    ] {
        let Error { line: found, problem } = error(old, new);
        assert!(found == line && problem.contains(words), "{new}: line {found} for {line}: {problem}");
    }
}

#[test]
fn a_search_that_comes_after_itself_is_no_endless_one() {
    let circle = SMALL.replace("[searches.few]\n", "[searches.few]\nafter = \"more\"\n")
        + "\n[searches.more]\nafter = \"few\"\n";
    assert!(Experiment::parse(&circle).expect_err("a circle").problem.contains("comes after itself"));
}
