//! Whether emoji can be shown where the text goes.

use crate::args::DemoArgs;

/// How a class is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// With its character.
    Emoji,
    /// By its name alone, in ASCII.
    Plain,
}

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

/// Emoji need a terminal that is not `dumb` and a locale whose text is UTF-8.
fn can_show(variable: impl Fn(&str) -> Option<String>) -> bool {
    let dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    // POSIX: the first of these that is set and not empty decides; none of them means the `C` locale.
    let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find(|name| set(name)).and_then(|name| variable(name));
    let utf8 = locale.map(|locale| locale.to_lowercase().replace('-', "").contains("utf8"));
    // Windows has no such variables, and its terminal shows emoji.
    !dumb && utf8.unwrap_or(cfg!(windows))
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
    fn the_first_locale_that_is_set_decides() {
        assert!(shows(&[("LANG", "en_US.UTF-8"), ("TERM", "xterm")]));
        assert!(shows(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!shows(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!shows(&[("LANG", "de_DE.ISO-8859-1")]));
        assert!(!shows(&[("LANG", "en_US.UTF-8"), ("TERM", "dumb")]));
    }
}
