//! Arguments of `bidilel tune`, resolved into a plan.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bidilel::settings::{Kind, PostName, Settings, setting};
use bidilel::tune::{Axis, FOLDS, Holdout, Plan, Rule, SHARE, Strategy};
use clap::{Args, ValueEnum, ValueHint};
use serde_json::{Map, Value};

use super::host::Budget;
use super::values::Values;
use crate::args::parse_count;
use crate::failure::{usage, worded};
use crate::input;
use crate::reported::ReportArgs;

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A dataset folder, builtin:emoji, builtin:emoji-things, or synthetic:NAME (small, awa, cub, ucf101, hmdb51)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) dataset: String,
    /// The order in which settings are tried: the paper's two stages, all, some at random, or fewer and fewer
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub(crate) strategy: StrategyName,
    /// Settings to try from a TOML file: `alpha = [0.1, 1, 10]`, one line per setting
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) grid: Option<PathBuf>,
    /// Choose the pipeline, too: which normalization, learner and embedder, and whether and how to refine
    #[arg(long, conflicts_with_all = ["strategy", "samples", "choose"])]
    pub(crate) auto: bool,
    /// Only what does not depend on the batch of test instances: no refiners
    #[arg(long, conflicts_with = "post")]
    pub(crate) inductive: bool,
    /// Times that random known classes are held out [default: 5 in all, of which one is the split's validation classes; with --auto 5 to 12, all random]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) trials: Option<usize>,
    /// Share of the known classes that is held out, or split: only the split's validation classes [default: 0.2]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = HeldOut::parse)]
    pub(crate) holdout: Option<HeldOut>,
    /// Which setting is chosen: the defaults unless another is better by more than noise (sure), or the highest mean; --auto has rules of its own
    #[arg(long, value_name = "NAME", default_value = "sure")]
    pub(crate) choose: RuleName,
    /// Settings that the random strategy tries
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = parse_count)]
    pub(crate) samples: usize,
    /// Stop after a time (30s, 5m, 2h) or a number of evaluations, each one setting in one trial
    #[arg(long, value_name = "BUDGET", value_parser = Budget::parse)]
    pub(crate) budget: Option<Budget>,
    /// Write every finished evaluation to a file as it happens
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,
    /// Continue from the journal
    #[arg(long, requires = "journal")]
    pub(crate) resume: bool,
    /// Write the chosen settings to a .toml or .json file, for --settings of evaluate and fit
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Draw accuracy against each setting into an SVG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) curves: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) values: Values,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyName {
    Paper,
    Grid,
    Random,
    Halving,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleName {
    Sure,
    Highest,
}

impl TuneArgs {
    /// What to try.
    pub(crate) fn plan(&self) -> Result<Plan> {
        let mut base = self.values.base()?;
        let mut axes: Vec<Axis> = Vec::new();
        let from_file = self.grid.as_deref().map(read_grid).transpose()?.unwrap_or_default();
        // What is typed is used instead of what a file says.
        let typed = self.values.lists();
        for (name, values) in &typed {
            for value in values {
                let settings = Settings::default().with(&fixed(name, value));
                let settings = settings.map_err(|error| usage(wrong(name, &error)))?;
                settings.check().map_err(|error| usage(worded(&error)))?;
            }
        }
        let from_file =
            from_file.into_iter().filter(|(name, _)| typed.iter().all(|(other, _)| other != name));
        for (name, values) in from_file.chain(typed.iter().cloned()) {
            if let [one] = &values[..] {
                base = base.with(&fixed(&name, one)).map_err(|error| wrong(&name, &error))?;
            } else {
                let axis = Axis { name, values };
                axis.over(&Settings::default())?;
                axes.push(axis);
            }
        }
        if self.inductive {
            base.post = Some(vec![PostName::None]);
        }
        let strategy = match self.strategy {
            StrategyName::Paper => Strategy::Paper,
            StrategyName::Grid => Strategy::Grid,
            StrategyName::Random => Strategy::Random { samples: self.samples },
            StrategyName::Halving => Strategy::Halving,
        };
        let rule = match self.choose {
            RuleName::Sure => Rule::Sure { refined: true },
            RuleName::Highest => Rule::Highest,
        };
        Ok(Plan { base, axes, strategy, rule, auto: self.auto, seed: self.values.seed })
    }

    /// Which of so many known classes are held out.
    pub(crate) fn held_out(&self, known: usize) -> Result<Holdout> {
        let holdout = held_out(self.holdout, self.trials, self.values.seed)?;
        Ok(if self.auto { holdout.among_pipelines(known) } else { holdout })
    }
}

/// What `--holdout` says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum HeldOut {
    /// The validation classes of the split.
    Split,
    /// A share of the known classes.
    Share(f64),
}

impl HeldOut {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            _ if text == "split" => Ok(Self::Split),
            Ok(share) if share > 0.0 && share < 1.0 => Ok(Self::Share(share)),
            _ => Err("expected a number between 0 and 1, or split".to_owned()),
        }
    }
}

/// Which known classes are held out: several times, unless it is typed which or how often.
pub(crate) fn held_out(held_out: Option<HeldOut>, folds: Option<usize>, seed: u64) -> Result<Holdout> {
    let share = match (held_out, folds) {
        (None, None) => return Ok(Holdout::Matched { share: SHARE, folds: FOLDS, seed }),
        (Some(HeldOut::Split), None) => return Ok(Holdout::Split),
        (Some(HeldOut::Split), Some(_)) => {
            return Err(usage(
                "--holdout split holds out the split's validation classes once: leave out --trials, or give a share \
                 of the known classes, as in --holdout 0.2",
            ));
        }
        (Some(HeldOut::Share(share)), _) => share,
        (None, Some(_)) => SHARE,
    };
    Ok(Holdout::Random { share, folds: folds.unwrap_or(FOLDS), seed })
}

/// Reads `name = [values]` lines; a single value is a list of one.
fn read_grid(path: &Path) -> Result<Vec<(String, Vec<Value>)>> {
    let name = path.display();
    let table = input::table_of_settings(path, "a grid of settings")?;
    if table.is_empty() {
        bail!("`{name}`: the grid is empty: write lines such as alpha = [0.1, 1, 10]");
    }
    let list = |(name, value): (String, Value)| {
        match value {
            // These are lists themselves: a list of lists is several of them.
            Value::Array(values) if !is_list(&name) || values.iter().any(Value::is_array) => (name, values),
            value => (name, vec![value]),
        }
    };
    Ok(table.into_iter().map(list).collect())
}

/// Whether one value is a list. Chains of refiners are written with `+`, so that a list of them is several values.
fn is_list(name: &str) -> bool {
    setting(name).is_some_and(|row| matches!(row.kind, Kind::Texts | Kind::Floats))
}

fn fixed(name: &str, value: &Value) -> Map<String, Value> {
    let value = match (name, value) {
        ("post", Value::String(chain)) => chain.split('+').collect::<Vec<_>>().into(),
        _ => value.clone(),
    };
    Map::from_iter([(name.to_owned(), value)])
}

fn wrong(name: &str, error: &bidilel::Error) -> anyhow::Error {
    anyhow::anyhow!("`{name}`: {error}")
}
