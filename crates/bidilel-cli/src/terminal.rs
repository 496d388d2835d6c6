//! Capabilities of the terminal: width, block characters, emoji.

use std::borrow::Cow;

#[cfg(feature = "emoji")]
use crate::args::DemoArgs;

/// A width below this many columns is taken for an error.
const MIN_COLUMNS: usize = 20;

/// How a class is written.
#[cfg(feature = "emoji")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// With its character.
    Emoji,
    /// By its name alone, in ASCII.
    Plain,
}

#[cfg(feature = "emoji")]
impl Style {
    /// What was asked for, or what the environment can show.
    pub(crate) fn choose(args: &DemoArgs) -> Self {
        if args.emoji || (!args.plain && can_show(|name| std::env::var(name).ok())) {
            Self::Emoji
        } else {
            Self::Plain
        }
    }
}

/// Columns that text on stdout may take: those of the terminal, or what `COLUMNS` says; no limit elsewhere.
pub(crate) fn width() -> Option<usize> {
    let typed = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into());
    typed.or_else(terminal).filter(|&width| width >= MIN_COLUMNS)
}

/// Text with other bars where the locale has no block characters.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if has_unicode(&|name| std::env::var(name).ok()) { Cow::Borrowed(text) } else { without_blocks(text) }
}

fn without_blocks(text: &str) -> Cow<'_, str> {
    let is_block = |character: char| ('\u{2588}'..='\u{258f}').contains(&character);
    if !text.contains(is_block) {
        return Cow::Borrowed(text);
    }
    // What fills half of a cell or more; fewer eighths have higher numbers.
    let plain = |character: char| match character {
        '\u{2588}'..='\u{258c}' => '#',
        '\u{258d}'..='\u{258f}' => ' ',
        other => other,
    };
    Cow::Owned(text.chars().map(plain).collect())
}

/// Emoji need a terminal that is not `dumb` and a locale whose text is UTF-8.
#[cfg(any(feature = "emoji", test))]
fn can_show(variable: impl Fn(&str) -> Option<String>) -> bool {
    let dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    !dumb && has_unicode(&variable)
}

/// Whether the locale's text is UTF-8.
fn has_unicode(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    // POSIX: the first of these that is set and not empty decides; none of them means the `C` locale.
    let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find(|name| set(name)).and_then(|name| variable(name));
    let utf8 = locale.map(|locale| locale.to_lowercase().replace('-', "").contains("utf8"));
    // Windows has no such variables, and its terminal shows what there is.
    utf8.unwrap_or(cfg!(windows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(variables: &[(&str, &str)]) -> bool {
        can_show(|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn bars_are_of_other_characters_where_there_are_no_blocks() {
        assert_eq!(without_blocks("a \u{2588}\u{2588}\u{258c}| \u{258f}|"), "a ###|  |");
        assert!(matches!(without_blocks("plain ±"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_first_locale_that_is_set_decides() {
        assert!(shows(&[("LANG", "en_US.UTF-8"), ("TERM", "xterm")]));
        assert!(shows(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!shows(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!shows(&[("LANG", "de_DE.ISO-8859-1")]));
        assert!(!shows(&[("LANG", "en_US.UTF-8"), ("TERM", "dumb")]));
    }
}
