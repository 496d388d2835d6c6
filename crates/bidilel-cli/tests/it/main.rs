//! The program as its users meet it.

mod bad_input;
mod compare;
mod datasets;
mod demo;
mod disk;
mod documents;
mod encode;
mod evaluate;
mod exports;
mod extract;
mod formats;
mod hostile;
mod methods;
mod mistakes;
mod model;
mod numerics;
mod random_splits;
mod recipes;
mod reproduce;
mod strangers;
mod streams;
mod support;
mod tables;
mod terminals;
mod tune;
mod views;
