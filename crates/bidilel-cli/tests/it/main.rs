//! The program as its users meet it.

mod bad_input;
mod datasets;
mod demo;
mod encode;
mod evaluate;
mod extract;
mod formats;
mod model;
mod numerics;
mod support;
mod tune;
mod views;
