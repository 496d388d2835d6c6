//! Narrow terminals, locales without blocks, paths that are no text.

use unicode_width::UnicodeWidthStr;

use crate::support::{Folder, Ran, bidilel, bidilel_with};

fn at(columns: &str, words: &[&str]) -> Ran {
    bidilel_with(words, &[("COLUMNS", columns), ("LC_ALL", "C.UTF-8")])
}

#[test]
fn everything_for_a_person_fits_into_sixty_columns() {
    let folder = Folder::generated();
    let (data, model) = (folder.data(), folder.beside("model"));
    assert_eq!(bidilel(&["fit", &data, "--out", &model]).status, 0);
    for words in [
        &["evaluate", &data][..],
        &["evaluate", &data, "--post", "self-training,structured", "--top-down", "lsm+svr"],
        &["inspect", &data],
        &["select", &data],
        &["class", "list", &model],
        &["tune", &data, "--strategy", "grid", "--alpha", "1,10", "--dim", "5,10", "--neighbors", "3,5"],
    ] {
        let ran = at("60", words);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        // A command to copy must not be broken.
        let lines = ran.stdout.lines().filter(|line| !line.starts_with("bidilel "));
        let wide: Vec<&str> = lines.filter(|line| line.width() > 60).collect();
        assert!(wide.is_empty(), "{words:?}:\n{}\nin\n{}", wide.join("\n"), ran.stdout);
    }
    let (narrow, wide) = (at("60", &["evaluate", &data]), at("200", &["evaluate", &data]));
    let words = |ran: &Ran| ran.stdout.split_whitespace().filter(|word| word.is_ascii()).count();
    assert!(words(&narrow).abs_diff(words(&wide)) < 4, "nothing but bars is left out");
}

#[test]
fn blocks_are_drawn_only_where_the_locale_has_them() {
    let folder = Folder::generated();
    for words in [&["evaluate", &folder.data()][..], &["inspect", &folder.data()]] {
        let unicode = bidilel_with(words, &[("LC_ALL", "en_US.UTF-8")]).stdout;
        assert!(unicode.contains('\u{2588}'), "{unicode}");
        let plain = bidilel_with(words, &[("LC_ALL", "C")]).stdout;
        assert!(plain.is_ascii() && plain.contains("###"), "{plain}");
    }
}

#[test]
fn options_stand_under_their_headings() {
    for command in ["evaluate", "fit", "select"] {
        let help = at("100", &[command, "--help"]).stdout;
        let heading = |option: &str| {
            let before =
                &help[..help.find(&format!("  {option} ")).unwrap_or_else(|| panic!("{option}: {help}"))];
            before
                .lines()
                .rfind(|line| line.ends_with(':') && !line.starts_with(' '))
                .unwrap_or_default()
                .to_owned()
        };
        for (option, expected) in [
            ("--bottom-up", "Method:"),
            ("--alpha", "Method:"),
            ("--top-down", "Method:"),
            ("--post", "Method:"),
            ("--visual", "Data:"),
            ("--split", "Data:"),
            ("--kernel", "Kernels:"),
            ("--nystrom-rank", "Kernels:"),
            ("--seed", "Run:"),
            ("--format", "Options:"),
        ] {
            assert_eq!(heading(option), expected, "{command} {option}\n{help}");
        }
    }
}
