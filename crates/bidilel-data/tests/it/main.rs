//! Files in, values out, and the words for everything that is wrong with a file.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its files has failed")]

mod arrays;
mod columns;
mod containers;
mod crafted;
mod families;
mod folders;
#[cfg(feature = "hdf5")]
mod hdf5;
mod hostile;
mod hostile_archives;
mod hostile_matlab;
mod inspecting;
mod joining;
mod layouts;
mod mutated;
#[cfg(feature = "parquet")]
mod parquet;
mod streams;
mod support;
mod tables;
mod words;
mod writing;
