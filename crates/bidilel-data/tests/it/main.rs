//! Files in, values out, and the words for everything that is wrong with a file.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its files has failed")]

mod arrays;
mod containers;
mod families;
mod folders;
mod hostile;
mod hostile_archives;
mod hostile_matlab;
mod inspecting;
mod layouts;
mod mutated;
mod support;
mod writing;
