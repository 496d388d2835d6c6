//! The program as its users meet it.

mod bad_input;
mod datasets;
mod evaluate;
mod formats;
mod model;
mod support;
mod tune;
mod views;
