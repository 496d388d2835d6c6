//! Tuning shares its work and still gives what one fit after another gives.

mod equality;
mod fused;
mod pipelines;
mod strategies;
mod support;
mod sure;

/// All tests of this binary, once more at each of the other levels of vector instructions.
#[test]
fn every_level_passes() {
    bidilel_math::simd::test_at_other_levels();
}
