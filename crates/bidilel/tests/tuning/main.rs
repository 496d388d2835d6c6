//! Tuning shares its work and still gives what one fit after another gives.

mod equality;
mod fused;
mod strategies;
mod support;
