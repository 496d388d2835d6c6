//! Tuning shares its work and still gives what one fit after another gives.

mod equality;
mod strategies;
mod support;
