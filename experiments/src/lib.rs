//! The tables and figures of the paper as declarative files, with the numbers that it printed.
//!
//! An experiment is a small TOML file beside this crate: rows and columns of a table, what each says of a cell (dataset,
//! representations, settings), how settings are searched for, what is drawn. [`Experiment::parse`] reads it, and any that a
//! user writes in the same form; an error has the line and the key. `datasets.toml` says where data lie and what to get
//! where they are missing, `paper.toml` has the published numbers. Nothing is run here: [`Experiment::cell`] is what
//! `bidilel::reproduce` needs for one number.
//!
//! ```
//! use bidilel_experiments::{Experiment, NAMES};
//!
//! assert!(NAMES.contains(&"object-recognition"));
//! let table = Experiment::named("object-recognition").expect("it ships with this crate");
//! let cell = table.cell(&table.rows[0], &table.columns[0]).expect("a cell of the table");
//! assert_eq!((&cell.dataset[..], &cell.visual[..]), ("awa", &["googlenet".to_owned()][..]));
//! let printed = table.published(&table.rows[0].id, &table.columns[0].id).expect("a number");
//! assert_eq!(printed.value, 59.9);
//! ```

mod blocks;
mod catalog;
mod cell;
mod error;
mod experiment;
mod form;
mod published;
mod reader;

pub use catalog::{Catalog, DataSource, Draw, Representation, SplitSource};
pub use cell::{Cell, Views};
pub use error::{Error, Result};
pub use experiment::{Best, Curves, Experiment, Line, Select, Show, Spread};
pub use published::{Published, PublishedTable};

/// Names of the experiments that ship with this crate, in the paper's order.
pub const NAMES: [&str; 7] = [
    "hyper-parameters",
    "enabling-techniques",
    "joint-learners",
    "gamma",
    "object-recognition",
    "action-recognition",
    "representations",
];

/// The text of an experiment that ships with this crate.
pub fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "hyper-parameters" => include_str!("../hyper-parameters.toml"),
        "enabling-techniques" => include_str!("../enabling-techniques.toml"),
        "joint-learners" => include_str!("../joint-learners.toml"),
        "gamma" => include_str!("../gamma.toml"),
        "object-recognition" => include_str!("../object-recognition.toml"),
        "action-recognition" => include_str!("../action-recognition.toml"),
        "representations" => include_str!("../representations.toml"),
        _ => return None,
    })
}
