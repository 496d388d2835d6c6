//! Every stage agrees with an independent implementation, within the tolerance that the stage allows.

mod baselines;
mod complementarity;
mod edge;
mod fusion;
mod graph;
mod latent;
mod lsm;
mod recognition;
mod slpp;
mod support;
mod svr;
mod tuning;
