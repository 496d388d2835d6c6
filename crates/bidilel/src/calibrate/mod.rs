//! What scores of known classes say about those of unseen ones: known classes that act as unseen ones.
//!
//! In a fold some known classes are held out whole, and some instances of the others are. A method that is fitted to the
//! rest meets in them what it will meet in use: instances of classes that it has learned, and of classes of which it has
//! a description only. Nothing of the test instances is looked at.
//!
//! ```
//! use bidilel::calibrate::{HoldOut, held_out};
//! use bidilel::{Candidates, Choice, Eszsl, Silent, Synthetic, Task};
//!
//! let dataset = Synthetic::preset("small")?.generate(0)?;
//! let task = Task::new(&dataset, &dataset.trials(None)?[0], &Choice::default(), &Silent)?;
//! let hold_out = HoldOut { folds: 2, ..HoldOut::like(&task, Candidates::All, 0) };
//! for fold in held_out(&task, &Eszsl::default().into(), &hold_out, &Silent)? {
//!     assert_eq!(fold.scores.classes(), fold.classes.len());
//!     assert!(fold.truth.iter().any(|&class| class < fold.known), "known classes are tested");
//!     assert!(fold.truth.iter().any(|&class| class >= fold.known), "and held-out ones");
//! }
//! # Ok::<(), bidilel::Error>(())
//! ```
//!
//! From these scores come the bias of known classes, the temperature of probabilities ([`temperature`]), the sizes of
//! prediction sets ([`conformal`]) and the thresholds of "none of these" ([`Rejection`]); a [`Calibration`] has the last
//! three.

mod assess;
mod bias;
mod calibration;
pub mod conformal;
mod curve;
mod draw;
mod fold;
mod generalized;
mod held_out;
mod reject;
mod sample;
pub mod temperature;
mod unknowns;

pub use assess::{Assessment, COVERAGE, Coverage, ProbabilityQuality};
pub use bias::best_bias;
pub use calibration::{Answering, Asked, CALIBRATION_FOLDS, Calibration};
pub(crate) use curve::Sides;
pub use curve::{Curve, SeenUnseen};
pub use generalized::{Biases, Generalized, calibrate};
pub use held_out::{FOLDS, HeldOutScores, HoldOut, held_out};
pub use reject::{Rejection, Signal, Threshold};
pub use sample::{MOST_KEPT, Sample};
pub use unknowns::{OpenSet, OpenSetDraw, RECALL, SignalQuality, open_set};
