//! Methods side by side: the same trials, the same features, settings chosen on the same folds of known classes.
//!
//! A [`Contender`] is a method with some settings fixed and a name; a [`Contest`] is one trial, loaded once for all of
//! them, on which a contender is tuned and then run. What methods have in common ([`task::Shared`](crate::task::Shared))
//! is computed by the first of them.
//!
//! ```
//! use bidilel::compare::{Contender, Contest};
//! use bidilel::{Settings, Silent, Synthetic};
//!
//! let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
//! let contenders = Contender::parse("eszsl", &Settings::default())?;
//! let trial = dataset.trials(None)?.remove(0);
//! let contest = Contest::new(dataset.into(), trial, &Settings::default(), 0, &Silent)?;
//! let run = contest.run(&contenders[0].settings, 0, &[1], &Silent)?;
//! println!("{}: {:.1} %", contenders[0].name, 100.0 * run.accuracy().per_class);
//! # Ok::<(), bidilel::Error>(())
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use bidilel_math::Observer;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{self, Run};
use crate::method::{Kind, METHODS, Method, ZeroShotMethod};
use crate::settings::{Kind as SettingKind, MethodName, Named, Settings, setting};
use crate::split::Trial;
use crate::task::{Side, Task};
use crate::tune::{Axis, Evaluator, Holdout, Host, Plan, Rule, Strategy, folds};

/// Variants that `all` runs after the methods themselves: other learners of the paper's method, its refiners, other
/// losses. They are written as a user would type them.
const VARIANTS: &[&str] = &[
    "eszsl:eszsl-center",
    "sse:sse-variant=relu",
    "sync:sync-loss=crammer-singer",
    "sync:sync-loss=structured",
    "jlse:jlse-structured",
    "bidilel:bottom-up=lda",
    "bidilel:bottom-up=cca",
    "bidilel+self-training",
    "bidilel+structured",
    "bidilel:bottom-up=cca+self-training",
    "bidilel:bottom-up=cca+structured",
];

/// What stands before the refiners at the end of a contender, and they themselves. Values may have a `+`, too, as
/// `lsm+svr` has: what follows it is a refiner only where there is one of that name, or where the value would be unknown.
fn without_refiners(text: &str) -> (&str, &str) {
    let is_value = |head: &str, next: &str| {
        let (word, rest) =
            (head.rsplit(':').next().unwrap_or_default(), next.split('+').next().unwrap_or_default());
        word.split_once('=').is_some_and(|(name, value)| {
            let whole = format!("{value}+{rest}");
            let row = setting(&name.replace('-', "_"));
            row.is_some_and(|row| matches!(row.kind, SettingKind::Name(names) if names.contains(&&whole[..])))
        })
    };
    let mut pluses = text.match_indices('+').map(|(at, _)| at);
    let first = pluses.find(|&at| !is_value(&text[..at], &text[at + 1..]));
    first.map_or((text, ""), |at| (&text[..at], &text[at + 1..]))
}

/// A method with some of its settings, under the name that a comparison lists it by.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// Its name: that of the method, with what differs from its defaults.
    pub name: String,
    /// Its settings, those for data included.
    pub settings: Settings,
}

impl Contender {
    /// The contenders that a word names, with `base` for what it leaves open: `all`, `inductive`, `transductive`, or a
    /// method with settings and refiners, as in `bidilel:bottom-up=cca:dim=50+structured`.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`], and [`Error::Axis`] or [`Error::Setting`] for what stands after the name.
    pub fn parse(text: &str, base: &Settings) -> Result<Vec<Self>> {
        let all = || -> Result<Vec<Self>> {
            let names = METHODS.iter().map(|info| info.name.to_string());
            let texts = names.chain(VARIANTS.iter().map(|&text| text.to_owned()));
            texts.map(|text| Self::one(&text, base)).collect()
        };
        let of_kind = |kind| Ok(all()?.into_iter().filter(|one| one.kind() == kind).collect());
        match text {
            "all" => all(),
            "inductive" => of_kind(Kind::Inductive),
            "transductive" => of_kind(Kind::Transductive),
            one => Ok(vec![Self::one(one, base)?]),
        }
    }

    fn one(text: &str, base: &Settings) -> Result<Self> {
        let (head, refiners) = without_refiners(text);
        let mut words = head.split(':');
        let name = words.next().unwrap_or_default();
        let method = MethodName::parse(name).ok_or_else(|| Error::NoSuchMethod {
            name: name.to_owned(),
            available: MethodName::NAMES.iter().map(|&name| name.to_owned()).collect(),
        })?;
        let mut own = vec![("method".to_owned(), Value::from(name))];
        for word in words {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, value),
                // A setting that is on or off needs no value.
                None => (word, "true"),
            };
            own.push((name.replace('-', "_"), value_of(name, value)));
        }
        if !refiners.is_empty() {
            own.push(("post".to_owned(), refiners.into()));
        }
        let mut settings = base.clone();
        for (name, value) in &own {
            let axis = Axis { name: name.clone(), values: vec![value.clone()] };
            settings = axis.over(&settings)?.remove(0);
        }
        settings.check()?;
        let contender = Self { name: text.to_owned(), settings };
        // A setting that changes nothing would give two rows of one method.
        let used = contender.settings.effective().entries();
        match own.iter().find(|(name, _)| !used.contains_key(name)) {
            None => Ok(contender),
            Some((name, _)) => Err(Error::Setting {
                setting: setting(name).map_or("setting", |row| row.name),
                expected: format!("one that matters to method `{method}`").into(),
                found: text.to_owned(),
            }),
        }
    }

    /// Whether its answers depend on the whole batch of test instances: by the method, or by its refiners.
    pub fn kind(&self) -> Kind {
        let method = Method::from_settings(&self.settings, 0);
        if method.post().is_empty() { method.kind() } else { Kind::Transductive }
    }
}

/// A value as it is typed.
fn value_of(name: &str, text: &str) -> Value {
    let row = setting(&name.replace('-', "_"));
    match row.map(|row| row.kind) {
        Some(SettingKind::Float | SettingKind::Count | SettingKind::Flag) => {
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        }
        _ => text.into(),
    }
}

/// One trial of a comparison, loaded once for all contenders.
pub struct Contest {
    dataset: Arc<Dataset>,
    trial: Trial,
    task: Task,
    seed: u64,
    /// Settings that were chosen, by the settings that were fixed.
    chosen: HashMap<String, Settings>,
    evaluator: Option<Evaluator>,
}

impl Contest {
    /// Loads a trial with the views and descriptions that `base` names.
    ///
    /// # Errors
    /// Those of [`Task::new`], and an unseen class without instances.
    pub fn new(
        dataset: Arc<Dataset>,
        trial: Trial,
        base: &Settings,
        seed: u64,
        watch: &dyn Observer,
    ) -> Result<Self> {
        let task = Task::new(&dataset, &trial, &base.choice(&dataset)?, watch)?;
        task.require_instances(Side::Unseen)?;
        Ok(Self { dataset, trial, task, seed, chosen: HashMap::new(), evaluator: None })
    }

    /// Name of the trial.
    pub fn trial(&self) -> &str {
        &self.trial.name
    }

    /// A fingerprint of what is learned from and recognized.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        for column in self.task.test.features.col_iter() {
            column.iter().for_each(|value| hash.update(&value.to_le_bytes()));
        }
        self.task.test.labels.iter().for_each(|&label| hash.update(&(label as u64).to_le_bytes()));
        format!("{}{:032x}", self.task.fingerprint(), hash.digest128())
    }

    /// The settings of a contender, with what it leaves open chosen on held-out known classes.
    ///
    /// Refiners are chosen for the batch, not for a fold: the settings of a method with refiners are those without,
    /// apart from the neighbors of self-training, which the paper's protocol chooses by itself.
    ///
    /// # Errors
    /// Where no setting could be fitted.
    pub fn tune(
        &mut self,
        contender: &Contender,
        holdout: Holdout,
        host: &dyn Host,
        watch: &dyn Observer,
    ) -> Result<Settings> {
        let post = contender.settings.post.clone();
        let base = Settings { post: None, ..contender.settings.clone() };
        let key = Value::Object(base.effective().entries()).to_string();
        if let Some(best) = self.chosen.get(&key) {
            return Ok(Settings { post, ..best.clone() });
        }
        if self.evaluator.is_none() {
            let folds = folds(&self.dataset, &self.trial, holdout)?;
            let (dataset, choice) = (Arc::clone(&self.dataset), base.choice(&self.dataset)?);
            self.evaluator = Some(Evaluator::new(dataset, &self.trial, folds, &choice, self.seed, watch)?);
        }
        let Some(evaluator) = &mut self.evaluator else { unreachable!("it was just made") };
        // Refiners are contenders by themselves.
        let rule = Rule::Sure { refined: false };
        let plan =
            Plan { base, axes: Vec::new(), strategy: Strategy::Paper, rule, auto: false, seed: self.seed };
        let best = plan.run(evaluator, host, watch)?.best.settings;
        self.chosen.insert(key, best.clone());
        Ok(Settings { post, ..best })
    }

    /// Fits, recognizes and scores.
    ///
    /// # Errors
    /// Those of the fit.
    pub fn run(&self, settings: &Settings, seed: u64, top: &[usize], watch: &dyn Observer) -> Result<Run> {
        let method = Method::from_settings(settings, seed);
        let fitted = method.fit(&self.task, watch)?;
        Ok(evaluate::score(&method, &self.task, &fitted, seed, top, watch)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Contender>> {
        Contender::parse(text, &Settings::default())
    }

    #[test]
    fn all_has_every_method_and_variants_and_is_divided_by_kind() {
        let all = parse("all").expect("all");
        for &name in MethodName::NAMES {
            assert!(all.iter().any(|one| one.name == name), "{name}");
        }
        let divided = ["inductive", "transductive"].map(|kind| parse(kind).expect("a kind").len());
        assert_eq!(divided[0] + divided[1], all.len());
        assert!(divided[1] > 0);
        let mut names: Vec<&str> = all.iter().map(|one| &one.name[..]).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn settings_and_refiners_stand_after_the_name() {
        let one = parse("bidilel:bottom-up=cca:dim=50+self-training+structured").expect("settings").remove(0);
        assert_eq!(one.settings.dim, Some(50));
        assert_eq!(one.settings.post.as_ref().map(Vec::len), Some(2));
        assert_eq!(one.kind(), Kind::Transductive);
        let centered = parse("eszsl:eszsl-center").expect("a flag").remove(0);
        assert_eq!((centered.settings.eszsl_center, centered.kind()), (Some(true), Kind::Inductive));
    }

    #[test]
    fn what_does_not_exist_or_does_not_matter_is_an_error() {
        for (text, words) in [
            ("eszls", "eszsl"),
            ("eszsl:alpha=1", "matters to method `eszsl`"),
            ("bidilel:alfa=1", "alfa"),
            ("bidilel:dim=many", "dim"),
            ("bidilel:alpha=-1", "alpha"),
            ("bidilel+balance", "balance"),
            ("eszsl+structured", "matters to method `eszsl`"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
