//! The program's side of `bidilel tune`: arguments, journal, budget, live table, commands to copy.

pub(crate) mod args;
pub(crate) mod host;
pub(crate) mod journal;
pub(crate) mod text;
pub(crate) mod values;
