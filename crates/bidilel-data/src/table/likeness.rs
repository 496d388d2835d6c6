//! Columns that look like something else than features, by their names.

/// What the name of a column says that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Numbers or names of the rows.
    Id,
    /// Classes.
    Label,
    /// Names, of classes in a table of classes and of instances in a table of instances.
    Name,
}

const IDS: [&str; 5] = ["id", "ids", "idx", "uuid", "guid"];
const COUNTERS: [&str; 4] = ["index", "number", "num", "no"];
/// What is counted: `row index` counts rows, but a `body mass index` does not.
const COUNTED: [&str; 9] =
    ["row", "class", "sample", "image", "instance", "item", "record", "unnamed", "label"];
const LABELS: [&str; 10] =
    ["label", "labels", "class", "classes", "target", "targets", "category", "species", "gt", "truth"];
const NAMES: [&str; 10] =
    ["name", "names", "path", "paths", "file", "files", "filename", "image", "title", "key"];

/// What a column seems to hold; `y` is a label, unless it stands beside an `x`.
pub(crate) fn of<'a>(name: &str, mut all: impl Iterator<Item = &'a str>) -> Option<Likeness> {
    let words = words(name);
    let [rest @ .., last] = &words[..] else {
        // pandas writes the numbers of the rows in a column without a name.
        return Some(Likeness::Id);
    };
    let (last, alone) = (last.as_str(), rest.is_empty());
    let counted = || rest.iter().all(|word| COUNTED.contains(&word.as_str()));
    let numbered = ["0", "1"].contains(&last) && rest == ["unnamed"];
    if IDS.contains(&last) || numbered || (last == "index" && alone) {
        return Some(Likeness::Id);
    }
    if COUNTERS.contains(&last) && !alone && counted() {
        return Some(Likeness::Id);
    }
    if alone && ["rownum", "rowid"].contains(&last) {
        return Some(Likeness::Id);
    }
    if LABELS[..4].contains(&last) || (LABELS.contains(&last) && alone) || words == ["ground", "truth"] {
        return Some(Likeness::Label);
    }
    if last == "y" && alone && !all.any(|other| other.eq_ignore_ascii_case("x")) {
        return Some(Likeness::Label);
    }
    if words == ["class", "name"] {
        return Some(Likeness::Label);
    }
    NAMES.contains(&last).then_some(Likeness::Name)
}

/// The words of a name in lower case: `imageId` and `image_id` are two words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if (begins || !letter.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_identifiers_and_labels_from_features() {
        let likeness = |name: &str| of(name, ["x", name].into_iter());
        for name in
            ["id", "ID", "image_id", "imageId", "index", "Unnamed: 0", "", "row index", "class_no", "idx"]
        {
            assert_eq!(likeness(name), Some(Likeness::Id), "{name}");
        }
        for name in
            ["label", "Label", "class", "true_label", "class_name", "target", "ground_truth", "category"]
        {
            assert_eq!(likeness(name), Some(Likeness::Label), "{name}");
        }
        for name in ["path", "file_name", "name"] {
            assert_eq!(likeness(name), Some(Likeness::Name), "{name}");
        }
        for name in
            ["f1", "x", "y", "0", "17", "body mass index", "stripes", "paid", "valid", "number of legs"]
        {
            assert_eq!(likeness(name), None, "{name}");
        }
        assert_eq!(of("y", ["a", "y"].into_iter()), Some(Likeness::Label));
    }
}
