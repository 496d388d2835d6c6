//! What is in a dataset, and what is wrong with it.
//!
//! [`inspect`] describes everything that can be read and lists every problem that it finds: an error is something
//! that cannot or must not be used, a warning something to look at. Features are read once, in blocks, and only a few
//! numbers a row are kept, so that the size of a feature file does not matter.

mod balance;
mod duplicates;
mod problem;
mod scale;
mod semantic;
mod splits;
mod summary;
mod visual;

use std::path::Path;

use bidilel::dataset::Dataset;
use bidilel::tags::Tagged;
use bidilel_math::Observer;

pub use balance::Balance;
pub use problem::{Problem, Severity};
pub use semantic::SemanticSummary;
pub use splits::SplitSummary;
pub use summary::{Distribution, Histogram, Named};
pub use visual::VisualSummary;

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::reading::{self, Reading};
use crate::table::TableRoles;
use crate::text_encoder::TextEncoder;
use duplicates::Duplicates;
pub(crate) use splits::overlap;

/// A dataset described, with its problems.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Inspection {
    /// The dataset's name; of one that cannot be opened, the name of its folder.
    pub name: String,
    /// How many instances there are.
    pub instances: usize,
    /// How many classes there are.
    pub classes: usize,
    /// How the instances are spread over the classes.
    pub balance: Balance,
    /// The visual representations, in file order.
    pub visual: Named<VisualSummary>,
    /// The semantic representations, in file order.
    pub semantic: Named<SemanticSummary>,
    /// The splits, in file order.
    pub splits: Named<SplitSummary>,
    /// What every column of a table was taken for.
    pub tables: Vec<TableRoles>,
    /// What is wrong, errors first.
    pub problems: Vec<Problem>,
}

impl Inspection {
    /// Whether anything cannot or must not be used.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Describes a dataset and finds what is wrong with it; one that does not open is described as far as it goes.
///
/// # Errors
/// [`Error::Cancelled`], and nothing else: what is wrong is part of the description.
pub fn inspect(path: &Path, watch: &dyn Observer) -> Result<Inspection> {
    inspect_by(path, None, watch)
}

/// As [`inspect`], for datasets whose descriptions are made of words by `encoder`.
///
/// # Errors
/// The same.
pub fn inspect_with(path: &Path, encoder: &dyn TextEncoder, watch: &dyn Observer) -> Result<Inspection> {
    inspect_by(path, Some(encoder), watch)
}

fn inspect_by(path: &Path, encoder: Option<&dyn TextEncoder>, watch: &dyn Observer) -> Result<Inspection> {
    let Reading { mut dataset, notes, errors, tables, tags } = reading::read(path, encoder);
    if dataset.name.is_empty() {
        let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        dataset.name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
    }
    let mut problems: Vec<Problem> = errors.iter().map(Problem::from_error).collect();
    problems.extend(notes.iter().map(Problem::from_note));
    // Classes and splits are counted by pairs of an instance and a label, features by instances.
    let flat = tags.and_then(|tags| Tagged::new(dataset.clone(), tags).ok()).map(|tagged| tagged.flat());
    Ok(Inspection { tables, ..inspect_parts(&dataset, flat.as_ref(), problems, watch)? })
}

/// Describes a dataset that is already open; its labels and splits must be in range, as [`crate::open`] makes sure.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn inspect_dataset(dataset: &Dataset, watch: &dyn Observer) -> Result<Inspection> {
    inspect_parts(dataset, None, Vec::new(), watch)
}

fn inspect_parts(
    dataset: &Dataset,
    flat: Option<&Dataset>,
    mut problems: Vec<Problem>,
    watch: &dyn Observer,
) -> Result<Inspection> {
    if problems.iter().all(|problem| problem.severity == Severity::Warning) {
        find_absent(dataset, &mut problems);
    }
    let counted = flat.unwrap_or(dataset);
    let balance = balance::describe(counted, &mut problems);
    let mut duplicates: Vec<Duplicates> = Vec::new();
    let mut visual = Vec::new();
    for representation in &dataset.visual {
        let (summary, found) = visual::describe(representation, &mut problems, watch)?;
        visual.push((representation.name.clone(), summary));
        duplicates.push(found);
    }
    let describe = |semantic| semantic::describe(semantic, &dataset.classes, &mut problems);
    let semantic: Vec<_> = dataset.semantic.iter().map(describe).collect();
    semantic::compare_scales(&semantic, &mut problems);
    let mut splits = Vec::new();
    for split in &counted.splits {
        splits.push((split.name.clone(), splits::describe(counted, split, &mut problems)));
        // An instance with several labels may stand on both sides of a split of classes: it is tested only.
        for (representation, found) in dataset.visual.iter().zip(&duplicates).filter(|_| flat.is_none()) {
            found.find_across(dataset, representation, split, &mut problems);
        }
    }
    problems.sort_by_key(|problem| problem.severity);
    let instances = dataset.labels.len();
    Ok(Inspection {
        name: dataset.name.clone(),
        // Labels that cannot be read leave the features to count.
        instances: if instances == 0 {
            dataset.visual.first().map_or(0, |visual| visual.rows.count())
        } else {
            instances
        },
        classes: dataset.classes.len(),
        balance,
        visual: Named(visual),
        semantic: Named(semantic),
        splits: Named(splits),
        tables: Vec::new(),
        problems,
    })
}

/// Parts without which nothing can be learned.
fn find_absent(dataset: &Dataset, problems: &mut Vec<Problem>) {
    let parts = [
        (
            "visual representation",
            dataset.visual.is_empty(),
            "add a `[visual.NAME]` table with a `file` of features",
        ),
        (
            "semantic representation",
            dataset.semantic.is_empty(),
            "add a `[semantic.NAME]` table with a `file` and a `metric`",
        ),
        (
            "split",
            dataset.splits.is_empty(),
            "add a `[split.NAME]` table with the `unseen` classes, or an `unseen.txt` beside folders of classes",
        ),
    ];
    for (what, _, hint) in parts.into_iter().filter(|part| part.1) {
        problems.push(Problem::error(dataset.name.clone(), format!("there is no {what}")).with_hint(hint));
    }
}
