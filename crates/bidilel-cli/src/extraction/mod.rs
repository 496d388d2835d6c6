//! `bidilel extract`: its arguments, the settings that they resolve to, the dataset folder, resumption.

#[cfg(feature = "vision")]
pub(crate) mod args;
#[cfg(not(feature = "vision"))]
#[path = "without_args.rs"]
pub(crate) mod args;
#[cfg(feature = "vision")]
pub(crate) mod dataset;
#[cfg(feature = "text")]
pub(crate) mod described;
#[cfg(all(feature = "vision", not(feature = "text")))]
#[path = "without_described.rs"]
pub(crate) mod described;
#[cfg(feature = "vision")]
pub(crate) mod finished;
#[cfg(feature = "vision")]
pub(crate) mod settings;
