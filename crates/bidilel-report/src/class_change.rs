//! Results of `class add`, `class remove`, `class rename` and `class promote`: what changed in a model.

use std::fmt::Write;
use std::path::PathBuf;

use bidilel::Model;
use bidilel::living::Neighbor;
use serde::{Deserialize, Serialize};

use crate::ClassDescription;

/// How many classes a model has after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Known classes.
    pub known: usize,
    /// Unseen classes.
    pub unseen: usize,
}

impl ClassCounts {
    /// Those of a model.
    pub fn of(model: &Model) -> Self {
        Self { known: model.known.len(), unseen: model.unseen.len() }
    }

    fn text(self) -> String {
        format!("{} known and {} unseen classes", self.known, self.unseen)
    }
}

/// The object that `class add --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddedClasses {
    /// The model file that was written.
    pub file: PathBuf,
    /// The classes that were added, in order.
    pub added: Vec<AddedClass>,
    /// The classes of the model now.
    #[serde(flatten)]
    pub counts: ClassCounts,
    /// Cost of the mapping at the embedding, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stress: Option<f64>,
    /// Seconds that it took to embed the classes, without reading and writing the file.
    pub seconds: f64,
}

/// One class that was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddedClass {
    /// What it is near to, and what is strong in it.
    #[serde(flatten)]
    pub description: ClassDescription,
    /// Attributes that were not given, and were filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
    /// The classes that they were filled in from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled_from: Vec<Neighbor>,
}

impl AddedClasses {
    /// A few lines per class.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for class in &self.added {
            let near: Vec<&str> =
                class.description.nearest_known.iter().take(3).map(|near| near.name.as_str()).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "added `{}`, near the known classes {}",
                class.description.name,
                near.join(", ")
            );
            if !class.filled.is_empty() {
                let from: Vec<&str> = class.filled_from.iter().map(|one| one.class.as_str()).collect();
                let _ = writeln!(
                    text,
                    "  {} attributes were not given and are filled in from {}",
                    class.filled.len(),
                    from.join(", ")
                );
            }
        }
        text + &written(&self.file, self.counts)
    }
}

/// The object that `class remove --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedClasses {
    /// The model file that was written.
    pub file: PathBuf,
    /// The classes that were removed.
    pub removed: Vec<String>,
    /// The classes of the model now.
    #[serde(flatten)]
    pub counts: ClassCounts,
}

impl RemovedClasses {
    /// Two lines.
    pub fn text(&self) -> String {
        format!("removed `{}`\n{}", self.removed.join("`, `"), written(&self.file, self.counts))
    }
}

/// The object that `class rename --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedClass {
    /// The model file that was written.
    pub file: PathBuf,
    /// The name that the class had.
    pub old: String,
    /// The name that it has.
    pub new: String,
    /// The classes of the model.
    #[serde(flatten)]
    pub counts: ClassCounts,
}

impl RenamedClass {
    /// Two lines.
    pub fn text(&self) -> String {
        format!("`{}` is `{}` now\n{}", self.old, self.new, written(&self.file, self.counts))
    }
}

/// The object that `class promote --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromotedClass {
    /// The model file that was written.
    pub file: PathBuf,
    /// The class that is known now.
    pub promoted: String,
    /// How many instances its landmark is the mean of.
    pub instances: usize,
    /// How far the landmark is from where the description had put the class, in the latent space.
    pub moved: f64,
    /// Whether the other unseen classes were embedded anew.
    pub re_embedded: bool,
    /// The classes of the model now.
    #[serde(flatten)]
    pub counts: ClassCounts,
}

impl PromotedClass {
    /// A few lines.
    pub fn text(&self) -> String {
        let others = if self.re_embedded { "were embedded anew" } else { "stay where they were" };
        format!(
            "`{}` is known now: its landmark is the mean of {} instances, at distance {:.2} from where its description \
             had put it\nthe other unseen classes {others}\n{}",
            self.promoted,
            self.instances,
            self.moved,
            written(&self.file, self.counts)
        )
    }
}

fn written(file: &std::path::Path, counts: ClassCounts) -> String {
    format!("{}: {}\n", file.display(), counts.text())
}
