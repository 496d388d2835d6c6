//! The command line of `bidilel class`: declarations only.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::args::{InputArgs, parse_count};
use crate::pictures::args::PictureArgs;
use crate::texts::args::SentenceArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ClassCommand {
    /// List the classes of a model, each with the known classes nearest to it
    List {
        /// A model file
        #[arg(value_hint = ValueHint::FilePath)]
        model: PathBuf,
        /// Nearest known classes to show
        #[arg(long, value_name = "K", default_value_t = 3)]
        nearest: usize,
    },
    /// Say what a model knows of a class: its strongest attributes, and the classes nearest to it
    Describe {
        /// A model file
        #[arg(value_hint = ValueHint::FilePath)]
        model: PathBuf,
        /// The class
        class: String,
        /// Attributes and classes to show in every list
        #[arg(long, value_name = "K", default_value_t = 5, value_parser = parse_count)]
        top: usize,
    },
    /// Add unseen classes by their descriptions, without another fit
    Add(Box<AddArgs>),
    /// Remove classes, without another fit
    Remove {
        /// A model file
        #[arg(value_hint = ValueHint::FilePath)]
        model: PathBuf,
        /// The classes
        #[arg(required = true, num_args = 1..)]
        names: Vec<String>,
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Give a class another name
    Rename {
        /// A model file
        #[arg(value_hint = ValueHint::FilePath)]
        model: PathBuf,
        /// The name that it has
        old: String,
        /// The name that it gets
        new: String,
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Make an unseen class known by labeled instances of it, without another fit
    Promote(Box<PromoteArgs>),
}

/// Where the changed model goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct TargetArgs {
    /// The model file to write
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the model file, whole or not at all
    #[arg(long)]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The names of the new classes; with --from or --texts, those of the file are taken if none is given
    pub(crate) names: Vec<String>,
    /// The vector of the class in a semantic representation: an array with one row per class, in the order of the names,
    /// or a table with columns by attribute (may be repeated)
    #[arg(long, value_name = "NAME=FILE", help_heading = "Description")]
    pub(crate) semantic: Vec<String>,
    /// An attribute by its name, as in stripes=1; those that are not given are filled in from the classes that are most
    /// similar in the others (may be repeated)
    #[arg(long, value_name = "NAME=X", allow_hyphen_values = true, value_parser = parse_attribute, help_heading = "Description")]
    pub(crate) attribute: Vec<(String, f64)>,
    /// A table with a row per class and columns by attribute name; empty cells are filled in likewise
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Description")]
    pub(crate) from: Option<PathBuf>,
    /// Word vectors (word2vec, fastText or GloVe) to look the words of the names up in; NAME=FILE says which semantic
    /// representation they make
    #[arg(long, value_name = "FILE", help_heading = "Description")]
    pub(crate) words: Option<String>,
    #[command(flatten)]
    pub(crate) sentences: SentenceArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PromoteArgs {
    /// A model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The unseen class that becomes known
    pub(crate) class: String,
    /// Feature rows or pictures of its instances: files as `predict` takes them
    #[arg(value_hint = ValueHint::FilePath, required = true, num_args = 1..)]
    pub(crate) features: Vec<String>,
    /// The array in a file that has several; VIEW=KEY for one of several files (may be repeated)
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
    /// The files have one instance per column
    #[arg(long)]
    pub(crate) transpose: bool,
    /// Columns of a table that are features, as for `predict` (may be repeated)
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) columns: Vec<String>,
    /// Embed the other unseen classes anew among all landmarks [default: they stay where they are]
    #[arg(long)]
    pub(crate) re_embed: bool,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

impl PromoteArgs {
    /// The feature rows, as `predict` names them.
    pub(crate) fn input(&self) -> InputArgs {
        InputArgs {
            model: self.model.clone(),
            features: self.features.clone(),
            key: self.key.clone(),
            transpose: self.transpose,
            columns: self.columns.clone(),
            id_column: None,
            label_column: None,
            pictures: self.pictures.clone(),
        }
    }
}

/// `has_bill::curved=0.8`: what precedes the last `=` is the name.
fn parse_attribute(text: &str) -> Result<(String, f64), String> {
    let expected = "expected NAME=NUMBER, as in stripes=1";
    let (name, value) = text.rsplit_once('=').ok_or(expected)?;
    let value: f64 = value.trim().parse().map_err(|_| expected)?;
    if name.trim().is_empty() || !value.is_finite() {
        return Err(expected.to_owned());
    }
    Ok((name.trim().to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_a_name_and_a_number() {
        assert_eq!(parse_attribute("has_bill::curved=0.8"), Ok(("has_bill::curved".to_owned(), 0.8)));
        assert_eq!(parse_attribute("a=b=-1"), Ok(("a=b".to_owned(), -1.0)));
        for wrong in ["stripes", "stripes=", "=1", "stripes=much", "stripes=nan"] {
            assert!(parse_attribute(wrong).is_err(), "{wrong}");
        }
    }
}
