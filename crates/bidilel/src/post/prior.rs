//! Shares of classes that are known before a batch is seen, by name.
//!
//! A share may be any number that is not negative, such as a count: shares are divided by their sum over the candidate
//! classes. Classes that are not candidates may have shares too, so that one list serves several splits.

use std::collections::BTreeMap;

use crate::error::{Expected, Result};
use crate::settings::{Range, setting};

/// A share of zero counts as this part of an equal share: the price of a class that nothing may be called stays finite.
const LEAST_SHARE: f64 = 1e-6;
/// Names that a message lists.
const LISTED: usize = 3;

/// The share of each class.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior(BTreeMap<String, f64>);

impl Prior {
    /// From `CLASS=SHARE`, one text per class; the last `=` separates the two.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for a text of another form, a share that is negative or not finite, a class that is given twice,
    /// and shares that are all zero.
    pub fn parse(texts: &[String]) -> Result<Self> {
        let wrong = |found: String| wrong(Range::Shares.into(), found);
        let mut shares = BTreeMap::new();
        for text in texts {
            let (class, share) = text.rsplit_once('=').ok_or_else(|| wrong(format!("`{text}`")))?;
            let share = share.trim().parse().ok().filter(|share: &f64| *share >= 0.0 && share.is_finite());
            let share = share.ok_or_else(|| wrong(format!("`{text}`")))?;
            if shares.insert(class.trim().to_owned(), share).is_some() {
                return Err(wrong(format!("`{}` twice", class.trim())));
            }
        }
        if shares.values().all(|share| *share == 0.0) {
            return Err(wrong(if texts.is_empty() { "no class" } else { "zeros only" }.to_owned()));
        }
        Ok(Self(shares))
    }

    /// Fails where it names a class that is none of these.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the names.
    pub fn require_among<'n>(&self, classes: impl IntoIterator<Item = &'n String>) -> Result<()> {
        let known: std::collections::HashSet<&str> = classes.into_iter().map(String::as_str).collect();
        let unknown: Vec<&str> =
            self.0.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(wrong("of classes that there are".into(), format!("a share of {}", listed(&unknown))))
    }

    /// The shares of `count` candidate classes of these names, in their order, summing to 1.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] where a candidate has no share or no name, or all of them have a share of zero.
    pub(super) fn of(&self, candidates: &[String], count: usize) -> Result<Vec<f64>> {
        if candidates.len() != count {
            let found = format!("{} names for {count} candidates", candidates.len());
            return Err(wrong("used where candidate classes have names".into(), found));
        }
        let missing: Vec<&str> =
            candidates.iter().map(String::as_str).filter(|name| !self.0.contains_key(*name)).collect();
        if !missing.is_empty() {
            let found = format!("none for {}", listed(&missing));
            return Err(wrong("a share for every candidate class".into(), found));
        }
        let shares: Vec<f64> = candidates.iter().map(|name| self.0[name]).collect();
        if shares.iter().all(|share| *share == 0.0) && !shares.is_empty() {
            return Err(wrong("above zero for a candidate class".into(), "zeros only".to_owned()));
        }
        Ok(divided(&shares))
    }

    /// The shares of classes with these numbers of instances, of which there is one at least.
    pub(super) fn counted(counts: &[usize]) -> Vec<f64> {
        divided(&counts.iter().map(|&count| count as f64).collect::<Vec<_>>())
    }
}

/// Shares that sum to 1, none of them zero.
fn divided(shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().sum();
    let least = LEAST_SHARE / shares.len() as f64;
    let raised: Vec<f64> = shares.iter().map(|share| (share / sum).max(least)).collect();
    let all: f64 = raised.iter().sum();
    raised.iter().map(|share| share / all).collect()
}

fn wrong(expected: Expected, found: String) -> crate::Error {
    setting("balanced_prior").expect("a row of the table").wrong(expected, found)
}

/// The first names, and how many there are besides.
fn listed(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    shown.extend((names.len() > LISTED).then(|| format!("{} more", names.len() - LISTED)));
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn prior(list: &[&str]) -> Result<Prior> {
        Prior::parse(&texts(list))
    }

    #[test]
    fn shares_are_joined_by_name_and_sum_to_one_over_the_candidates() {
        let counts = prior(&["cat=30", "a=b=10", "dog=60"]).unwrap();
        assert_eq!(counts.of(&texts(&["dog", "cat"]), 2).unwrap(), [2.0 / 3.0, 1.0 / 3.0]);
        let all = counts.of(&texts(&["a=b", "cat", "dog"]), 3).unwrap();
        all.iter().zip([0.1, 0.3, 0.6]).for_each(|(found, share)| assert!((found - share).abs() < 1e-12));
    }

    #[test]
    fn a_share_of_zero_is_very_small_and_not_nothing() {
        let shares = prior(&["cat=0", "dog=1"]).unwrap().of(&texts(&["cat", "dog"]), 2).unwrap();
        assert!(shares[0] > 0.0 && shares[0] < 1e-6 && (shares[0] + shares[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_share_is_an_error_that_says_so() {
        for (list, found) in [
            (&["cat"][..], "found `cat`"),
            (&["cat=-1"], "found `cat=-1`"),
            (&["cat=NaN"], "found `cat=NaN`"),
            (&["cat=inf"], "found `cat=inf`"),
            (&["cat=1", " cat =2"], "found `cat` twice"),
            (&["cat=0", "dog=0"], "found zeros only"),
            (&[], "found no class"),
        ] {
            let failure = prior(list).unwrap_err().to_string();
            assert!(failure.starts_with("balanced-prior must be CLASS=SHARE"), "{failure}");
            assert!(failure.ends_with(found), "{failure}");
        }
    }

    #[test]
    fn missing_and_unknown_classes_are_named() {
        let prior = prior(&["cat=1", "dgo=1"]).unwrap();
        let names = texts(&["ant", "bat", "cat", "dog", "eel", "fox"]);
        let failure = prior.of(&names, names.len()).unwrap_err().to_string();
        assert!(failure.ends_with("found none for `ant`, `bat`, `dog`, 2 more"), "{failure}");
        let failure = prior.require_among(&names).unwrap_err().to_string();
        assert!(failure.ends_with("found a share of `dgo`"), "{failure}");
        assert!(prior.require_among(&texts(&["cat", "dgo", "eel"])).is_ok());
        let zeros = Prior::parse(&texts(&["cat=0", "dog=1"])).unwrap();
        assert!(zeros.of(&[], 1).unwrap_err().to_string().ends_with("found 0 names for 1 candidates"));
        assert!(zeros.of(&texts(&["cat"]), 1).unwrap_err().to_string().ends_with("found zeros only"));
    }
}
