//! Laws that every stage obeys on any data: invariances, determinism, degenerate input.

mod balanced;
mod cancel;
mod confidence;
mod contract;
mod degenerate;
mod determinism;
mod fusion;
mod hubs;
mod invariance;
mod joint;
mod methods;
mod nasty;
mod seam;
mod starts;
mod support;

/// All tests of this binary, once more at each of the other levels of vector instructions.
#[test]
fn every_level_passes() {
    bidilel_math::simd::test_at_other_levels();
}
