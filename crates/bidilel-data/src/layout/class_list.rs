//! Class lists with numbers, and names that are spelled in several ways.

use std::path::Path;

use crate::error::{Error, Result};
use crate::names::ClassIndex;
use crate::text::{self, List};

/// A list of `number name` lines, counted from 1 and sorted by number; lines without numbers count themselves.
pub(super) fn numbered(path: &Path) -> Result<List> {
    let list = text::read_list(path)?;
    let split = |line: &String| {
        let (number, name) = line.split_once(char::is_whitespace)?;
        Some((number.parse::<usize>().ok()?, name.trim().to_owned()))
    };
    let Some(pairs) = list.items.iter().map(split).collect::<Option<Vec<_>>>() else {
        return list.composed().unique();
    };
    let mut items = vec![None; pairs.len()];
    for (index, (number, name)) in pairs.into_iter().enumerate() {
        let wrong = |problem: &str| Error::Line {
            path: path.to_owned(),
            line: index + 1,
            problem: format!("number {number} {problem}"),
        };
        let count = items.len();
        let slot = number.checked_sub(1).and_then(|place| items.get_mut(place));
        let slot = slot.ok_or_else(|| wrong(&format!("is not one of 1 to {count}")))?;
        if slot.replace(name).is_some() {
            return Err(wrong("is there twice"));
        }
    }
    List { items: items.into_iter().flatten().collect(), ..list }.composed().unique()
}

/// The classes that a list names, ascending.
///
/// Split files of the same dataset write a class as `1 001.Fish_Crow`, `001.Fish_Crow`, `Fish_Crow` or `fish crow`; a
/// name counts as the class whose plain letters and digits are the same, if that is one class only.
pub(super) fn classes_in(path: &Path, classes: &[String]) -> Result<Vec<usize>> {
    let mut list = text::read_list(path)?.composed();
    let index = ClassIndex::lenient(classes);
    for item in &mut list.items {
        let name = item.split_once(char::is_whitespace).filter(|(number, _)| number.parse::<usize>().is_ok());
        let name = name.map_or(item.as_str(), |(_, name)| name.trim());
        // The class's own name, so that two spellings of one are a repetition.
        if let Some(class) = index.get(item).or_else(|| index.get(name)) {
            index.name(class).clone_into(item);
        }
    }
    let mut indices = index.indices(&list.unique()?)?;
    indices.sort_unstable();
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn in_file<T>(content: &str, read: impl FnOnce(&Path) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        fs::write(&path, content).unwrap();
        read(&path)
    }

    #[test]
    fn numbers_decide_and_not_lines() {
        assert_eq!(in_file(" 2\tb\n 1\ta c\n", |path| numbered(path).unwrap().items), ["a c", "b"]);
        assert_eq!(in_file("b\na\n", |path| numbered(path).unwrap().items), ["b", "a"]);
        let message = |content| in_file(content, |path| numbered(path).unwrap_err().to_string());
        assert!(message("1 a\n3 b\n").ends_with("line 2: number 3 is not one of 1 to 2"));
        assert!(message("1 a\n1 b\n").ends_with("line 2: number 1 is there twice"));
        assert!(message("0 a\n1 b\n").ends_with("line 1: number 0 is not one of 1 to 2"));
    }

    #[test]
    fn every_spelling_is_the_same_class() {
        let classes = ["001.Fish_Crow", "002.Common_Raven"].map(String::from);
        let found =
            |content| in_file(content, |path| classes_in(path, &classes).map_err(|error| error.to_string()));
        assert_eq!(found("002.Common_Raven\n1 001.Fish_Crow\n"), Ok(vec![0, 1]));
        assert_eq!(found("fish crow\n"), Ok(vec![0]));
        assert!(found("Mallard\n").unwrap_err().contains("no class is called `Mallard`"));
        assert!(found("fish crow\nFish_Crow\n").unwrap_err().contains("repeats"));
    }
}
