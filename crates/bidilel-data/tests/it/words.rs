//! Word vector files of every kind, and the vectors of classes made from them.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use bidilel::dataset::Metric;
use bidilel_data::words::{Missing, WordVectors, class_vectors};
use proptest::prelude::*;

use crate::support::{Sample, fixture, fixture_bytes};

const FILES: [&str; 4] = ["words.bin", "words-lines.bin", "words.txt", "glove.txt"];

fn set(words: &[&str]) -> HashSet<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn parse(bytes: impl AsRef<[u8]>) -> bidilel_data::Result<WordVectors> {
    WordVectors::from_bytes(Path::new("x"), Arc::new(bytes.as_ref().to_vec()))
}

fn find(bytes: impl AsRef<[u8]>, word: &str) -> String {
    match parse(bytes).and_then(|vectors| vectors.find(&set(&[word, "never there"]))) {
        Ok(found) => format!("{:?}", found.get(word)),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_kind_of_file_has_the_same_vectors() {
    for name in FILES {
        let vectors = WordVectors::open(&fixture(name)).unwrap();
        assert_eq!(vectors.dim(), 4, "{name}");
        let found = vectors.find(&set(&["the", "Footed", "footed", "bär", "."])).unwrap();
        assert_eq!(found.len(), 3, "{name}: {found:?}");
        assert_eq!(found["the"], [0.0, 0.125, 0.25, 0.375]);
        assert_eq!(found["Footed"], [3.0, 3.125, 3.25, 3.375]);
        assert_eq!(found["bär"], [7.0, 7.125, 7.25, 7.375]);
    }
}

#[test]
fn classes_get_the_mean_of_their_words() {
    let names =
        ["killer+whale", "001.Black_footed_Albatross", "HandstandPushups", "The_Bär's"].map(str::to_owned);
    for name in FILES {
        let vectors = WordVectors::open(&fixture(name)).unwrap();
        let (matrix, report) = class_vectors(&names, &vectors, Missing::Refuse).unwrap();
        // `footed` is only there with a capital, which the name does not have.
        let means = [1.0, 3.0, 5.5, 3.5];
        for (class, mean) in means.into_iter().enumerate() {
            assert_eq!(matrix.col_as_slice(class), [mean, mean + 0.125, mean + 0.25, mean + 0.375], "{name}");
        }
        assert_eq!(report.missing, [vec![], vec!["footed".to_owned()], vec![], vec![]]);
        assert!(report.without.is_empty());
    }
}

#[test]
fn a_class_without_a_word_is_refused_unless_told() {
    let vectors = WordVectors::open(&fixture("glove.txt")).unwrap();
    let names = ["the", "Zyzzyva", "black"].map(str::to_owned);
    let error = class_vectors(&names, &vectors, Missing::Refuse).unwrap_err();
    assert!(error.to_string().ends_with("glove.txt`: has no word of class `Zyzzyva`"), "{error}");
    assert!(error.hint().unwrap().contains("missing = \"mean\""));
    let (matrix, report) = class_vectors(&names, &vectors, Missing::Mean).unwrap();
    assert_eq!(matrix.col_as_slice(1), [1.0, 1.125, 1.25, 1.375]);
    assert_eq!(report.without, [1]);
    assert!(class_vectors(&names[1..2], &vectors, Missing::Mean).is_err());
}

#[test]
fn a_dataset_can_name_word_vectors() {
    let sample = Sample::new();
    sample.put("glove.txt", "cat 1 2\ndog 3 4\n");
    let old = "[semantic.words]\nfile   = \"words.npy\"\nmetric = \"cosine\"";
    sample.edit(old, "[semantic.words]\nword_vectors = \"glove.txt\"");
    assert_eq!(sample.error().0, "`glove.txt`: has no word of class `wolf`");
    sample.edit(old, "[semantic.words]\nword_vectors = \"glove.txt\"\nmissing = \"mean\"");
    let opened = sample.open();
    let words = &opened.dataset.semantic[0];
    assert_eq!((words.metric, words.vectors.col_as_slice(2)), (Metric::Cosine, &[2.0, 3.0][..]));
    assert!(opened.notes[0].ends_with("glove.txt`: has no vectors for `wolf` of class `wolf`"));
    sample.edit(old, "[semantic.words]\nmetric = \"cosine\"");
    assert_eq!(
        sample.error().0,
        "`dataset.toml`: semantic representation `words` needs a key `file`, `word_vectors` or `text`"
    );
    sample.edit(old, "[semantic.words]\nfile = \"words.npy\"");
    assert!(sample.error().0.contains("needs a key `metric`"));
}

#[test]
fn files_that_lie_are_errors() {
    let header = |text: &str| find(text, "a");
    assert_eq!(header("99999999999 300\na 1"), "`x`: expected 120199999998798 bytes of data, found 3");
    assert!(header(&format!("{} 4\na 1 2 3 4", usize::MAX)).ends_with("elements is too large"));
    assert!(header(&format!("2 {}\na 1", usize::MAX)).contains("too large"));
    assert_eq!(header("3 2\na 1 2\nb 3 4\nlonger words 5 6"), "Some([1.0, 2.0])");
    assert_eq!(header("3 2\nb 1 2\nlonger 3.00000 4.00000\n"), "`x`: expected 3 words, found 2");
    assert_eq!(header("b 1 2\na 1 x\n"), "`x`: word `a`: expected 2 finite numbers, found `x`");
    assert_eq!(header("b 1 2\nb 1 2\na 1 nan\n"), "`x`: word `a`: expected 2 finite numbers, found NaN");
    assert_eq!(header("some text\nand more\n"), "`x`: expected word vectors, found something else");
    assert_eq!(header("\u{93}"), "`x`: expected word vectors, found something else");
    let mut cut = fixture_bytes("words.bin");
    cut.truncate(cut.len() - 1);
    assert_eq!(find(&cut, "nothing"), "`x`: expected 8 words, found 7");
    assert_eq!(find(b"\xff\xfe 1 2\na 3 4\n", "a"), "Some([3.0, 4.0])");
}

proptest! {
    #[test]
    fn changed_bytes_give_an_error_or_vectors(
        name in prop::sample::select(&FILES[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = fixture_bytes(name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [&bytes[..length.index(bytes.len())], &bytes] {
            if let Ok(vectors) = parse(bytes) {
                prop_assert!(vectors.dim() <= bytes.len());
                if let Ok(found) = vectors.find(&set(&["the", "black", "bär", "never there"])) {
                    prop_assert!(found.values().all(|vector| vector.len() == vectors.dim()));
                }
            }
        }
    }

    #[test]
    fn any_name_is_cut_into_words(name in "\\PC{0,40}") {
        let vectors = parse("a 1 2\n").unwrap();
        let _ = class_vectors(&[name], &vectors, Missing::Mean);
    }
}
