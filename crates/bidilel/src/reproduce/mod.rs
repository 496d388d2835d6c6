//! Published experiments again: numbers of a table, each from a search for settings on known classes and some runs.
//!
//! A [`Bench`] is one trial of a dataset with some of its views. It chooses settings by a [`Search`], the paper's or a grid,
//! possibly from what another search has chosen, and runs them from several random starts. Whatever it finds goes through
//! a [`Ledger`] under a key that has the data, the division, the folds and the settings in it: a ledger that keeps them on
//! disk makes a run of days resumable, and two tables that ask for the same thing have it computed once.
//!
//! What a table looks like, and which cells it has, is no business of this module.
//!
//! ```
//! use bidilel::reproduce::{Bench, Memory, Protocol, Search};
//! use bidilel::{Silent, Synthetic};
//! use serde_json::json;
//!
//! let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
//! let trial = dataset.trials(None)?.remove(0);
//! let (ledger, protocol) = (Memory::default(), Protocol { share: 0.2, folds: 2, named: false, seed: 0 });
//! let mut bench = Bench::new(dataset.into(), trial, &["cnn"], protocol, &ledger)?;
//! let search = Search::grid(&[("alpha", vec![json!(1.0), json!(10.0)]), ("dim", vec![json!(5), json!(10)])]);
//! let chosen = bench.choose(&search, &["attributes"], &Silent)?;
//! let runs = bench.run(&chosen.settings, 1, &Silent)?;
//! println!("alpha {:?}: {:.1} %", chosen.settings.alpha, 100.0 * runs[0].per_class);
//! # Ok::<(), bidilel::Error>(())
//! ```

mod bench;
mod fingerprint;
mod ledger;
mod search;
#[cfg(test)]
mod tests;

pub use bench::{Bench, Measured, Protocol};
pub use fingerprint::{DataFingerprint, of_text as fingerprint_of_text};
pub use ledger::{Ledger, Memory};
pub use search::{Choice, ChoiceCurve, CurvePoint, Order, Search};
