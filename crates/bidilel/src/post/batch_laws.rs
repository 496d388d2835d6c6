//! What refiners of latent points answer in batches that say little, or that are not at all balanced.

use faer::Mat;

use super::{Balanced, Batch, Post, SelfTraining, Structured};
use crate::recognize::Recognition;
use crate::settings::BalancedShares;

fn wave(i: usize, j: usize) -> f64 {
    ((i * 29 + j * 13) as f64 * 0.517).sin()
}

fn refiners() -> Vec<Post> {
    let balanced = |balanced_strength, balanced_shares| {
        Post::Balanced(Balanced { balanced_strength, balanced_shares, ..Balanced::default() })
    };
    let mut all = vec![Post::SelfTraining(SelfTraining::default()), Post::Structured(Structured::default())];
    for strength in [0.0, 0.5, 1.0] {
        all.extend(
            [BalancedShares::Equal, BalancedShares::Estimated].map(|shares| balanced(strength, shares)),
        );
    }
    all
}

/// Points of unit norm and three classes, as they come before refinement.
fn batch(points: Mat<f64>) -> Recognition {
    let embedding = Mat::from_fn(4, 3, |i, j| if i == j { 1.0 } else { 0.2 });
    let [points, embedding] = [points, embedding].map(|mut columns| {
        bidilel_math::distance::normalize_columns(columns.as_mut());
        columns
    });
    Recognition::nearest(points.into(), embedding)
}

fn answers(refiner: &Post, before: &Recognition) -> Vec<usize> {
    refiner.refine_batch(before.clone(), &Batch::UNNAMED).expect("refined").labels()
}

/// Instances of some classes, near to these.
fn around(truth: &[usize]) -> Recognition {
    batch(Mat::from_fn(4, truth.len(), |i, j| if i == truth[j] { 1.0 } else { 0.2 } + 0.1 * wave(i, j)))
}

/// Also where they are about as far from every class, so that equal shares would divide them among all.
#[test]
fn one_instance_and_equal_instances_keep_their_answer() {
    let mut all = refiners();
    all.push(Post::SelfTraining(SelfTraining { self_training_neighbors: 1, self_training_rounds: 3 }));
    for (refiner, seed) in all.iter().flat_map(|one| (0..20).map(move |seed| (one, seed))) {
        for (middle, count) in
            [0.0, 20.0].into_iter().flat_map(|middle| [1, 2, 12, 40].map(|count| (middle, count)))
        {
            let before = batch(Mat::from_fn(4, count, |i, _| middle + wave(i, seed)));
            assert_eq!(
                answers(refiner, &before),
                before.labels(),
                "{refiner:?}, {count} of point {seed}, {middle}"
            );
        }
    }
}

/// Self-training that takes a hundred instances for a class takes all of them for every class, which keeps their order.
#[test]
fn instances_of_one_class_alone_keep_their_name() {
    for (refiner, class) in refiners().iter().flat_map(|one| [0, 1, 2].map(|class| (one, class))) {
        let truth = vec![class; 60];
        assert_eq!(answers(refiner, &around(&truth)), truth, "{refiner:?}");
    }
}

#[test]
fn a_hundred_instances_of_a_class_to_one_of_each_other_keep_their_names() {
    let truth: Vec<usize> = (0..102_usize).map(|i| i.saturating_sub(99).min(2)).collect();
    for refiner in refiners() {
        assert_eq!(answers(&refiner, &around(&truth)), truth, "{refiner:?}");
    }
}
