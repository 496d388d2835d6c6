//! Laws that every stage obeys on any data: invariances, determinism, degenerate input.

mod contract;
mod degenerate;
mod determinism;
mod fusion;
mod invariance;
mod support;
