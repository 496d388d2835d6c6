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
use crate::settings::{BEST, Kind as SettingKind, MethodName, Named, Settings, setting};
use crate::split::Trial;
use crate::task::{Choice, Side, Task};
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
    "best",
    "best+balanced",
];

/// Names of `tune --auto` as a contender: with refiners, and without.
const AUTO: [&str; 2] = ["auto", "auto-inductive"];

/// What stands before the refiners at the end of a contender, and they themselves. Values may have a `+`, too, as
/// `lsm+svr` has: what follows it is a refiner only where there is one of that name, or where the value would be unknown.
fn without_refiners(text: &str) -> (&str, &str) {
    let is_value = |head: &str, next: &str| {
        let (word, rest) =
            (head.rsplit(':').next().unwrap_or_default(), next.split(['+', ':']).next().unwrap_or_default());
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
    /// Whether its whole pipeline is chosen on held-out known classes, whatever is done with the others.
    pub auto: bool,
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
        let auto = AUTO.contains(&name);
        let method = if auto || name == BEST { Some(MethodName::Bidilel) } else { MethodName::parse(name) };
        let method = method.ok_or_else(|| Error::NoSuchMethod {
            name: name.to_owned(),
            available: [MethodName::NAMES, &[BEST], &AUTO].concat().into_iter().map(str::to_owned).collect(),
        })?;
        let named = if auto { MethodName::Bidilel.to_string() } else { name.to_owned() };
        let mut own = vec![("method".to_owned(), Value::from(named))];
        if name == AUTO[1] {
            own.push(("post".to_owned(), "none".into()));
        }
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
        let contender = Self { name: text.to_owned(), settings, auto };
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
        if self.auto && self.settings.post.is_none() {
            return Kind::Transductive;
        }
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
    /// What the task was loaded by.
    choice: Choice,
    task: Task,
    seed: u64,
    /// Settings that were chosen, by the settings that were fixed.
    chosen: HashMap<String, Settings>,
    /// What the last contender that was tuned was scored on.
    evaluator: Option<(Holdout, Evaluator)>,
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
        let choice = base.choice(&dataset)?;
        let task = Task::new(&dataset, &trial, &choice, watch)?;
        task.require_instances(Side::Unseen)?;
        task.require_test_of(choice.candidates)?;
        Ok(Self { dataset, trial, choice, task, seed, chosen: HashMap::new(), evaluator: None })
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
    /// apart from the neighbors of self-training, which the paper's protocol chooses by itself. A contender that chooses its
    /// whole pipeline has folds of its own ([`Holdout::among_pipelines`]).
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
        // Refiners are contenders by themselves, unless the whole pipeline is chosen.
        let auto = contender.auto;
        let base = if auto {
            contender.settings.clone()
        } else {
            Settings { post: None, ..contender.settings.clone() }
        };
        let key = format!("{auto} {}", Value::Object(base.effective().entries()));
        if let Some(best) = self.chosen.get(&key) {
            return Ok(if auto { best.clone() } else { Settings { post, ..best.clone() } });
        }
        let holdout = if auto { holdout.among_pipelines(self.trial.known.len()) } else { holdout };
        if self.evaluator.as_ref().is_none_or(|(own, _)| *own != holdout) {
            // Before the new one is there: both would take twice the memory.
            self.evaluator = None;
            let folds = folds(&self.dataset, &self.trial, holdout)?;
            let (dataset, choice) = (Arc::clone(&self.dataset), base.choice(&self.dataset)?);
            let evaluator = Evaluator::new(dataset, &self.trial, folds, &choice, self.seed, watch)?;
            self.evaluator = Some((holdout, evaluator));
        }
        let Some((_, evaluator)) = &mut self.evaluator else { unreachable!("it was just made") };
        let rule = Rule::Sure { refined: false };
        let plan = Plan { base, axes: Vec::new(), strategy: Strategy::Paper, rule, auto, seed: self.seed };
        let best = plan.run(evaluator, host, watch)?.best.settings;
        self.chosen.insert(key, best.clone());
        Ok(if auto { best } else { Settings { post, ..best } })
    }

    /// Fits, recognizes and scores.
    ///
    /// # Errors
    /// Those of the fit.
    pub fn run(&self, settings: &Settings, seed: u64, top: &[usize], watch: &dyn Observer) -> Result<Run> {
        let method = Method::from_settings(settings, seed);
        let choice = settings.choice(&self.dataset)?;
        // Other features or descriptions than those of the comparison need a task of their own.
        let own = if choice == self.choice {
            None
        } else {
            Some(Task::new(&self.dataset, &self.trial, &choice, watch)?)
        };
        let task = own.as_ref().unwrap_or(&self.task);
        let fitted = method.fit(task, watch)?;
        Ok(evaluate::score(&method, task, &fitted, seed, top, watch)?.0)
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
    fn a_plus_belongs_to_a_value_where_one_is_called_so() {
        let one = parse("bidilel:bottom-up=cca+lda:top-down=lsm+krr+structured").expect("values").remove(0);
        let entries = one.settings.entries();
        assert_eq!((&entries["bottom_up"], &entries["top_down"]), (&"cca+lda".into(), &"lsm+krr".into()));
        assert_eq!(one.settings.post.as_ref().map(Vec::len), Some(1));
    }

    #[test]
    fn best_stands_for_its_settings_and_auto_for_the_search() {
        let best = parse("best:ridge=2+balanced").expect("best").remove(0);
        assert_eq!((best.settings.ridge, best.settings.krr_width), (Some(2.0), Settings::best().krr_width));
        let auto = ["auto", "auto-inductive"].map(|name| parse(name).expect(name).remove(0));
        assert!(auto.iter().all(|one| one.auto));
        assert_eq!(auto.map(|one| one.kind()), [Kind::Transductive, Kind::Inductive]);
    }

    /// Counts the folds that scores come from, and stops before all of a search is done.
    #[derive(Default)]
    struct Folds(std::sync::Mutex<std::collections::BTreeSet<usize>>);

    impl Host for Folds {
        fn evaluated(&self, _: &Settings, fold: usize, _: f64) {
            self.0.lock().expect("no panic").insert(fold);
        }

        fn evaluations_left(&self, used: usize) -> usize {
            30_usize.saturating_sub(used)
        }
    }

    #[test]
    fn a_choice_among_pipelines_has_the_folds_of_tune_and_others_keep_theirs() {
        let dataset = Arc::new(crate::Synthetic::default().generate(1).expect("data"));
        let trial = dataset.trials(None).expect("a split").remove(0);
        let expected = crate::tune::enough_folds(trial.known.len());
        let mut contest =
            Contest::new(dataset, trial, &Settings::default(), 0, &bidilel_math::Silent).expect("a contest");
        let holdout = Holdout::Matched { share: 0.2, folds: 5, seed: 0 };
        for (name, folds) in [("bidilel", 5), ("auto-inductive", expected), ("eszsl", 5)] {
            let contender = parse(name).expect(name).remove(0);
            let host = Folds::default();
            contest.tune(&contender, holdout, &host, &bidilel_math::Silent).expect(name);
            assert_eq!(host.0.into_inner().expect("no panic").len(), folds, "{name}");
        }
        assert_ne!(expected, 5);
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
