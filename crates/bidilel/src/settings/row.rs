//! What the table says of one setting, and the types that a setting may have.

use super::{BottomUpName, MethodName, Named, PostName, Range, Settings, TopDownName};
use crate::error::{Error, Expected, Result};
use crate::tune::Axis;

/// One row of the table.
#[derive(Debug)]
pub struct Setting {
    /// Its name: the field of [`Settings`], the key in files, and with `-` for `_` what messages call it.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// Whose setting it is, and with that which methods and learners it matters to.
    pub owner: Owner,
    /// Whether it matters to settings whose method and learners are those of its owner.
    pub when: fn(&Settings) -> bool,
    /// What a value is called in usage lines.
    pub value_name: &'static str,
    /// What it is, in a line. `{names}` stands for its names, any other word in braces for the setting of that name.
    pub help: &'static str,
    /// What it is if not given.
    pub default: Default,
    /// The values that it may have.
    pub range: Range,
    /// A setting that cannot be given together with it.
    pub excludes: Option<&'static str>,
    /// What tuning does with it.
    pub tune: Tune,
    /// Whether help on tuning lists it after the others.
    pub late: bool,
    /// Values that tuning tries where none are given, for settings of compared methods.
    pub grid: &'static [f64],
}

/// The kind of a setting's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Float,
    /// A whole number.
    Count,
    /// Set or not.
    Flag,
    /// One of these names.
    Name(&'static [&'static str]),
    /// A list of these names.
    Names(&'static [&'static str]),
    /// A list of any texts.
    Texts,
    /// A list of numbers.
    Floats,
}

impl Kind {
    /// Whether one value is a list.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Names(_) | Self::Texts | Self::Floats)
    }
}

/// Whose setting it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The data: it matters to every method.
    Data,
    /// The choice of the method itself.
    Method,
    /// Kernels and the fusion of visual representations.
    Fusion,
    /// The choice of a learner or an embedder.
    Pipeline,
    /// The choice of refiners.
    Refiners,
    /// These bottom-up learners.
    BottomUp(&'static [BottomUpName]),
    /// These top-down embedders.
    TopDown(&'static [TopDownName]),
    /// This refiner.
    Refiner(PostName),
    /// These methods; the owners before this one are parts of `bidilel`, apart from refiners of scores.
    Compared(&'static [MethodName]),
    /// These methods, and these bottom-up learners.
    Shared(&'static [MethodName], &'static [BottomUpName]),
}

impl Owner {
    fn is_used(self, settings: &Settings) -> bool {
        let method = settings.method.unwrap_or_default();
        let bidilel = method == MethodName::Bidilel;
        let posts = || settings.post.iter().flatten().copied();
        match self {
            Self::Data | Self::Method => true,
            Self::Fusion | Self::Pipeline => bidilel,
            Self::BottomUp(learners) => bidilel && learners.contains(&settings.bottom_up.unwrap_or_default()),
            Self::TopDown(embedders) => bidilel && embedders.contains(&settings.top_down.unwrap_or_default()),
            // Refiners of scores follow any method; the others need the latent space of `bidilel`.
            Self::Refiners => bidilel || posts().any(PostName::needs_scores_only),
            Self::Refiner(refiner) => {
                (bidilel || refiner.needs_scores_only()) && posts().any(|post| post == refiner)
            }
            Self::Compared(methods) => methods.contains(&method),
            Self::Shared(methods, learners) => {
                Self::Compared(methods).is_used(settings) || Self::BottomUp(learners).is_used(settings)
            }
        }
    }
}

/// What a setting is if not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// Nothing to say.
    None,
    /// This value.
    Is(&'static str),
    /// What these words say.
    Words(&'static str),
}

impl Default {
    /// As help shows it.
    pub fn shown(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Is(text) | Self::Words(text) => Some(text),
        }
    }
}

/// What tuning does with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tune {
    /// Several values may be tried, with this help.
    Varied(&'static str),
    /// It has one value.
    Fixed,
    /// It has one value, with this help instead of the usual one.
    FixedAs(&'static str),
}

impl Setting {
    /// What a row says unless it says otherwise.
    pub(super) const BASE: Self = Self {
        name: "",
        kind: Kind::Flag,
        owner: Owner::Data,
        when: |_| true,
        value_name: "",
        help: "",
        default: Default::None,
        range: Range::Any,
        excludes: None,
        tune: Tune::Fixed,
        late: false,
        grid: &[],
    };

    /// Whether it makes a difference to the method that these settings describe.
    pub fn matters(&self, settings: &Settings) -> bool {
        self.owner.is_used(settings) && (self.when)(settings)
    }

    /// The values that tuning tries where none are given.
    pub(crate) fn axis(&self) -> Axis {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "grids of counts hold counts"
        )]
        let count = |value: &f64| *value as usize;
        match self.kind {
            Kind::Count => Axis::new(self.name, &self.grid.iter().map(count).collect::<Vec<_>>()),
            _ => Axis::new(self.name, self.grid),
        }
    }

    /// Fails where a number is out of its range.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn check(&self, value: f64) -> Result<()> {
        if self.range.contains(value) { Ok(()) } else { Err(self.wrong(self.range, value.to_string())) }
    }

    /// It has another value than it may have.
    pub(crate) fn wrong(&self, expected: impl Into<Expected>, found: String) -> Error {
        Error::Setting { setting: self.name, expected: expected.into(), found }
    }
}

/// A type that a setting may have.
pub(super) trait Value: Sized {
    const KIND: Kind;

    /// From what was typed: one text for a single value, any number for a list.
    fn from_texts(texts: &[String]) -> Option<Self>;

    /// A single number as such.
    fn number(&self) -> Option<f64> {
        None
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Float;

    fn from_texts(texts: &[String]) -> Option<Self> {
        single(texts)?.parse().ok()
    }

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Value for usize {
    const KIND: Kind = Kind::Count;

    fn from_texts(texts: &[String]) -> Option<Self> {
        single(texts)?.parse().ok()
    }

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;

    fn from_texts(texts: &[String]) -> Option<Self> {
        single(texts)?.parse().ok()
    }
}

impl<T: Named> Value for T {
    const KIND: Kind = Kind::Name(T::NAMES);

    fn from_texts(texts: &[String]) -> Option<Self> {
        Self::parse(single(texts)?)
    }
}

impl Value for Vec<PostName> {
    const KIND: Kind = Kind::Names(PostName::NAMES);

    fn from_texts(texts: &[String]) -> Option<Self> {
        texts.iter().map(|text| PostName::parse(text)).collect()
    }
}

impl Value for Vec<String> {
    const KIND: Kind = Kind::Texts;

    fn from_texts(texts: &[String]) -> Option<Self> {
        Some(texts.to_vec())
    }
}

impl Value for Vec<f64> {
    const KIND: Kind = Kind::Floats;

    fn from_texts(texts: &[String]) -> Option<Self> {
        texts.iter().map(|text| text.parse().ok()).collect()
    }
}

fn single(texts: &[String]) -> Option<&str> {
    match texts {
        [one] => Some(one),
        _ => None,
    }
}
