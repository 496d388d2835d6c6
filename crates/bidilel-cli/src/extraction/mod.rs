//! `bidilel extract`: its arguments, what they mean, and how far it is.

pub(crate) mod args;
pub(crate) mod dataset;
pub(crate) mod finished;
pub(crate) mod settings;
