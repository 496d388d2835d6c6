//! Shares of classes by name: typed as `CLASS=SHARE`, or in a file that is read here.
//!
//! A `.json` file is an object of numbers by class. Any other file is a table of two columns, class and share; a first line
//! whose share is no number is a header.

use std::path::Path;

use anyhow::{Context, Result, bail};
use bidilel_data::composed_name;
use serde_json::{Map, Value};

use crate::input;

/// The shares as `CLASS=SHARE`, from the file where one is named.
pub(crate) fn resolved(texts: &[String]) -> Result<Vec<String>> {
    let [file] = texts else { return Ok(composed(texts)) };
    let path = Path::new(file);
    if file.contains('=') && !path.is_file() {
        return Ok(composed(texts));
    }
    let text = input::text(path)?;
    let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let shares = if json { from_json(&text) } else { from_table(&text) };
    shares.with_context(|| format!("`{file}`: not shares of classes"))
}

/// Names in the form in which they are compared.
fn composed(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| composed_name(text)).collect()
}

fn from_json(text: &str) -> Result<Vec<String>> {
    let shares: Map<String, Value> = serde_json::from_str(text)?;
    let one = |(class, share): (&String, &Value)| match share {
        Value::Number(share) => Ok(format!("{}={share}", composed_name(class))),
        other => bail!("class `{class}`: expected a number, found {other}"),
    };
    shares.iter().map(one).collect()
}

fn from_table(text: &str) -> Result<Vec<String>> {
    let text = text.trim_start_matches('\u{feff}');
    let tabs = text.lines().next().is_some_and(|line| line.contains('\t'));
    let mut table = csv::ReaderBuilder::new();
    table.has_headers(false).flexible(true).delimiter(if tabs { b'\t' } else { b',' });
    let mut shares = Vec::new();
    for (index, record) in table.from_reader(text.as_bytes()).records().enumerate() {
        let record = record?;
        let line = record.position().map_or(index as u64 + 1, csv::Position::line);
        let [class, share] = record.iter().collect::<Vec<_>>()[..] else {
            bail!("line {line}: expected a class and its share, found {} fields", record.len());
        };
        match share.trim().parse::<f64>() {
            Ok(_) => shares.push(format!("{}={}", composed_name(class), share.trim())),
            Err(_) if index == 0 => {}
            Err(_) => bail!("line {line}: expected a number, found `{share}`"),
        }
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_header_or_none_and_names_may_hold_commas() {
        let expected = ["cat=3", "Brewer, blackbird=0.5"];
        for text in [
            "cat,3\n\"Brewer, blackbird\",0.5\n",
            "\u{feff}class,share\r\ncat,3\r\n\"Brewer, blackbird\", 0.5\r\n",
            "cat\t3\nBrewer, blackbird\t0.5",
        ] {
            assert_eq!(from_table(text).expect("a table"), expected, "{text}");
        }
        let failure = |text: &str| from_table(text).expect_err("no shares").to_string();
        assert_eq!(failure("cat,1\ndog,many\n"), "line 2: expected a number, found `many`");
        assert_eq!(failure("cat,1,2\n"), "line 1: expected a class and its share, found 3 fields");
    }

    #[test]
    fn objects_have_numbers() {
        assert_eq!(from_json(r#"{"cat": 3, "dog": 0.5}"#).expect("an object"), ["cat=3", "dog=0.5"]);
        assert!(from_json(r#"{"cat": "3"}"#).expect_err("text").to_string().contains("`cat`"));
        assert!(from_json("[1]").is_err());
    }

    #[test]
    fn names_are_composed_and_single_texts_with_a_share_are_no_files() {
        let decomposed = ["e\u{301}tourneau=1".to_owned()];
        assert_eq!(resolved(&decomposed).expect("typed"), ["\u{e9}tourneau=1"]);
        assert!(resolved(&["no-such-file.csv".to_owned()]).is_err());
    }
}
