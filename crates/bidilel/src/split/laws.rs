//! What holds for random divisions of any classes.

use std::collections::BTreeSet;

use faer::Mat;
use proptest::prelude::*;

use super::random::divisions;
use super::{Trial, UnseenClasses};
use crate::dataset::{Dataset, Split, SplitKind};
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
    let split = |kind| Split { name: "a".to_owned(), origin: "a test".to_owned(), kind };
    data.splits = vec![split(SplitKind::Family { trials: vec![vec![1, 4, 5], vec![2]] })];
    assert_eq!(count(&data), 3);
    let (train, test_seen, test_unseen) = (vec![0, 2], vec![1], vec![8, 9, 10, 11]);
    data.splits = vec![split(SplitKind::Instances { train, test_seen, test_unseen, validation: Vec::new() })];
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
    described.splits = vec![Split { name: "a".to_owned(), origin: String::new(), kind }];
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
