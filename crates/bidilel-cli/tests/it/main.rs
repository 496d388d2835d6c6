//! The program as its users meet it.

mod bad_input;
mod datasets;
mod demo;
mod encode;
mod evaluate;
mod exports;
mod extract;
mod formats;
mod model;
mod streams;
mod support;
mod tables;
mod tune;
mod views;
