//! Folders of pictures through tiny networks, as a user of the crate meets them.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "a test may stop at whatever it did not expect, and tiny networks give exact numbers"
)]

mod hostile;
mod networks;
mod pictures;
mod recipes;
mod resume;
mod support;
#[cfg(unix)]
mod videos;
