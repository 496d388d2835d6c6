//! The program's side of `bidilel reproduce`: arguments, data folders and stand-ins, journal, cells, files.

pub(crate) mod args;
mod cells;
mod data;
mod figures;
pub(crate) mod files;
mod journal;
mod machine;
mod resolve;
mod rows;
mod table;

pub(crate) use data::{Origin, Store};
pub(crate) use journal::Journal;
pub(crate) use table::{Maker, named};
