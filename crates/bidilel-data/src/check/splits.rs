//! The divisions into known and unseen.

use bidilel::dataset::{Dataset, Split, SplitKind};

use super::problem::{Problem, count, place, some};

/// A split in numbers; what its kind does not have is `None`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SplitSummary {
    /// Where it came from.
    pub origin: String,
    /// `classes`, `family` or `instances`.
    pub kind: &'static str,
    /// How many divisions there are.
    pub trials: usize,
    /// Known classes, of the first trial.
    pub known: usize,
    /// Unseen classes, of the first trial.
    pub unseen: usize,
    /// Known classes that tuning holds out.
    pub validation: usize,
    /// Instances to learn from, of the first trial.
    pub train: usize,
    /// Test instances of known classes.
    pub test_seen: Option<usize>,
    /// Test instances of unseen classes, of the first trial.
    pub test_unseen: usize,
    /// Instances on no side.
    pub unused: usize,
}

/// The side of a split that an instance is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Train,
    TestSeen,
    TestUnseen,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Train => "`train`",
            Self::TestSeen => "`test_seen`",
            Self::TestUnseen => "`test_unseen`",
        }
    }

    pub(super) fn by_class(dataset: &Dataset, unseen: &[usize]) -> Vec<Option<Self>> {
        let mut sides = vec![Some(Self::Train); dataset.classes.len()];
        unseen.iter().for_each(|&class| sides[class] = Some(Self::TestUnseen));
        dataset.labels.iter().map(|&label| sides[label]).collect()
    }

    /// The side of every instance; of the first trial where there are several.
    pub(super) fn of_instances(dataset: &Dataset, split: &Split) -> Vec<Option<Self>> {
        match &split.kind {
            SplitKind::Classes { unseen, .. } => Self::by_class(dataset, unseen),
            SplitKind::Family { trials } => {
                Self::by_class(dataset, trials.first().map_or(&[][..], |trial| trial))
            }
            SplitKind::Instances { train, test_seen, test_unseen, .. } => {
                let mut sides = vec![None; dataset.labels.len()];
                let lists =
                    [(train, Self::Train), (test_seen, Self::TestSeen), (test_unseen, Self::TestUnseen)];
                for (list, side) in lists {
                    list.iter().for_each(|&instance| sides[instance] = Some(side));
                }
                sides
            }
        }
    }
}

pub(super) fn describe(dataset: &Dataset, split: &Split, problems: &mut Vec<Problem>) -> SplitSummary {
    let at = format!("split `{}`", split.name);
    let sides = if dataset.labels.is_empty() { Vec::new() } else { Side::of_instances(dataset, split) };
    let on = |side: Option<Side>| sides.iter().filter(|&&own| own == side).count();
    let summary = SplitSummary {
        origin: place(&split.origin),
        kind: "classes",
        trials: 1,
        known: 0,
        unseen: 0,
        validation: 0,
        train: on(Some(Side::Train)),
        test_seen: None,
        test_unseen: on(Some(Side::TestUnseen)),
        unused: on(None),
    };
    let classes = dataset.classes.len();
    match &split.kind {
        SplitKind::Classes { unseen, validation } => {
            check_sides(&at, unseen.len(), classes, problems);
            let (known, unseen, validation) = (classes - unseen.len(), unseen.len(), validation.len());
            SplitSummary { known, unseen, validation, ..summary }
        }
        SplitKind::Family { trials } => {
            check_trials(&at, trials, classes, problems);
            let unseen = trials.first().map_or(0, Vec::len);
            SplitSummary { kind: "family", trials: trials.len(), known: classes - unseen, unseen, ..summary }
        }
        SplitKind::Instances { train, test_seen, test_unseen, validation } => {
            let lists = Lists { dataset, at: &at, train, test_seen, test_unseen };
            let (known, unseen) =
                if dataset.labels.is_empty() { (0, 0) } else { lists.check_classes(problems) };
            lists.check_overlap(problems);
            SplitSummary {
                kind: "instances",
                known,
                unseen,
                validation: validation.len(),
                train: train.len(),
                test_seen: Some(test_seen.len()),
                test_unseen: test_unseen.len(),
                ..summary
            }
        }
    }
}

fn check_sides(at: &str, unseen: usize, classes: usize, problems: &mut Vec<Problem>) {
    let message = match unseen {
        0 => "no class is unseen, so there is nothing to recognize",
        all if all == classes => "no class is known, so there is nothing to learn from",
        _ => return,
    };
    problems.push(Problem::error(at, message).with_hint("name the unseen classes, some of them and not all"));
}

fn check_trials(at: &str, trials: &[Vec<usize>], classes: usize, problems: &mut Vec<Problem>) {
    for (number, unseen) in trials.iter().enumerate() {
        check_sides(&format!("{at}, trial {number}"), unseen.len(), classes, problems);
    }
    let Some(first) = trials.first() else { return };
    if let Some(number) = trials.iter().position(|unseen| unseen.len() != first.len()) {
        let (one, other) = (first.len(), trials[number].len());
        let message = format!("trial 0 has {one} unseen classes, but trial {number} has {other}");
        let hint = "accuracies of trials with different numbers of classes do not average well";
        problems.push(Problem::warning(at, message).with_hint(hint));
    }
    let mut order: Vec<usize> = (0..trials.len()).collect();
    order.sort_by_key(|&number| &trials[number]);
    let repeats = order.windows(2).filter(|pair| trials[pair[0]] == trials[pair[1]]).count();
    if repeats > 0 {
        let message = count(repeats, "trial repeats another one", "trials repeat others");
        let hint = "a repeated division counts twice in the mean and makes its error look smaller";
        problems.push(Problem::warning(at, message).with_hint(hint));
    }
}

/// An instance-level split.
struct Lists<'a> {
    dataset: &'a Dataset,
    at: &'a str,
    train: &'a [usize],
    test_seen: &'a [usize],
    test_unseen: &'a [usize],
}

impl Lists<'_> {
    /// Looks for classes on a side where they must not be, and counts known and unseen ones.
    fn check_classes(&self, problems: &mut Vec<Problem>) -> (usize, usize) {
        let sizes = |instances: &[usize]| {
            let mut sizes = vec![0_usize; self.dataset.classes.len()];
            instances.iter().for_each(|&instance| sizes[self.dataset.labels[instance]] += 1);
            sizes
        };
        let [train, seen, unseen] = [self.train, self.test_seen, self.test_unseen].map(sizes);
        let classes = 0..self.dataset.classes.len();
        let named = |classes: &[usize]| {
            some(classes.iter().map(|&class| format!("`{}`", self.dataset.classes[class])))
        };
        let both: Vec<usize> =
            classes.clone().filter(|&class| unseen[class] > 0 && train[class] > 0).collect();
        if !both.is_empty() {
            let instances = both.iter().map(|&class| train[class]).sum();
            let message = format!(
                "{} for training: {} of {}",
                count(both.len(), "unseen class has instances", "unseen classes have instances"),
                count(instances, "instance", "instances"),
                named(&both)
            );
            let hint = "remove them from `train`: what is learned from is not unseen";
            problems.push(Problem::error(self.at, message).with_hint(hint));
        }
        let untrained: Vec<usize> = classes.filter(|&class| seen[class] > 0 && train[class] == 0).collect();
        if !untrained.is_empty() {
            let message = format!("`test_seen` has classes that are not in `train`: {}", named(&untrained));
            let hint = "move their instances to `test_unseen`, or add instances to `train`";
            problems.push(Problem::error(self.at, message).with_hint(hint));
        }
        for (name, list) in [("train", self.train), ("test_unseen", self.test_unseen)] {
            if list.is_empty() {
                problems.push(Problem::error(self.at, format!("`{name}` is empty")));
            }
        }
        let present = |sizes: &[usize]| sizes.iter().filter(|&&size| size > 0).count();
        (present(&train), present(&unseen))
    }

    /// Looks for instances on two sides.
    fn check_overlap(&self, problems: &mut Vec<Problem>) {
        let pairs = [
            (("train", self.train), ("test_seen", self.test_seen)),
            (("train", self.train), ("test_unseen", self.test_unseen)),
            (("test_seen", self.test_seen), ("test_unseen", self.test_unseen)),
        ];
        for ((one, left), (other, right)) in pairs {
            let Some((shared, first)) = overlap(left, right) else { continue };
            let instances = count(shared, "instance is", "instances are");
            let leak = if one == "train" { ": the test leaks into training" } else { "" };
            let message = format!("{instances} in both `{one}` and `{other}`, first instance {first}{leak}");
            let hint = format!("remove them from `{one}`");
            problems.push(Problem::error(self.at, message).with_hint(hint));
        }
    }
}

/// How many indices two lists share, and the smallest of those.
pub(crate) fn overlap(left: &[usize], right: &[usize]) -> Option<(usize, usize)> {
    let left: std::collections::HashSet<usize> = left.iter().copied().collect();
    let shared = right.iter().copied().filter(|index| left.contains(index));
    shared.fold(None, |found, index| {
        let (count, first) = found.unwrap_or((0, index));
        Some((count + 1, first.min(index)))
    })
}
