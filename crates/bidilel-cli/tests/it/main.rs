//! The program as its users meet it.

mod bad_input;
mod datasets;
mod demo;
mod disk;
mod encode;
mod evaluate;
mod extract;
mod formats;
mod hostile;
mod mistakes;
mod model;
mod strangers;
mod support;
mod terminals;
mod tune;
mod views;
