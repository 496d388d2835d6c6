//! What must hold of the data that ship inside the program.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use bidilel::dataset::SplitKind;
use bidilel_data::check;
use bidilel_emoji::{Collection, NAMES, open};

/// Words of a name that say nothing about what is seen.
const EMPTY: [&str; 16] =
    ["a", "an", "and", "at", "in", "of", "off", "on", "over", "the", "to", "up", "with", "without", "s", "o"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn collections() -> [Collection; 2] {
    NAMES.map(|name| open(name).expect("a collection"))
}

/// Content words in a crude singular, as the maker has them.
fn content_words(name: &str) -> BTreeSet<String> {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let singular = |word: &str| match word.len() {
        0..=3 => word.to_owned(),
        _ if word.ends_with("ies") => format!("{}y", word.trim_end_matches("ies")),
        _ if word.ends_with("ss") => word.to_owned(),
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    };
    words.filter(|word| !EMPTY.contains(word)).map(singular).collect()
}

#[test]
fn there_are_enough_classes_and_every_one_has_pictures_of_several_styles() {
    let [animals, things] = collections();
    assert!(animals.dataset.classes.len() >= 82, "{} animals", animals.dataset.classes.len());
    assert!((350..=500).contains(&things.dataset.classes.len()), "{} things", things.dataset.classes.len());
    for Collection { dataset, characters, .. } in [&animals, &things] {
        assert_eq!(characters.len(), dataset.classes.len());
        assert_eq!(characters.iter().collect::<BTreeSet<_>>().len(), characters.len(), "a character each");
    }
    for collection in [&animals, &things] {
        let mut styles: HashMap<usize, BTreeSet<&str>> = HashMap::new();
        for (instance, &label) in collection.dataset.labels.iter().enumerate() {
            assert!(
                styles.entry(label).or_default().insert(collection.style(instance)),
                "one picture a style"
            );
        }
        assert_eq!(styles.len(), collection.dataset.classes.len());
        assert!(styles.values().all(|styles| (4..=7).contains(&styles.len())));
    }
}

#[test]
fn no_two_classes_share_a_content_word() {
    assert_eq!(content_words("Tiger Faces"), BTreeSet::from(["tiger".to_owned(), "face".to_owned()]));
    for collection in collections() {
        let mut owner: HashMap<String, &String> = HashMap::new();
        for class in &collection.dataset.classes {
            for word in content_words(class) {
                if let Some(other) = owner.insert(word.clone(), class) {
                    panic!("`{class}` and `{other}` are twins: both have `{word}`");
                }
            }
        }
    }
}

#[test]
fn nothing_is_wrong_with_them() {
    for collection in collections() {
        let found = check::inspect_dataset(&collection.dataset, &bidilel::Silent).expect("nobody stops it");
        let problems: Vec<&String> = found.problems.iter().map(|problem| &problem.message).collect();
        // Euclidean distances of attributes are larger than cosine ones of sentences: the one thing to be told.
        let scales = problems.iter().filter(|message| message.contains("apart in `attributes`")).count();
        let told = usize::from(collection.dataset.semantic.len() > 1);
        assert_eq!((scales, problems.len()), (told, told), "{}: {problems:?}", collection.dataset.name);
    }
}

#[test]
fn what_is_inside_is_what_the_folder_has() {
    for (collection, name) in collections().iter().zip(["animals", "things"]) {
        let opened = bidilel_data::open(&folder().join(name)).expect("a dataset folder").dataset;
        let inside = &collection.dataset;
        assert_eq!(inside.name, opened.name);
        assert_eq!(inside.classes, opened.classes);
        assert_eq!(inside.labels, opened.labels);
        assert_eq!(inside.visual[0].name, opened.visual[0].name);
        assert_eq!(inside.semantic.len(), opened.semantic.len());
        for (one, other) in inside.semantic.iter().zip(&opened.semantic) {
            assert_eq!((&one.name, one.metric), (&other.name, other.metric));
            assert_eq!((&one.vectors, &one.dimension_names), (&other.vectors, &other.dimension_names));
        }
        for (one, other) in inside.splits.iter().zip(&opened.splits) {
            assert_eq!((&one.name, &one.kind), (&other.name, &other.kind));
        }
        let (mut one, mut other) = (vec![0.0; 1280], vec![0.0; 1280]);
        for row in 0..inside.labels.len() {
            inside.visual[0].rows.read(row, &mut one);
            opened.visual[0].rows.read(row, &mut other);
            assert!(one == other, "row {row}");
        }
    }
}

#[test]
fn the_array_of_attributes_is_the_table_that_people_read() {
    let [animals, _] = collections();
    let attributes = animals.dataset.semantic(Some("attributes")).expect("attributes");
    let names = attributes.dimension_names.as_ref().expect("names");
    assert!(names.len() >= 50);
    let mut table = csv::Reader::from_path(folder().join("animals.csv")).expect("the table");
    let columns: Vec<String> = table.headers().expect("a header").iter().skip(1).map(str::to_owned).collect();
    assert_eq!(&columns, names);
    let mut rows = 0;
    for (class, row) in table.records().map(|row| row.expect("a row")).enumerate() {
        assert_eq!(&row[0], animals.dataset.classes[class]);
        for (dimension, value) in row.iter().skip(1).enumerate() {
            let value: u8 = value.parse().expect("a whole number");
            assert!(value <= 10, "{} {}: {value}", &row[0], names[dimension]);
            let stored = attributes.vectors[(dimension, class)];
            assert!((stored - f64::from(value) / 10.0).abs() < 1e-7, "{} {}", &row[0], names[dimension]);
        }
        rows += 1;
    }
    assert_eq!(rows, animals.dataset.classes.len());
    for (dimension, name) in names.iter().enumerate() {
        let row: Vec<f64> = (0..rows).map(|class| attributes.vectors[(dimension, class)]).collect();
        assert!(row.iter().any(|&value| value >= 0.5), "no animal has `{name}`");
        assert!(row.iter().any(|&value| value <= 0.1), "every animal has `{name}`");
    }
}

#[test]
fn families_have_trials_of_the_same_size_that_differ() {
    for collection in collections() {
        let SplitKind::Family { trials } = &collection.dataset.splits[1].kind else { panic!("a family") };
        assert!(trials.len() >= 10);
        assert!(trials.iter().all(|unseen| unseen.len() == trials[0].len()));
        assert_eq!(trials.iter().collect::<BTreeSet<_>>().len(), trials.len());
    }
}

#[test]
fn every_picture_can_be_had() {
    for collection in collections() {
        let count = collection.dataset.labels.len();
        for instance in (0..count).step_by(97).chain([count - 1]) {
            let bytes = collection.thumbnail(instance).expect("a picture");
            assert_eq!((&bytes[..4], &bytes[8..12]), (&b"RIFF"[..], &b"WEBP"[..]));
        }
    }
}

#[test]
fn all_files_together_stay_below_twelve_megabytes() {
    fn size(path: &std::path::Path) -> u64 {
        let entries = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        // What Python leaves behind is not committed.
        let entries = entries.filter(|path| !path.ends_with("__pycache__"));
        entries
            .map(|path| if path.is_dir() { size(&path) } else { path.metadata().expect("a file").len() })
            .sum()
    }
    let bytes = size(&folder());
    assert!(bytes < 12_000_000, "{bytes} bytes");
}
