//! The program's side of `bidilel demo`: its results, explained, as text and as a page.

pub(crate) mod explain;
pub(crate) mod page;
pub(crate) mod story;
pub(crate) mod text;
