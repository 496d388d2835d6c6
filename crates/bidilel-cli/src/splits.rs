//! Which divisions of a dataset to use: `--split`, or `--random-splits` with `--random-unseen`; and `--test-seen-share`.

use anyhow::{Result, bail};
use bidilel::Candidates;
use bidilel::dataset::Dataset;
use bidilel::settings::Settings;
use bidilel::split::{DrawnSplits, RandomSplits, SplitChoice, Trial, Trials, UnseenClasses};
use bidilel_math::Observer;
use clap::{Arg, ArgMatches, value_parser};

use crate::failure::usage;

/// More than any study has; every trial lists its instances.
const MOST: i64 = 1000;

/// What was typed.
#[derive(Debug, Clone)]
pub(crate) struct SplitArgs {
    split: Option<String>,
    random: Option<(usize, Option<UnseenClasses>)>,
    test_seen_share: Option<f64>,
}

impl SplitArgs {
    /// The options, for all commands that take a split.
    pub(crate) fn args(split_help: &'static str, random_help: &'static str) -> [Arg; 4] {
        let arg = |name: &'static str, value_name: &'static str| {
            Arg::new(name).long(name).value_name(value_name).help_heading("Data")
        };
        [
            arg("split", "SPLIT").help(split_help),
            arg("random-splits", "N")
                .help(random_help)
                .conflicts_with("split")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(u16).range(1..=MOST)),
            arg("random-unseen", "COUNT|SHARE")
                .help(
                    "Unseen classes of a random split: a number, or a share such as 0.5 [default: as many as in the \
                     dataset's first split, else 0.2]",
                )
                .requires("random-splits")
                .allow_negative_numbers(true)
                .value_parser(parse_unseen),
            arg("test-seen-share", "SHARE")
                .help(
                    "With --generalized: test this share of every known class's instances instead of learning from them, drawn by \
                     --seed, as in 0.2; for splits that test no known class",
                )
                .allow_negative_numbers(true)
                .value_parser(parse_share),
        ]
    }

    pub(crate) fn from_matches(matches: &ArgMatches) -> Self {
        let unseen = matches.get_one("random-unseen").copied();
        Self {
            split: matches.get_one("split").cloned(),
            random: matches.get_one::<u16>("random-splits").map(|&count| (count.into(), unseen)),
            test_seen_share: matches.get_one("test-seen-share").copied(),
        }
    }

    pub(crate) fn choice(&self, seed: u64) -> SplitChoice {
        match (&self.split, self.random) {
            (_, Some((count, unseen))) => SplitChoice::Random(RandomSplits { count, unseen, seed }),
            (Some(name), None) => SplitChoice::Named(name.clone()),
            (None, None) => SplitChoice::First,
        }
    }

    /// The share of known classes' instances that is tested; only generalized recognition can.
    pub(crate) fn test_seen_share(&self, settings: &Settings) -> Result<Option<f64>> {
        if self.test_seen_share.is_some() && settings.candidates() != Candidates::All {
            return Err(usage(
                "--test-seen-share tests known classes, which are candidates with --generalized only: add it",
            ));
        }
        Ok(self.test_seen_share)
    }

    /// All trials, with their test instances of known classes.
    pub(crate) fn trials(&self, dataset: &Dataset, settings: &Settings, seed: u64) -> Result<Trials> {
        let share = self.test_seen_share(settings)?;
        Ok(self.choice(seed).trials(dataset)?.with_test_seen(dataset, share, seed)?)
    }

    /// Refuses several random splits where one trial is needed, before any data are read.
    pub(crate) fn require_one(&self, command: &str) -> Result<()> {
        match self.random {
            Some((count, _)) if count > 1 => Err(usage(format!(
                "{command} takes one trial, found --random-splits {count}: give --random-splits 1, and another --seed for another \
                 division; `bidilel compare --tune` chooses settings in each of several"
            ))),
            _ => Ok(()),
        }
    }

    /// The one trial that `fit` and `tune` take.
    pub(crate) fn one_trial(
        &self,
        dataset: &Dataset,
        settings: &Settings,
        seed: u64,
    ) -> Result<(Trial, Option<DrawnSplits>)> {
        let mut found = self.trials(dataset, settings, seed)?;
        if found.trials.len() != 1 {
            let (name, count) = (found.split, found.trials.len());
            bail!("split `{name}` has {count} trials: name one, as in --split {name}:0");
        }
        Ok((found.trials.remove(0), found.drawn))
    }

    /// The options as they are typed, for a command line that uses the same trials.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut push = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if let Some(split) = &self.split {
            push("--split", split.clone());
        }
        if let Some((count, unseen)) = self.random {
            push("--random-splits", count.to_string());
            match unseen {
                Some(UnseenClasses::Count(count)) => push("--random-unseen", count.to_string()),
                Some(UnseenClasses::Share(share)) => push("--random-unseen", share.to_string()),
                None => {}
            }
        }
        if let Some(share) = self.test_seen_share {
            push("--test-seen-share", share.to_string());
        }
        words
    }

    /// Notes what a draw leaves out.
    pub(crate) fn note_left_out(&self, dataset: &Dataset, watch: &dyn Observer) {
        if self.random.is_none() {
            return;
        }
        let mut populated = vec![false; dataset.classes.len()];
        dataset.labels.iter().for_each(|&label| populated[label] = true);
        let empty: Vec<&String> =
            dataset.classes.iter().zip(&populated).filter(|(_, has)| !**has).map(|(name, _)| name).collect();
        if let Some((first, others)) = empty.split_first() {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            watch.note(&format!("random splits leave out classes without instances: `{first}`{more}"));
        }
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|&share| share > 0.0 && share < 1.0);
    share.ok_or_else(|| "expected a share between 0 and 1 such as 0.2".to_owned())
}

fn parse_unseen(text: &str) -> Result<UnseenClasses, String> {
    let share = || text.parse::<f64>().ok().filter(|&share| share > 0.0 && share < 1.0);
    match text.parse::<usize>() {
        Ok(count) if count > 0 => Ok(UnseenClasses::Count(count)),
        _ => share().map(UnseenClasses::Share).ok_or_else(|| {
            "expected a number of classes of at least 1, or a share between 0 and 1 such as 0.5".to_owned()
        }),
    }
}
