//! Random divisions of a dataset's classes into known and unseen.
//!
//! Names are sorted before the draw, so that the order of classes in files makes no difference. Divisions are drawn one
//! after another, so that the first three of ten are those of three.

use std::collections::HashSet;
use std::fmt;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Trial, Trials};
use crate::dataset::{Dataset, SplitKind};
use crate::error::{Error, Result};

/// The name of the family that is drawn.
const NAME: &str = "random";
/// Keeps the draw apart from others of the same seed, such as that of folds.
const STREAM: u64 = 0x5350_4c49_5453;

/// Share of unseen classes where neither the user nor a split of the dataset says how many.
pub const UNSEEN_SHARE: f64 = 0.2;

/// How many classes are unseen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnseenClasses {
    /// This many.
    Count(usize),
    /// This share of the classes that have instances, rounded, at least one.
    Share(f64),
}

/// Which random divisions to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomSplits {
    /// How many.
    pub count: usize,
    /// Unseen classes of each. If not given, as many as the dataset's first split has with instances; where there is no
    /// split, [`UNSEEN_SHARE`].
    pub unseen: Option<UnseenClasses>,
    /// Seed of the draw.
    pub seed: u64,
}

/// How trials were drawn, for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnSplits {
    /// How many.
    pub count: usize,
    /// Unseen classes of each.
    pub unseen: usize,
    /// Classes that were divided: those with instances.
    pub classes: usize,
    /// Seed of the draw.
    pub seed: u64,
}

impl fmt::Display for DrawnSplits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, unseen, classes, seed } = self;
        write!(f, "{count} drawn with seed {seed}, {unseen} of {classes} classes unseen")
    }
}

impl Dataset {
    /// `count` different random divisions of the classes that have instances, named `random:0`, `random:1`, ...: all
    /// instances of known classes are learned from, all of unseen ones are tested. The sets of names depend on nothing
    /// but the names, `unseen` and `seed`.
    ///
    /// ```
    /// use bidilel::Synthetic;
    ///
    /// let dataset = Synthetic::preset("small")?.generate(0)?;
    /// let trials = dataset.random_splits(10, None, 0)?;
    /// assert_eq!(trials[3].name, "random:3");
    /// assert_eq!(trials[3].unseen.len(), dataset.trials(None)?[0].unseen.len());
    /// assert_eq!(trials[..3], dataset.random_splits(3, None, 0)?);
    /// # Ok::<(), bidilel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`] where no class would be known or unseen, or where there are fewer divisions than `count`.
    pub fn random_splits(
        &self,
        count: usize,
        unseen: Option<UnseenClasses>,
        seed: u64,
    ) -> Result<Vec<Trial>> {
        Ok(RandomSplits { count, unseen, seed }.draw(self)?.trials)
    }

    /// Whether each class has instances.
    fn populated(&self) -> Vec<bool> {
        let mut populated = vec![false; self.classes.len()];
        self.labels.iter().for_each(|&label| populated[label] = true);
        populated
    }

    /// Unseen classes of the first split that have instances; none where there is no split, or no such class.
    fn usual_unseen(&self, populated: &[bool]) -> Option<usize> {
        let unseen = match &self.splits.first()?.kind {
            SplitKind::Classes { unseen, .. } => unseen.clone(),
            SplitKind::Family { trials } => trials.first()?.clone(),
            SplitKind::Instances { test_unseen, .. } => test_unseen.iter().map(|&i| self.labels[i]).collect(),
        };
        let unseen: HashSet<usize> = unseen.into_iter().filter(|&class| populated[class]).collect();
        (!unseen.is_empty()).then_some(unseen.len())
    }
}

impl RandomSplits {
    /// Draws from a dataset.
    pub(super) fn draw(&self, dataset: &Dataset) -> Result<Trials> {
        let populated = dataset.populated();
        let mut classes: Vec<usize> = (0..dataset.classes.len()).filter(|&class| populated[class]).collect();
        classes.sort_by(|&a, &b| dataset.classes[a].cmp(&dataset.classes[b]));
        let unseen = self.unseen_of(dataset, &populated, classes.len())?;
        let possible = divisions(classes.len(), unseen);
        if self.count == 0 || self.count as u128 > possible {
            let divisions = format!("{unseen} of {} classes can be unseen in {possible} ways", classes.len());
            let expected = format!("between 1 and {possible}, because {divisions}");
            return wrong("random-splits", expected, self.count.to_string());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(STREAM);
        let (mut drawn, mut trials) = (HashSet::new(), Vec::with_capacity(self.count));
        while trials.len() < self.count {
            let mut order = classes.clone();
            order.shuffle(&mut rng);
            order.truncate(unseen);
            order.sort_unstable();
            // The same division twice would count one trial as two.
            if drawn.insert(order.clone()) {
                trials.push(divide(dataset, &classes, order, trials.len()));
            }
        }
        let how = DrawnSplits { count: self.count, unseen, classes: classes.len(), seed: self.seed };
        Ok(Trials { split: NAME.to_owned(), trials, drawn: Some(how) })
    }

    fn unseen_of(&self, dataset: &Dataset, populated: &[bool], classes: usize) -> Result<usize> {
        let usual = || dataset.usual_unseen(populated).map(UnseenClasses::Count);
        let asked = self.unseen.or_else(usual).unwrap_or(UnseenClasses::Share(UNSEEN_SHARE));
        let (unseen, found) = match asked {
            UnseenClasses::Count(count) => (count, count.to_string()),
            UnseenClasses::Share(share) if share > 0.0 && share < 1.0 => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a share of a count"
                )]
                let count = (classes as f64 * share).round() as usize;
                (count.max(1), format!("{share} of {classes}"))
            }
            UnseenClasses::Share(share) => {
                return wrong("random-unseen", "a share between 0 and 1".to_owned(), share.to_string());
            }
        };
        if unseen == 0 || unseen >= classes {
            let most = classes.saturating_sub(1);
            let expected = format!("between 1 and {most}, because {classes} classes have instances");
            return wrong("random-unseen", expected, found);
        }
        Ok(unseen)
    }
}

/// The trial of a draw; classes without instances have no part in it.
fn divide(dataset: &Dataset, classes: &[usize], unseen: Vec<usize>, number: usize) -> Trial {
    let is_unseen = |class: usize| unseen.binary_search(&class).is_ok();
    let side = |side: bool| {
        let instances = 0..dataset.labels.len();
        instances.filter(|&i| is_unseen(dataset.labels[i]) == side).collect()
    };
    let mut known: Vec<usize> = classes.iter().copied().filter(|&class| !is_unseen(class)).collect();
    known.sort_unstable();
    Trial {
        name: format!("{NAME}:{number}"),
        known,
        train: side(false),
        test: side(true),
        test_seen: Vec::new(),
        validation: Vec::new(),
        unseen,
    }
}

/// The number of ways to choose `chosen` of `classes`, or the largest number where that is larger.
fn divisions(classes: usize, chosen: usize) -> u128 {
    let mut ways = 1_u128;
    for step in 1..=chosen.min(classes - chosen) as u128 {
        // Each product of `step` consecutive numbers is divisible by `step` factorial.
        match ways.checked_mul(classes as u128 - step + 1) {
            Some(product) => ways = product / step,
            None => return u128::MAX,
        }
    }
    ways
}

fn wrong<R>(setting: &'static str, expected: String, found: String) -> Result<R> {
    Err(Error::Setting { setting, expected: expected.into(), found })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use faer::Mat;
    use proptest::prelude::*;

    use super::*;
    use crate::synthetic::Synthetic;

    /// Two instances per name, of classes in the given order; the names of `empty` have none.
    fn dataset(names: &[String], empty: &[&str]) -> Dataset {
        let labels: Vec<usize> =
            (0..names.len()).filter(|&i| !empty.contains(&&names[i][..])).flat_map(|i| [i, i]).collect();
        let features = Mat::<f32>::zeros(2, labels.len());
        let builder = Dataset::builder("zoo").classes(names.to_vec()).labels(labels).visual("cnn", features);
        builder.build().expect("it fits together")
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("class {i}")).collect()
    }

    fn unseen_names(dataset: &Dataset, trials: &[Trial]) -> Vec<BTreeSet<String>> {
        let of = |trial: &Trial| trial.unseen.iter().map(|&class| dataset.classes[class].clone()).collect();
        trials.iter().map(of).collect()
    }

    proptest! {
        #[test]
        fn divisions_are_whole_distinct_and_the_same_for_a_seed_in_any_order_of_classes(
            shuffled in Just(names(12)).prop_shuffle(),
            (count, unseen) in (1_usize..12, 1_usize..12),
            seed: u64,
        ) {
            let data = dataset(&shuffled, &[]);
            let trials = data.random_splits(count, Some(UnseenClasses::Count(unseen)), seed).expect("divisions");
            prop_assert_eq!(trials.len(), count);
            for (number, trial) in trials.iter().enumerate() {
                prop_assert_eq!(&trial.name, &format!("random:{number}"));
                prop_assert_eq!((trial.unseen.len(), trial.known.len()), (unseen, 12 - unseen));
                prop_assert!(trial.known.is_sorted() && trial.unseen.is_sorted());
                let both: BTreeSet<usize> = trial.known.iter().chain(&trial.unseen).copied().collect();
                prop_assert_eq!(both.len(), 12);
                prop_assert!(trial.train.iter().all(|&i| trial.known.contains(&data.labels[i])));
                prop_assert!(trial.test.iter().all(|&i| trial.unseen.contains(&data.labels[i])));
                prop_assert_eq!((trial.train.len(), trial.test.len()), (2 * (12 - unseen), 2 * unseen));
            }
            let sets = unseen_names(&data, &trials);
            prop_assert_eq!(sets.iter().collect::<BTreeSet<_>>().len(), count);
            let sorted = dataset(&names(12), &[]);
            let again = sorted.random_splits(count, Some(UnseenClasses::Count(unseen)), seed).expect("divisions");
            prop_assert_eq!(&unseen_names(&sorted, &again), &sets);
            let fewer = data.random_splits(count.div_ceil(2), Some(UnseenClasses::Count(unseen)), seed);
            prop_assert_eq!(&fewer.expect("divisions")[..], &trials[..count.div_ceil(2)]);
        }
    }

    #[test]
    fn another_seed_draws_others_and_every_class_is_unseen_about_as_often_as_others() {
        let data = dataset(&names(10), &[]);
        let drawn = |seed| data.random_splits(200, Some(UnseenClasses::Share(0.5)), seed).expect("divisions");
        assert_ne!(drawn(0), drawn(1));
        for class in 0..10 {
            let times = drawn(0).iter().filter(|trial| trial.unseen.contains(&class)).count();
            // Of 252 divisions 200 are drawn: 100 times are expected, with a standard deviation below 4.
            assert!((84..=116).contains(&times), "class {class}: {times}");
        }
    }

    #[test]
    fn all_divisions_can_be_drawn_and_no_more() {
        let data = dataset(&names(6), &[]);
        let half = Some(UnseenClasses::Count(3));
        assert_eq!(data.random_splits(20, half, 5).expect("all of them").len(), 20);
        let error = data.random_splits(21, half, 5).expect_err("there are 20").to_string();
        assert!(error.contains("random-splits must be between 1 and 20"), "{error}");
        assert!(data.random_splits(0, half, 5).is_err());
        assert_eq!((divisions(200, 100), divisions(50, 10), divisions(1, 1)), (u128::MAX, 10_272_278_170, 1));
    }

    #[test]
    fn as_many_are_unseen_as_in_the_first_split_or_a_fifth_without_one() {
        let count = |data: &Dataset| data.random_splits(1, None, 0).expect("a division")[0].unseen.len();
        let mut data = dataset(&names(12), &[]);
        assert_eq!(count(&data), 2, "a fifth of 12, rounded");
        let split = |kind| crate::dataset::Split { name: "a".to_owned(), origin: "a test".to_owned(), kind };
        data.splits = vec![split(SplitKind::Family { trials: vec![vec![1, 4, 5], vec![2]] })];
        assert_eq!(count(&data), 3);
        let (train, test_seen, test_unseen) = (vec![0, 2], vec![1], vec![8, 9, 10, 11]);
        data.splits =
            vec![split(SplitKind::Instances { train, test_seen, test_unseen, validation: Vec::new() })];
        assert_eq!(count(&data), 2, "two classes of four instances");
        let small = Synthetic::default().generate(0).expect("a dataset");
        assert_eq!(count(&small), small.trials(None).expect("a split")[0].unseen.len());
    }

    #[test]
    fn classes_without_instances_are_neither_known_nor_unseen() {
        let data = dataset(&names(6), &["class 1", "class 4"]);
        for trial in data.random_splits(4, Some(UnseenClasses::Count(1)), 3).expect("four divisions") {
            assert_eq!((trial.known.len(), trial.unseen.len()), (3, 1));
            assert!(trial.known.iter().chain(&trial.unseen).all(|class| ![1, 4].contains(class)));
        }
        let mut described = data.clone();
        let kind = SplitKind::Classes { unseen: vec![1, 4], validation: Vec::new() };
        described.splits = vec![crate::dataset::Split { name: "a".to_owned(), origin: String::new(), kind }];
        assert_eq!(described.random_splits(1, None, 0).expect("a fifth of four")[0].unseen.len(), 1);
    }

    #[test]
    fn counts_and_shares_that_leave_a_side_empty_are_errors() {
        let data = dataset(&names(4), &[]);
        for unseen in [
            UnseenClasses::Count(0),
            UnseenClasses::Count(4),
            UnseenClasses::Share(0.9),
            UnseenClasses::Share(0.0),
            UnseenClasses::Share(1.0),
            UnseenClasses::Share(f64::NAN),
        ] {
            let error = data.random_splits(1, Some(unseen), 0).expect_err("a side is empty").to_string();
            assert!(error.starts_with("random-unseen must be"), "{unseen:?}: {error}");
        }
        assert!(dataset(&names(1), &[]).random_splits(1, None, 0).is_err());
    }
}
