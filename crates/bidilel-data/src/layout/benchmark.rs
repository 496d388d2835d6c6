//! The standard splits (SS) that the literature reports on, by the names of the classes.
//!
//! # References
//!
//! Akata, Reed, Walter, Lee, Schiele 2015 for CUB (150 known classes, 50 unseen); Lampert, Nickisch, Harmeling 2014 for
//! AwA (40 and 10), which AwA2 kept.

use crate::names::plain;

/// The number of classes of a benchmark, and its unseen ones.
const BENCHMARKS: [(usize, &str); 2] =
    [(200, include_str!("standard/cub.txt")), (50, include_str!("standard/awa.txt"))];

/// The unseen classes of the standard split, ascending, if these are the classes of a benchmark that is known.
pub(super) fn standard(classes: &[String]) -> Option<Vec<usize>> {
    let names: Vec<String> = classes.iter().map(|class| plain(class)).collect();
    BENCHMARKS.iter().find_map(|&(count, unseen)| {
        let find = |name: &str| names.iter().position(|own| *own == plain(name));
        let mut unseen = unseen.lines().map(find).collect::<Option<Vec<usize>>>()?;
        unseen.sort_unstable();
        (count == names.len()).then_some(unseen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_is_known_by_all_of_its_classes() {
        let named: Vec<&str> = BENCHMARKS[1].1.lines().collect();
        let mut classes: Vec<String> = (0..40).map(|number| format!("other {number}")).collect();
        classes.extend(named.iter().rev().map(|name| name.replace('+', " ").to_uppercase()));
        assert_eq!(standard(&classes), Some((40..50).collect()));
        classes.push("one more".to_owned());
        assert_eq!(standard(&classes), None);
        assert_eq!((named.len(), BENCHMARKS[0].1.lines().count()), (10, 50));
    }
}
