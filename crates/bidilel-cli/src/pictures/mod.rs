//! Pictures and videos where feature rows are expected: extracted by the network that the model records.

#[cfg(feature = "vision")]
pub(crate) mod args;
#[cfg(not(feature = "vision"))]
#[path = "without_args.rs"]
pub(crate) mod args;
#[cfg(feature = "vision")]
mod features;
#[cfg(not(feature = "vision"))]
#[path = "without_features.rs"]
mod features;

pub(crate) use features::instances;
