//! Options from the table of settings: one per row, for a single value or, where settings are tuned, for several.
//!
//! Values stay text until all options are known; only text that no value of its kind can have is refused here.

use std::num::{ParseFloatError, ParseIntError};
use std::sync::LazyLock;

use bidilel::settings::{BEST, Kind, Named, Owner, Range, Setting, Settings, TABLE, Tune, setting};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches};

use crate::failure::usage;
use crate::shares;

/// A setting that was typed, with its texts.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    pub(crate) row: &'static Setting,
    pub(crate) texts: Vec<String>,
}

/// The option of a setting: `--svr-c` for `svr_c`. A name that is not a setting stays as it is.
pub(crate) fn option(name: &str) -> String {
    match setting(name) {
        Some(_) => format!("--{}", name.replace('_', "-")),
        None => name.to_owned(),
    }
}

/// The option that takes one value, under a heading.
pub(crate) fn single(row: &'static Setting, heading: &'static str) -> Arg {
    let default = row.default.shown().map_or(String::new(), |text| format!(" [default: {text}]"));
    let arg = one_value(row, heading).help(worded(row, row.help) + &default);
    match row.excludes {
        Some(other) => arg.conflicts_with(other),
        None => arg,
    }
}

/// The option of `tune`: several values where the setting may be varied.
pub(crate) fn several(row: &'static Setting, heading: &'static str) -> Arg {
    let arg = match row.tune {
        Tune::Fixed => return single(row, heading),
        Tune::FixedAs(help) => one_value(row, heading).help(worded(row, help)),
        Tune::Varied(help) => {
            let (value_name, is_number) = match row.kind {
                Kind::Float | Kind::Floats => ("XS", true),
                Kind::Count => ("NS", true),
                _ => ("NAMES", false),
            };
            let arg = bare(row, heading).help(worded(row, help)).value_name(value_name);
            arg.value_delimiter(',').action(ArgAction::Append).allow_negative_numbers(is_number)
        }
    };
    // With two varied settings, every combination is tried.
    let varied = |row: &Setting| matches!(row.tune, Tune::Varied(_));
    match row.excludes.and_then(setting) {
        Some(other) if !(varied(row) && varied(other)) => arg.conflicts_with(other.name),
        _ => arg,
    }
}

/// What was typed, in the order of the table.
pub(crate) fn typed(matches: &ArgMatches) -> Vec<Typed> {
    let texts = |row: &Setting| match row.kind {
        Kind::Flag => matches.get_flag(row.name).then(|| vec!["true".to_owned()]),
        _ => matches.get_many::<String>(row.name).map(|texts| texts.cloned().collect()),
    };
    TABLE.iter().filter_map(|row| Some(Typed { row, texts: texts(row)? })).collect()
}

/// Settings with single values.
pub(crate) fn settings<'t>(typed: impl IntoIterator<Item = &'t Typed>) -> anyhow::Result<Settings> {
    let typed: Vec<&Typed> = typed.into_iter().collect();
    let is_best = |typed: &Typed| typed.row.name == "method" && typed.texts == [BEST];
    // What else is typed is laid over the settings that it stands for.
    let best = typed.iter().any(|typed| is_best(typed));
    let mut settings = if best { Settings::best() } else { Settings::default() };
    for Typed { row, texts } in typed.into_iter().filter(|typed| !is_best(typed)) {
        let texts = if row.range == Range::Shares { &shares::resolved(texts)? } else { texts };
        if !settings.assign(row.name, texts) {
            return Err(usage(format!("{}: cannot be `{}`", option(row.name), texts.join(","))));
        }
    }
    Ok(settings)
}

/// A value by one of its names, for options that are declared elsewhere.
pub(crate) fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::NAMES)
        .try_map(|name: String| T::parse(&name).ok_or_else(|| format!("`{name}` is not known")))
}

/// Whether a setting is listed with the options for data.
pub(crate) fn is_data(row: &Setting) -> bool {
    row.owner == Owner::Data
}

fn bare(row: &'static Setting, heading: &'static str) -> Arg {
    Arg::new(row.name).long(long(row.name)).help_heading(heading)
}

fn one_value(row: &'static Setting, heading: &'static str) -> Arg {
    let arg = bare(row, heading);
    if row.kind == Kind::Flag {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(row.value_name);
    let arg = match row.kind {
        Kind::Float | Kind::Floats => arg.value_parser(float).allow_negative_numbers(true),
        Kind::Count => arg.value_parser(count),
        Kind::Name(_) | Kind::Names(_) => arg.value_parser(PossibleValuesParser::new(values(row))),
        Kind::Flag | Kind::Texts => arg,
    };
    if row.kind.is_list() { arg.value_delimiter(',').action(ArgAction::Append) } else { arg }
}

/// The names that an option takes.
fn values(row: &Setting) -> Vec<&'static str> {
    let (Kind::Name(names) | Kind::Names(names)) = row.kind else { return Vec::new() };
    let best = (row.owner == Owner::Method).then_some(BEST);
    names.iter().copied().chain(best).collect()
}

/// The help of a row, with the names of its values and of other options filled in.
fn worded(row: &Setting, text: &str) -> String {
    let text = match row.kind {
        Kind::Name(names) | Kind::Names(names) => text.replace("{names}", &names.join(", ")),
        _ => text.to_owned(),
    };
    text.replace('{', "--").replace('}', "")
}

fn float(text: &str) -> Result<String, ParseFloatError> {
    text.parse::<f64>().map(|_| text.to_owned())
}

fn count(text: &str) -> Result<String, ParseIntError> {
    text.parse::<usize>().map(|_| text.to_owned())
}

/// The name of an option, which clap needs for the lifetime of the program.
fn long(name: &'static str) -> &'static str {
    static LONG: LazyLock<Vec<String>> =
        LazyLock::new(|| TABLE.iter().map(|row| row.name.replace('_', "-")).collect());
    let place = TABLE.iter().position(|row| row.name == name);
    place.map_or(name, |place| LONG[place].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// The options of a command, by name.
    fn command(name: &str) -> clap::Command {
        let mut program = crate::args::Cli::command();
        program.build();
        program.find_subcommand(name).expect("a command").clone()
    }

    #[test]
    fn every_setting_is_an_option_of_every_command_that_has_settings() {
        crate::args::Cli::command().debug_assert();
        for name in ["evaluate", "fit", "compare", "select", "tune"] {
            let command = command(name);
            for row in TABLE {
                let arg = command.get_arguments().find(|arg| arg.get_id() == row.name);
                let arg = arg.unwrap_or_else(|| panic!("{name} has no option for {}", row.name));
                assert_eq!(arg.get_long().map(|long| format!("--{long}")), Some(option(row.name)));
                let help = arg.get_help().expect("help").to_string();
                assert!(!help.contains(['{', '}']), "{help}");
                let values: Vec<String> =
                    arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
                let varied = name == "tune" && matches!(row.tune, Tune::Varied(_));
                match row.kind {
                    Kind::Name(_) | Kind::Names(_) if !varied => assert_eq!(values, super::values(row)),
                    _ => assert!(values.is_empty() || row.kind == Kind::Flag, "{}", row.name),
                }
            }
        }
    }

    #[test]
    fn what_is_typed_is_what_the_table_reads() {
        let options = clap::Command::new("").args(TABLE.iter().map(|row| single(row, "Settings")));
        let words = ["", "--alpha", "-1", "--post", "none,structured", "--center", "--dim", "7"];
        let typed = typed(&options.get_matches_from(words));
        let names: Vec<&str> = typed.iter().map(|typed| typed.row.name).collect();
        assert_eq!(names, ["alpha", "dim", "center", "post"]);
        let settings = settings(&typed).unwrap();
        assert_eq!((settings.alpha, settings.dim, settings.center), (Some(-1.0), Some(7), Some(true)));
        assert_eq!(settings.post.map(|post| post.len()), Some(2));
    }
}
