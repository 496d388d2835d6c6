//! What `bidilel tune` needs besides the library: what is typed, the journal, the live table, the words.

pub(crate) mod args;
pub(crate) mod host;
pub(crate) mod journal;
pub(crate) mod text;
pub(crate) mod values;
