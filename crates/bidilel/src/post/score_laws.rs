//! What holds for every refiner of scores alone, for their tests.

use faer::Mat;

use super::ScoreRefiner;
use crate::recognize::Scores;

/// Scores between -1 and 1, the same for the same seed.
pub(super) fn random_scores(classes: usize, instances: usize, seed: u64) -> Scores {
    let mut state = seed;
    let values = Mat::from_fn(classes, instances, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    });
    Scores { values }
}

/// Another order of the batch is another order of the same scores.
pub(super) fn keeps_order_of_instances(refiner: &impl ScoreRefiner) {
    let scores = random_scores(7, 23, 11);
    let place = |instance: usize| instance * 5 % 23;
    let shuffled = Scores { values: Mat::from_fn(7, 23, |class, i| scores.values[(class, place(i))]) };
    let [plain, shuffled] = [&scores, &shuffled].map(|scores| refiner.refine(scores).expect("scores").values);
    let expected = Mat::from_fn(7, 23, |class, i| plain[(class, place(i))]);
    assert!((shuffled - expected).norm_max() < 1e-12);
}

/// Batches from which nothing can be learned: the answers stay, and all scores are finite.
pub(super) fn degenerate(refiner: &impl ScoreRefiner) {
    let equal = |classes, instances| Scores { values: Mat::from_fn(classes, instances, |_, _| -0.7) };
    let zero = |classes, instances| Scores { values: Mat::zeros(classes, instances) };
    let batches = [
        random_scores(1, 9, 1),
        random_scores(1, 1, 2),
        equal(4, 6),
        equal(4, 1),
        zero(3, 5),
        zero(4, 0),
        zero(0, 0),
        // What one instance is nearest to is all that is known.
        Scores { values: faer::mat![[-0.9], [-0.2], [-0.5]] },
    ];
    for before in batches {
        let after = refiner.refine(&before).expect("scores");
        assert_eq!((after.classes(), after.instances()), (before.classes(), before.instances()));
        assert!(
            (0..after.instances()).all(|i| after
                .values
                .col_as_slice(i)
                .iter()
                .all(|value| value.is_finite()))
        );
        assert_eq!(after.labels(), before.labels(), "{before:?}");
    }
}
