//! What can be wrong with a file, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use bidilel_math::Observer;

use crate::mismatch::Mismatch;
use crate::names::closest;

/// A file that cannot be read or written, or that does not say what it should.
///
/// Rows, columns and indices count from 0, lines of text from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "every variant is described, and its fields are the words of its message")]
pub enum Error {
    /// Nothing has that name.
    #[error("`{}`: no such file or folder", path.display())]
    NotFound { path: PathBuf },
    /// A folder without a `dataset.toml`.
    #[error("`{}`: expected a dataset, found a folder without `dataset.toml`", path.display())]
    NoManifest { path: PathBuf },
    /// A folder where a file should be, or the other way round.
    #[error("`{}`: expected a {expected}, found a {found}", path.display())]
    Kind { path: PathBuf, expected: &'static str, found: &'static str },
    /// A file without a byte.
    #[error("`{}`: the file is empty", path.display())]
    Empty { path: PathBuf },
    /// A file that somebody else writes to.
    #[error("`{}`: was changed while it was being read", path.display())]
    Changed { path: PathBuf },
    /// A file that another run of this program writes to.
    #[error("`{}`: another run is writing to it", path.display())]
    Locked { path: PathBuf },
    /// The system refused to read.
    #[error("`{}`: cannot be read", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The system refused to write.
    #[error("`{}`: cannot be written", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A disk that is too full for what is to be written.
    #[error("`{}`: needs about {} MB, but only {} MB are free there", path.display(), bytes.div_ceil(1_000_000), free / 1_000_000)]
    NoSpace { path: PathBuf, bytes: u64, free: u64 },
    /// A target that already holds something.
    #[error("`{}`: already exists and is not empty", path.display())]
    Exists { path: PathBuf },
    /// A target to replace that is something else than a dataset.
    #[error("`{}`: is not a dataset folder, so it is not replaced", path.display())]
    NotReplaceable { path: PathBuf },

    /// Bytes of another format.
    #[error("`{}`: expected {expected}, found {found}", path.display())]
    Format { path: PathBuf, expected: &'static str, found: &'static str },
    /// A header that cannot be understood.
    #[error("`{}`: malformed header: {problem}", path.display())]
    Header { path: PathBuf, problem: String },
    /// Fewer bytes than the header promises.
    #[error("`{}`: expected {expected} bytes of data, found {found}", path.display())]
    Truncated { path: PathBuf, expected: usize, found: usize },
    /// More than there is memory for.
    #[error("`{}`: not enough memory: {bytes} bytes are needed", path.display())]
    NoMemory { path: PathBuf, bytes: usize },
    /// A header that promises more than any machine can address.
    #[error("`{}`: an array of {} elements is too large", path.display(), by(.shape))]
    TooLarge { path: PathBuf, shape: Vec<usize> },
    /// Elements that are no numbers, or not the ones that are wanted.
    #[error("`{}`: expected {expected}, found elements of type `{found}`", path.display())]
    Element { path: PathBuf, expected: &'static str, found: String },
    /// Too many dimensions, or too few.
    #[error("`{}`: expected {expected}, found an array of {}", path.display(), dimensions(.shape))]
    Dimensions { path: PathBuf, expected: &'static str, shape: Vec<usize> },
    /// A file whose parts contradict each other.
    #[error("`{}`: {problem}", path.display())]
    Malformed { path: PathBuf, problem: String },
    /// Compressed bytes that claim to be more than they are.
    #[error("`{}`: claims {declared} bytes, but its {compressed} compressed bytes hold at most {most}", path.display())]
    Bomb { path: PathBuf, declared: usize, compressed: usize, most: usize },
    /// Compressed bytes that cannot be decompressed.
    #[error("`{}`: its compressed data is damaged", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Something that a format has and that is not read here.
    #[error("`{}`: {what} cannot be read", path.display())]
    Unsupported { path: PathBuf, what: String },
    /// A format that was switched off when the program was built.
    #[error("`{}`: is {format}, and this program was built without the feature `{feature}`", path.display())]
    LeftOut { path: PathBuf, format: &'static str, feature: &'static str },
    /// Another thing than the one that is wanted.
    #[error("`{}`: key `{key}`: expected {expected}, found {found}", path.display())]
    Entry { path: PathBuf, key: String, expected: String, found: &'static str },
    /// A key that nothing has.
    #[error("`{}`: has no key `{key}`: it has {}", path.display(), list(.keys))]
    NoSuchKey { path: PathBuf, key: String, keys: Vec<String> },
    /// No key, where one of several things is meant, or nothing.
    #[error("`{}`: expected one entry of {expected}, found {}", path.display(), list(.keys))]
    WhichKey { path: PathBuf, expected: String, keys: Vec<String> },
    /// A key for a file that holds one array.
    #[error("`{}`: has no keys, so key `{key}` is not in it", path.display())]
    NoKeys { path: PathBuf, key: String },
    /// A column that a table does not have.
    #[error("`{}`: has no column `{column}`: it has {}", path.display(), list(.columns))]
    NoSuchColumn { path: PathBuf, column: String, columns: Vec<String> },
    /// A table that lacks columns that a model needs.
    #[error("`{}`: has no column {}", path.display(), list(.missing))]
    MissingColumns { path: PathBuf, missing: Vec<String> },
    /// A role that several columns could have.
    #[error("`{}`: expected one column for `{option}`, found {}", path.display(), list(.columns))]
    WhichColumn { path: PathBuf, option: &'static str, columns: Vec<String> },
    /// A choice of columns for a file that has none.
    #[error("`{}`: has no columns to choose by `{option}`: it is {found}", path.display())]
    NoTable { path: PathBuf, option: &'static str, found: &'static str },
    /// A table of which no column is a feature.
    #[error("`{}`: has no column of features{}", path.display(), left_out_columns(.left_out))]
    NoColumns { path: PathBuf, left_out: Vec<String> },
    /// A column that should not be among the features.
    #[error("`{}`: column `{column}` cannot be a feature: {reason}", path.display())]
    Suspect { path: PathBuf, column: String, reason: &'static str },
    /// A table without names whose rows are in another order than the classes.
    #[error("`{}`: column `{column}` numbers the classes in another order than the rows", path.display())]
    OtherOrder { path: PathBuf, column: String },
    /// A class in a table of instances that is not the one in the labels.
    #[error("`{}`: {place}: column `{column}` says `{found}`, but the label is `{expected}`", path.display())]
    OtherLabel { path: PathBuf, column: String, place: String, found: String, expected: String },
    /// Rows whose names are not those that they are joined with.
    #[error("`{}`: column `{column}` does not name every {what} once: {names}", path.display())]
    Join { path: PathBuf, column: String, what: &'static str, names: Box<Mismatch> },

    /// A line that is not UTF-8.
    #[error("`{}`: line {line} is not UTF-8 text", path.display())]
    NotUtf8 { path: PathBuf, line: usize },
    /// A line without an item.
    #[error("`{}`: line {line} is blank", path.display())]
    BlankLine { path: PathBuf, line: usize },
    /// A row of another length than the first.
    #[error("`{}`: line {line}: expected {expected} fields, found {found}", path.display())]
    Ragged { path: PathBuf, line: usize, expected: usize, found: usize },
    /// A field of a table that is not what its column holds; columns count from 1 here, as editors do.
    #[error("`{}`: line {line}, column {column}: expected {expected}, found `{found}`", path.display())]
    Cell { path: PathBuf, line: usize, column: usize, expected: &'static str, found: String },
    /// A word vector that cannot be used.
    #[error("`{}`: word `{word}`: expected {expected} finite numbers, found {found}", path.display())]
    WordVector { path: PathBuf, word: String, expected: usize, found: String },
    /// Classes whose names have no word with a vector.
    #[error("`{}`: has no word of class {}", path.display(), list(.classes))]
    NoWords { path: PathBuf, classes: Vec<String> },
    /// Texts where nothing turns them into vectors.
    #[error("`{}`: semantic representation `{name}` is made of texts, and nothing here runs a text network", path.display())]
    NoTextEncoder { path: PathBuf, name: String },
    /// Texts that could not be turned into vectors.
    #[error("`{}`: semantic representation `{name}` cannot be made of its texts", path.display())]
    TextEncoder {
        path: PathBuf,
        name: String,
        #[source]
        source: crate::text_encoder::AnyError,
    },
    /// A string without a letter.
    #[error("`{}`: {place} is blank", path.display())]
    BlankItem { path: PathBuf, place: String },
    /// An item that is listed twice.
    #[error("`{}`: {place} repeats `{item}` of {first}", path.display())]
    Repeated { path: PathBuf, item: String, place: String, first: String },
    /// A name that is not in the class list.
    #[error("`{}`: {place}: no class is called `{name}`", path.display())]
    UnknownClass { path: PathBuf, place: String, name: String, closest: Option<String> },

    /// A `dataset.toml` that does not parse.
    #[error("`{}`: line {line}: {problem}", path.display())]
    Manifest { path: PathBuf, line: usize, problem: String },
    /// A line of text that does not say what it should.
    #[error("`{}`: line {line}: {problem}", path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    /// A folder in a known layout that lacks one of its files.
    #[error("`{}`: found `{found}`, but not {missing}", path.display())]
    Incomplete { path: PathBuf, found: &'static str, missing: &'static str },
    /// A split with contradicting or missing entries.
    #[error("`{}`: split `{split}`: {problem}", path.display())]
    Split { path: PathBuf, split: String, problem: String },
    /// A count that does not fit the rest of the dataset.
    #[error("`{}`: expected {expected} {what}, found {found}", path.display())]
    Count { path: PathBuf, what: Counted, expected: usize, found: usize },
    /// Another number of labels than of feature rows.
    #[error("`{}`: has {labels} labels, but `{}` has {rows} rows", path.display(), features.display())]
    Labels { path: PathBuf, labels: usize, features: PathBuf, rows: usize },
    /// A matrix whose columns are what its rows should be.
    #[error("`{}`: expected {expected} {what}, found {found} rows and {expected} columns", path.display())]
    Transposed { path: PathBuf, what: Counted, expected: usize, found: usize },
    /// A value that makes no sense in its place.
    #[error("`{}`: row {row}{}: expected {expected}, found {found}", path.display(), in_column(*.column))]
    Value { path: PathBuf, row: usize, column: Option<usize>, expected: String, found: String },
    /// A class index that is too large.
    #[error("`{}`: row {row}: label {label} is not a class: there are {classes}, numbered from 0", path.display())]
    LabelOutOfRange { path: PathBuf, row: usize, label: usize, classes: usize },
    /// Several labels per instance, where one is needed.
    #[error("`{}`: its instances have several labels each (`tags`), and one label each is needed here", path.display())]
    SeveralLabels { path: PathBuf },
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A name that cannot be a line of a text file.
    #[error("`{}`: name {name:?} of {what} {index} cannot be written as a line of text", path.display())]
    Unwritable { path: PathBuf, what: &'static str, index: usize, name: String },
}

impl Error {
    /// Fails where the observer asks to stop.
    pub(crate) fn where_cancelled(watch: &dyn Observer) -> Result<()> {
        if watch.poll().is_break() { Err(Self::Cancelled) } else { Ok(()) }
    }

    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoManifest { .. } => "a dataset is a folder with a `dataset.toml` that names its files",
            Self::Incomplete { .. } => "put the missing file into the folder, or write a `dataset.toml`",
            Self::Read { source, .. } | Self::Write { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => "check the permissions of the file and of its folder",
                io::ErrorKind::StorageFull => "the disk is full: free some space, or write somewhere else",
                _ => return None,
            },
            Self::Changed { .. } => {
                "nothing computed from it can be relied on: run again when nobody writes to it"
            }
            Self::Locked { .. } => "wait until it is done, or write somewhere else",
            Self::NoSpace { .. } => "free some space, or write somewhere else",
            Self::Exists { .. } | Self::NotReplaceable { .. } => "choose another name, or remove it first",
            Self::Truncated { .. } | Self::Damaged { .. } => {
                "the file was cut off: copy or download it again"
            }
            Self::Element { found, .. } if found == "bool" => {
                "a mask is no list of indices: save `np.flatnonzero(mask)`"
            }
            Self::Element { expected: "strings", .. } => return None,
            Self::Element { .. } => "save plain numbers: `np.save(file, array.astype(np.float32))`",
            Self::NoMemory { .. } => "convert it to .npy, which is mapped and needs no memory of its size",
            Self::LeftOut { feature, .. } => {
                return Some(format!(
                    "build it with the feature `{feature}`, which is on by default, or convert the file to .npy"
                ));
            }
            Self::NoKeys { .. } => "remove the key, or name a file that holds several arrays",
            Self::Bomb { .. } => "the file is damaged, or was made to exhaust memory",
            Self::NoSuchKey { key, keys, .. } => {
                return closest(key, keys).map(|name| format!("did you mean `{name}`?"));
            }
            Self::WhichKey { keys, .. } if !keys.is_empty() => {
                "say which one by its key: `key = \"…\"` in dataset.toml"
            }
            Self::NoSuchColumn { column, columns, .. } => {
                return closest(column, columns).map(|name| format!("did you mean `{name}`?"));
            }
            Self::MissingColumns { .. } => {
                "the model was fitted to columns of these names; others must be chosen in their order"
            }
            Self::WhichColumn { option, .. } => return Some(format!("say which one: `{option} = \"…\"`")),
            Self::NoTable { .. } => "columns have names in CSV, TSV and Parquet files only",
            Self::NoColumns { .. } => "say which columns are features: `columns = [\"…\"]` in dataset.toml",
            Self::Suspect { .. } => "take the column out of the file, or say which columns to use",
            Self::OtherOrder { .. } => {
                "add a column with the names of the classes, or sort the rows by that column"
            }
            Self::OtherLabel { .. } => {
                "rows and labels are in different orders: join them by an `id_column`, or take the labels from this table"
            }
            Self::Join { what: "class", names, .. } if names.unknown.is_empty() => {
                "give every class one row, or take classes without a description from the class list"
            }
            Self::Join { what: "class", .. } => {
                "names must be spelled as in the class list, and rows of other classes be left out"
            }
            Self::Join { .. } => "every instance needs one row, with the same identifier in both files",
            Self::Cell { found, .. } if found.contains(',') => "write decimal points, not commas",
            Self::NoWords { .. } => {
                "rename these classes, or write `missing = \"mean\"` to give them the mean of the others"
            }
            Self::NoTextEncoder { .. } => {
                "make a file of vectors first, with `bidilel describe`, and name it as `file`"
            }
            Self::NotUtf8 { .. } => "save the file as UTF-8",
            Self::UnknownClass { closest, .. } => {
                return closest.as_ref().map(|name| format!("did you mean `{name}`?"));
            }
            Self::LabelOutOfRange { label, classes, .. } if label == classes => {
                "labels count from 0; if the file counts from 1, write `one_based = true`"
            }
            Self::Count {
                what: Counted::ClassRows | Counted::InstanceRows | Counted::ClassColumns, ..
            } => "if the array has a column for each, write `transpose = true`",
            Self::Labels { labels, rows, .. } => {
                let count = rows.abs_diff(*labels);
                let (first, second) =
                    if rows > labels { ("missing", "too many") } else { ("too many", "missing") };
                return Some(format!("{count} labels are {first}, or {count} feature rows are {second}"));
            }
            Self::Transposed { .. } => "the array lies the other way round: write `transpose = true`",
            Self::Value { expected, found, .. } if expected == "an integer from 1" && found == "0" => {
                "the file counts from 0: remove `one_based`"
            }
            Self::Value { found, .. } if found.starts_with("NaN") => "repair the file that it came from",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// Things of which there must be a certain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names say it")]
pub enum Counted {
    ClassRows,
    ClassColumns,
    PromptRows,
    InstanceRows,
    DimensionColumns,
    DimensionLines,
    ImageLines,
    DescriptorOwners,
    ItemLabels,
    ItemNames,
    Features,
    Words,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClassRows => "rows (one per class)",
            Self::ClassColumns => "columns (one per class)",
            Self::PromptRows => "rows (`prompts` per class)",
            Self::InstanceRows => "rows (one per instance)",
            Self::DimensionColumns => "columns (one per named dimension)",
            Self::DimensionLines => "lines (one per dimension)",
            Self::ImageLines => "lines (one per image)",
            Self::DescriptorOwners => "item numbers (one per descriptor)",
            Self::ItemLabels => "labels (one per item)",
            Self::ItemNames => "names (one per item)",
            Self::Features => "features as in the files before",
            Self::Words => "words",
        })
    }
}

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn by(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

pub(crate) fn list(keys: &[String]) -> String {
    const MOST: usize = 20;
    if keys.is_empty() {
        return "none".to_owned();
    }
    let mut names: Vec<_> = keys.iter().take(MOST).map(|key| format!("`{key}`")).collect();
    if keys.len() > MOST {
        names.push(format!("{} more", keys.len() - MOST));
    }
    names.join(", ")
}

fn left_out_columns(columns: &[String]) -> String {
    match columns {
        [] => ", only text".to_owned(),
        columns => format!(": {} look like identifiers or labels", list(columns)),
    }
}

fn dimensions(shape: &[usize]) -> String {
    // A hostile header can list thousands of dimensions; nobody wants to read them.
    if shape.is_empty() || shape.len() > 8 { format!("{} dimensions", shape.len()) } else { by(shape) }
}

fn in_column(column: Option<usize>) -> String {
    column.map(|column| format!(", column {column}")).unwrap_or_default()
}
