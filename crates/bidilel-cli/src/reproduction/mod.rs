//! `bidilel reproduce` without its command line: data folders and stand-ins, journal, cells, files.

pub(crate) mod args;
mod cells;
mod data;
mod figures;
pub(crate) mod files;
mod host;
mod journal;
mod machine;
mod make;
mod resolve;
mod rows;
mod shown;
mod table;

pub use data::Origin;
pub use host::{CellTrial, Host};
pub use make::{ListedExperiment, ReproductionOptions};

pub(crate) use data::Store;
pub(crate) use journal::Journal;
pub(crate) use make::{make, named};
pub(crate) use shown::Shown;
