//! Every setting of the methods by name, flat: `alpha`, `svr_c`, `top_down`.
//!
//! [`TABLE`] has a row for each: its type, range, default, help, and the methods and learners that it matters to. From
//! it come [`Settings`], which is what a settings file holds and what tuning varies, and what programs offer.
//! A setting that is not given has its default; every part of the method builds itself from the settings that it owns,
//! and [`Settings::pipeline`] puts the parts together.
//!
//! ```
//! use bidilel::{BottomUp, Settings, settings::BottomUpName, settings::setting};
//!
//! let settings = Settings { bottom_up: Some(BottomUpName::Lda), ridge: Some(3.0), ..Settings::default() };
//! settings.check()?;
//! assert!(matches!(settings.pipeline(0).bottom_up, BottomUp::Lda(lda) if lda.ridge == 3.0));
//! // The graph's number of neighbors matters to other learners only.
//! let neighbors = setting("neighbors").expect("a setting");
//! assert!(!neighbors.matters(&settings) && neighbors.matters(&Settings::default()));
//! # Ok::<(), bidilel::Error>(())
//! ```

mod check;
mod names;
mod range;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod views;

use serde_json::{Map, Value};

use crate::bottom_up::BottomUp;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::post::{Post, Prior};
use crate::task::{Candidates, Choice, Normalize};
use crate::top_down::TopDown;
use crate::visual::Fusion;

pub(crate) use names::named;
pub use names::{
    BalancedShares, BottomUpName, ExemDistance, InitName, KernelName, Named, PostName, Proximity, SyncLoss,
    TopDownName,
};
pub use range::Range;
pub use row::{Default as SettingDefault, Kind, Owner, Setting, Tune};
pub use table::{Settings, TABLE};

pub use crate::method::MethodName;

/// The row of a setting.
pub fn setting(name: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|row| row.name == name)
}

/// Fails where a setting of the table is out of its range.
pub(crate) fn check(name: &str, value: f64) -> Result<()> {
    let row = setting(name);
    debug_assert!(row.is_some(), "`{name}` is in the table");
    row.map_or(Ok(()), |row| row.check(value))
}

/// The name of [`Settings::best`], wherever a method may be named.
pub const BEST: &str = "best";

impl Settings {
    /// The typed pipeline, with `seed` for what is random.
    pub fn pipeline(&self, seed: u64) -> Pipeline {
        let used = self.effective();
        Pipeline {
            bottom_up: BottomUp::from_settings(&used, seed),
            fusion: Fusion::from_settings(&used, seed),
            top_down: TopDown::from_settings(&used, seed),
            post: used.post(),
        }
    }

    /// The refiners, in order.
    pub fn post(&self) -> Vec<Post> {
        Post::from_settings(self)
    }

    /// The representations to use, by the names that the dataset has.
    ///
    /// # Errors
    /// [`Error::Setting`] for weights that do not fit the number of representations, and for shares of classes that the
    /// dataset does not have.
    pub fn choice(&self, dataset: &Dataset) -> Result<Choice> {
        if let Some(texts) = &self.effective().balanced_prior {
            Prior::parse(texts)?.require_among(&dataset.classes)?;
        }
        Ok(Choice {
            visual: self.views(dataset)?,
            semantic: self.descriptions(dataset)?,
            normalize: self.normalize.unwrap_or_default(),
            candidates: self.candidates(),
        })
    }

    /// Whether balanced refinement holds the shares of the classes near any, or leaves them free.
    pub fn holds_shares(&self) -> bool {
        self.balanced_strength.is_none_or(|strength| strength > 0.0)
    }

    /// The classes that compete for an instance.
    pub fn candidates(&self) -> Candidates {
        if self.generalized == Some(true) { Candidates::All } else { Candidates::Unseen }
    }

    /// Whether a seed makes a difference.
    ///
    /// The sample of the Nyström approximation is not counted: whether there is one depends on the data.
    pub fn is_random(&self) -> bool {
        let descent = setting("sgd_rate").is_some_and(|row| row.matters(self));
        let used = self.effective();
        descent || used.init == Some(InitName::Random) || used.starts.is_some_and(|starts| starts > 1)
    }

    /// A pipeline of `bidilel` that did well on the known classes of several datasets, under the name [`BEST`]: descriptions
    /// and separation of the classes in one learner, kernel ridge regression, embeddings where the points live.
    ///
    /// `docs/results.md` has what it was chosen by.
    pub fn best() -> Self {
        Self {
            method: Some(MethodName::Bidilel),
            normalize: Some(Normalize::Power),
            bottom_up: Some(BottomUpName::CcaLda),
            ridge: Some(1.0),
            top_down: Some(TopDownName::Krr),
            krr_ridge: Some(0.3),
            krr_width: Some(0.25),
            unit_embedding: Some(true),
            ..Self::default()
        }
    }

    /// These settings with others laid over them; the method [`BEST`] stands for the settings of [`Self::best`].
    ///
    /// # Errors
    /// [`Error::Unreadable`] names a setting that does not exist, or a value that it cannot have.
    pub fn with(&self, over: &Map<String, Value>) -> Result<Self> {
        let mut all = self.entries();
        let mut over = over.clone();
        if over.get("method").is_some_and(|name| name == BEST) {
            over.remove("method");
            all.extend(Self::best().entries());
        }
        all.extend(over.iter().map(|(name, value)| (name.replace('-', "_"), value.clone())));
        serde_json::from_value(Value::Object(all)).map_err(|cause| Error::Unreadable { cause })
    }

    /// The settings that are given, by name.
    pub fn entries(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(entries)) => entries,
            _ => unreachable!("a struct of plain fields is a JSON object"),
        }
    }
}
