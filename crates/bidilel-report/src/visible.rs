//! Untrusted text, made safe for terminals and logs.
//!
//! Names of classes and files may hold anything: an escape sequence that renames the window or hides a line, a line end
//! that forges one of our lines, a mark that reverses the direction of the text after it.

use std::borrow::Cow;

/// The same text with control characters escaped: `\\n`, `\\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// As [`visible`], for text of several lines.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character == '\n')
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hidden = |character: char| is_hidden(character) && !keep(character);
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if hidden(character) { visible.extend(character.escape_default()) } else { visible.push(character) }
    }
    Cow::Owned(visible)
}

/// Controls, line and paragraph separators, and marks that change or isolate the direction of text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_terminal_gets_through() {
        assert_eq!(visible("\u{1b}]0;title\u{7}\u{1b}[2J"), "\\u{1b}]0;title\\u{7}\\u{1b}[2J");
        assert_eq!(visible("a\nb\r\tc\u{9b}2J\u{7f}"), "a\\nb\\r\\tc\\u{9b}2J\\u{7f}");
        assert_eq!(visible("abc\u{202e}gpj.exe"), "abc\\u{202e}gpj.exe");
        assert_eq!(visible_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
        for plain in ["", "polar bear", "Bär's", "🐻\u{200d}❄\u{fe0f}", "北極熊", "a\\b"] {
            assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
        }
    }
}
