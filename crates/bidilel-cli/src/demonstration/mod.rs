//! What `bidilel demo` needs beside the library: the story that it tells, and two ways to tell it.

pub(crate) mod explain;
pub(crate) mod page;
pub(crate) mod story;
pub(crate) mod text;
