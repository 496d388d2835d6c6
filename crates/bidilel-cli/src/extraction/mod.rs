//! `bidilel extract`: its arguments, what they mean, and how far it is.

#[cfg(feature = "vision")]
pub(crate) mod args;
#[cfg(not(feature = "vision"))]
#[path = "without_args.rs"]
pub(crate) mod args;
#[cfg(feature = "vision")]
pub(crate) mod dataset;
#[cfg(feature = "vision")]
pub(crate) mod finished;
#[cfg(feature = "vision")]
pub(crate) mod settings;
