//! Every stage agrees with an independent implementation, within the tolerance that the stage allows.

mod baselines;
mod complementarity;
mod edge;
mod fusion;
mod graph;
mod latent;
mod lsm;
mod methods;
mod methods_similarity;
mod methods_synth;
mod methods_transductive;
mod recognition;
mod slpp;
mod support;
mod svr;
mod tuning;

/// All tests of this binary, once more at each of the other levels of vector instructions.
#[test]
fn every_level_passes() {
    bidilel_math::simd::test_at_other_levels();
}
