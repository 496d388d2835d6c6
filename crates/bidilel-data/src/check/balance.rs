//! How the instances are spread over the classes.

use bidilel::dataset::{Dataset, SplitKind};

use super::problem::{Problem, count, some};
use super::summary::{Distribution, Histogram, Named};

/// Instances a class.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Balance {
    /// The sizes of the smallest, the middle and the largest class; `None` without labels.
    pub sizes: Option<Distribution>,
    /// How many classes have which size.
    pub histogram: Option<Histogram>,
    /// The size of every class, in class order.
    pub counts: Named<usize>,
}

pub(super) fn describe(dataset: &Dataset, problems: &mut Vec<Problem>) -> Balance {
    if dataset.labels.is_empty() {
        return Balance { sizes: None, histogram: None, counts: Named(Vec::new()) };
    }
    let counts = sizes(dataset);
    find_empty(dataset, &counts, problems);
    let mut sizes: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    Balance {
        histogram: Histogram::of(&sizes),
        sizes: Distribution::of(&mut sizes),
        counts: Named(dataset.classes.iter().cloned().zip(counts).collect()),
    }
}

fn sizes(dataset: &Dataset) -> Vec<usize> {
    let mut counts = vec![0; dataset.classes.len()];
    dataset.labels.iter().for_each(|&label| counts[label] += 1);
    counts
}

/// A known class without instances cannot be learned; an unseen one is a candidate that is never right.
fn find_empty(dataset: &Dataset, counts: &[usize], problems: &mut Vec<Problem>) {
    let empty: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] == 0).collect();
    if empty.is_empty() {
        return;
    }
    let names = some(empty.iter().map(|&class| format!("`{}`", dataset.classes[class])));
    let message = match empty.len() {
        1 => format!("class {names} has no instances"),
        many => format!("{} without instances: {names}", count(many, "class is", "classes are")),
    };
    let known = |unseen: &[usize]| empty.iter().any(|class| !unseen.contains(class));
    let learned = dataset.splits.iter().any(|split| match &split.kind {
        SplitKind::Classes { unseen, .. } => known(unseen),
        SplitKind::Family { trials } => trials.iter().any(|unseen| known(unseen)),
        SplitKind::Instances { .. } => false,
    });
    let hint = if empty == [0] {
        "if the labels count from 1, write `one_based = true`; otherwise remove the class or give it instances"
    } else if learned {
        "list it under `unseen`, give it instances, or remove it from the class list: a known class without any cannot be learned"
    } else {
        "an unseen class needs none to be recognized; to have it scored, give it instances"
    };
    let problem =
        if learned { Problem::error("labels", message) } else { Problem::warning("labels", message) };
    problems.push(problem.with_hint(hint));
}
