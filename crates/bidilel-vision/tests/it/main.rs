//! Folders of pictures through tiny networks, as a user of the crate meets them.

mod hostile;
mod networks;
mod pictures;
mod resume;
mod support;
#[cfg(unix)]
mod videos;
