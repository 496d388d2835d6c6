//! The options of a method, resolved into settings.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bidilel::settings::{MethodName, Owner, PostName, Setting, Settings, TABLE};
use bidilel_math::Observer;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueHint, value_parser};
use serde::Serialize;

use crate::failure::{usage, worded};
use crate::input;
use crate::options::{self, Typed};
use crate::splits::SplitArgs;

/// All options of a method.
#[derive(Debug)]
pub(crate) struct MethodArgs {
    pub(crate) settings: Option<PathBuf>,
    pub(crate) splits: SplitArgs,
    pub(crate) seed: u64,
    typed: Vec<Typed>,
}

impl Args for MethodArgs {
    fn augment_args(command: Command) -> Command {
        let rows = |heading: &'static str, of: fn(Owner) -> bool| {
            let rows = TABLE.iter().filter(move |row| of(row.owner));
            rows.map(move |row| options::single(row, heading))
        };
        command
            .arg(settings_file("Method").help("Take the settings that are not typed from a file, as `tune --out` writes it"))
            .args(SplitArgs::args(
                "The split: a name, NAME:TRIAL, or a family's name for all its trials [default: the dataset's first]",
                "Instead of a split: draw N random divisions of the classes into known and unseen, by --seed",
            ))
            .args(rows("Data", |owner| owner == Owner::Data))
            .args(rows("Method", |owner| !matches!(owner, Owner::Data | Owner::Fusion)))
            .arg(seed("Run"))
            .args(rows("Kernels", |owner| owner == Owner::Fusion))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MethodArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            settings: matches.get_one("settings").cloned(),
            splits: SplitArgs::from_matches(matches),
            seed: matches.get_one("seed").copied().unwrap_or_default(),
            typed: options::typed(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `--settings`, for all commands that have settings.
pub(crate) fn settings_file(heading: &'static str) -> Arg {
    let arg = Arg::new("settings").long("settings").value_name("FILE").help_heading(heading);
    arg.value_hint(ValueHint::FilePath).value_parser(value_parser!(PathBuf))
}

/// `--seed`, for all commands that have settings.
pub(crate) fn seed(heading: &'static str) -> Arg {
    let arg = Arg::new("seed").long("seed").value_name("N").help_heading(heading);
    arg.help("Seed of everything random").default_value("0").value_parser(value_parser!(u64))
}

impl MethodArgs {
    /// What was typed; the settings file gives the rest.
    pub(crate) fn resolve(&self) -> Result<Settings> {
        let typed = self.typed()?;
        typed.check().map_err(|error| usage(worded(&error)))?;
        let Some(path) = &self.settings else { return Ok(typed) };
        let settings = read_settings(path)?.with(&typed.entries())?;
        // A file may have settings that the chosen method does not need.
        settings.effective().check()?;
        Ok(settings)
    }

    fn typed(&self) -> Result<Settings> {
        let mut settings = options::settings(&self.typed)?;
        split_weights(&mut settings)?;
        if settings.gamma.is_some() && settings.semantic_weights.is_some() {
            return Err(usage(BOTH_WEIGHTS));
        }
        Ok(settings)
    }

    /// Notes options that were typed but have no effect on the chosen method.
    pub(crate) fn note_unused(&self, settings: &Settings, watch: &dyn Observer) {
        // Settings that cannot be read have failed before.
        let given = self.typed().map(|typed| typed.entries()).unwrap_or_default();
        // `best` stands for several settings, and weights may stand in names: of these only the latter were typed.
        let is_typed = |row: &&Setting| {
            let weighs = ["view_weights", "semantic_weights"].contains(&row.name);
            self.typed.iter().any(|typed| typed.row.name == row.name)
                || (weighs && given.contains_key(row.name))
        };
        for row in TABLE.iter().filter(is_typed).filter(|row| !row.matters(settings)) {
            watch.note(&format!(
                "{} has no effect {}",
                options::option(row.name),
                circumstance(row, settings)
            ));
        }
    }
}

/// In which circumstances a setting has no effect.
fn circumstance(row: &Setting, settings: &Settings) -> String {
    let (learner, embedder) = (settings.bottom_up.unwrap_or_default(), settings.top_down.unwrap_or_default());
    match row.owner {
        Owner::Refiner(refiner) if !settings.post.iter().flatten().any(|post| *post == refiner) => {
            format!("without --post {}", named(refiner))
        }
        Owner::Refiner(PostName::Balanced) if !settings.holds_shares() => {
            "with --balanced-strength 0, which leaves the shares of the classes free".to_owned()
        }
        Owner::BottomUp(learners) if !learners.contains(&learner) && is_own(settings) => {
            format!("with --bottom-up {}", named(learner))
        }
        Owner::TopDown(embedders) if !embedders.contains(&embedder) && is_own(settings) => {
            format!("with --top-down {}", named(embedder))
        }
        _ if row.name == "post" => {
            let wanted = settings.post.iter().flatten().map(named).collect::<Vec<_>>().join(",");
            format!("with the method that was chosen: {wanted} needs a latent space, which it does not have")
        }
        _ => "with the method that was chosen".to_owned(),
    }
}

/// The name of a value, as it is typed.
fn named(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Whether the method is the paper's, which has learners and embedders.
fn is_own(settings: &Settings) -> bool {
    settings.method.unwrap_or_default() == MethodName::Bidilel
}

/// The message where both are given.
pub(crate) const BOTH_WEIGHTS: &str =
    "--gamma and weights of semantic representations exclude each other: give one of them";

/// Separates weights (`NAME=WEIGHT`) from the names of representations.
pub(crate) fn split_weights(settings: &mut Settings) -> Result<()> {
    weighed(settings.visual.as_mut(), &mut settings.view_weights, "view_weights")?;
    weighed(settings.semantic.as_mut(), &mut settings.semantic_weights, "semantic_weights")
}

fn weighed(names: Option<&mut Vec<String>>, weights: &mut Option<Vec<f64>>, setting: &str) -> Result<()> {
    let Some(names) = names else { return Ok(()) };
    let split = |item: &String| match item.rsplit_once('=') {
        Some((name, weight)) => match weight.parse::<f64>() {
            Ok(weight) => (name.to_owned(), Some(weight)),
            Err(_) => (item.clone(), None),
        },
        None => (item.clone(), None),
    };
    let (plain, inline): (Vec<String>, Vec<Option<f64>>) = names.iter().map(split).unzip();
    match inline.iter().flatten().count() {
        0 => Ok(()),
        _ if weights.is_some() => {
            let option = options::option(setting);
            Err(usage(format!("weights stand after the names and in {option}: give them once")))
        }
        some if some < inline.len() => Err(usage(format!(
            "of {} representations {some} have a weight: give all of them one, as in a=0.5,b=0.5",
            inline.len()
        ))),
        _ => {
            (*names, *weights) = (plain, Some(inline.into_iter().flatten().collect()));
            Ok(())
        }
    }
}

/// Reads settings from a TOML file, or a JSON one by its ending.
pub(crate) fn read_settings(path: &Path) -> Result<Settings> {
    let table = input::table_of_settings(path, "a settings file")?;
    Settings::default().with(&table).with_context(|| format!("`{}`: not a settings file", path.display()))
}
