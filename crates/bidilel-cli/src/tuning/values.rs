//! The settings that can be typed after `bidilel tune`: one value is fixed, several are tried.

use std::path::PathBuf;

use anyhow::Result;
use bidilel::settings::{Kind, Owner, Setting, Settings, TABLE, Tune};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;

use crate::failure::{usage, worded};
use crate::method::{BOTH_WEIGHTS, read_settings, seed, settings_file, split_weights};
use crate::options::{self, Typed};
use crate::splits::SplitArgs;

const HEADING: &str = "Settings: one value is fixed, several are tried";

/// The settings that were typed.
#[derive(Debug)]
pub(crate) struct Values {
    settings: Option<PathBuf>,
    pub(crate) splits: SplitArgs,
    pub(crate) seed: u64,
    fixed: Vec<Typed>,
    varied: Vec<Typed>,
}

impl Args for Values {
    fn augment_args(command: Command) -> Command {
        // Names of representations, and settings that depend on them, are options for data.
        let heading = |row: &Setting| match row.kind {
            Kind::Texts => "Data",
            _ if options::is_data(row) => "Data",
            _ => HEADING,
        };
        let option = |row: &'static Setting| options::several(row, heading(row));
        let (data, rest): (Vec<_>, Vec<_>) = TABLE
            .iter()
            .filter(|row| !row.late)
            .partition(|row| matches!(row.owner, Owner::Data | Owner::Fusion));
        command
            .args(SplitArgs::args(
                "The split: a name, or NAME:TRIAL [default: the dataset's first]",
                "Instead of a split: draw a random division of the classes into known and unseen, by --seed; N is 1",
            ))
            .args(data.into_iter().map(option))
            .arg(settings_file(HEADING).help("Fix the settings of a file"))
            .args(rest.into_iter().map(option))
            .args(TABLE.iter().filter(|row| row.late).map(option))
            .arg(seed("Options"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Values {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_varied = |typed: &Typed| matches!(typed.row.tune, Tune::Varied(_));
        let (mut varied, fixed): (Vec<_>, Vec<_>) = options::typed(matches).into_iter().partition(is_varied);
        // The first varies slowest, as in existing journals.
        varied.sort_by_key(|typed| !typed.row.late);
        Ok(Self {
            settings: matches.get_one("settings").cloned(),
            splits: SplitArgs::from_matches(matches),
            seed: matches.get_one("seed").copied().unwrap_or_default(),
            fixed,
            varied,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Values {
    /// What is fixed, whatever else is tried.
    pub(crate) fn base(&self) -> Result<Settings> {
        let mut typed = options::settings(&self.fixed)?;
        split_weights(&mut typed)?;
        if typed.view_weights.is_some() && self.varies("view_weights") {
            return Err(usage("weights stand after the names and in --view-weights: give them once"));
        }
        if typed.semantic_weights.is_some() && self.varies("gamma") {
            return Err(usage(BOTH_WEIGHTS));
        }
        typed.check().map_err(|error| usage(worded(&error)))?;
        let Some(path) = &self.settings else { return Ok(typed) };
        let base = read_settings(path)?.with(&typed.entries())?;
        base.effective().check()?;
        Ok(base)
    }

    /// What may have several values.
    pub(crate) fn lists(&self) -> Vec<(String, Vec<Value>)> {
        let number = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let value = |kind: Kind, text: &String| match kind {
            // Several weights make one value.
            Kind::Floats => Value::Array(text.split(':').map(number).collect()),
            _ => number(text),
        };
        let list = |Typed { row, texts }: &Typed| {
            (row.name.to_owned(), texts.iter().map(|text| value(row.kind, text)).collect())
        };
        self.varied.iter().map(list).collect()
    }

    fn varies(&self, name: &str) -> bool {
        self.varied.iter().any(|typed| typed.row.name == name)
    }
}
