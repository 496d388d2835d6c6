//! Published numbers: facts, by the ids of rows and columns.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The numbers of one table.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// What they are.
    #[serde(default)]
    pub what: String,
    /// Trials that a spread is the standard error over; none where it is something else.
    pub trials: Option<usize>,
    /// Labels of the tables and figures that it is printed in; its name if there is none.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Ids of the columns, in the order of the lists.
    pub columns: Vec<String>,
    /// Numbers by the id of the row: `47.6`, `36.6 ± 1.1`, `-` for none; what follows a number is a mark: `†` for other
    /// unseen classes, `‡` for accuracy over instances, neither of which is tested, or any other.
    pub rows: BTreeMap<String, Vec<String>>,
}

/// One published number.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The number.
    pub value: f64,
    /// What stands after `±`.
    pub spread: Option<f64>,
    /// A mark after it, such as a dagger.
    pub mark: String,
    /// Decimals that it is printed with.
    pub decimals: usize,
}

impl Published {
    /// A number as it is printed; none for `-`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ' ' | '±' | '-')));
        let (numbers, mark) = text.split_at(end.unwrap_or(text.len()));
        let (value, spread) = match numbers.split_once('±') {
            Some((value, spread)) => (value.trim(), Some(spread.trim().parse().ok()?)),
            None => (numbers.trim(), None),
        };
        let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Self { value: value.parse().ok()?, spread, mark: mark.to_owned(), decimals })
    }
}

impl PublishedTable {
    /// The number of a cell.
    pub fn get(&self, row: &str, column: &str) -> Option<Published> {
        let place = self.columns.iter().position(|name| name == column)?;
        Published::parse(self.rows.get(row)?.get(place)?)
    }
}

/// The tables of the paper, by their labels in its source.
pub(crate) static PAPER: LazyLock<BTreeMap<String, PublishedTable>> = LazyLock::new(|| {
    toml::from_str(include_str!("../paper.toml")).expect("a test reads the file that is compiled in")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_with_spread_and_mark() {
        let printed = |text| Published::parse(text).expect("a number");
        assert_eq!(
            printed("54.7†"),
            Published { value: 54.7, spread: None, mark: "†".to_owned(), decimals: 1 }
        );
        let both = printed("80.5 ± 0.5‡");
        assert_eq!((both.value, both.spread, &both.mark[..]), (80.5, Some(0.5), "‡"));
        assert_eq!(printed("1000").decimals, 0);
        assert!(Published::parse("-").is_none() && Published::parse("n/a").is_none());
    }

    #[test]
    fn every_list_of_the_paper_has_a_number_or_a_dash_for_each_column() {
        for (table, numbers) in PAPER.iter() {
            for (row, list) in &numbers.rows {
                assert_eq!(list.len(), numbers.columns.len(), "{table} {row}");
                assert!(
                    list.iter().all(|text| text == "-" || Published::parse(text).is_some()),
                    "{table} {row}"
                );
            }
        }
    }
}
