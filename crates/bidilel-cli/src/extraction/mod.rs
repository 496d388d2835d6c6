//! `bidilel extract`: its arguments, the settings that they resolve to, the dataset folder, resumption.

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
