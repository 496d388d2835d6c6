//! The mapping from several starts.

use bidilel::bottom_up::LatentSpaceLearner;
use bidilel::top_down::{ClassEmbedder, Init, Krr, Lsm, Optimizer, stress};
use bidilel::{Landmarks, Mat, Task};
use bidilel_math::Silent;

use crate::support::{learners, task};

/// The landmarks of a task in a latent space of a few dimensions, and in one of more dimensions than known classes.
fn spaces(task: &Task) -> Vec<Landmarks> {
    let learners = learners();
    let wide = learners.last().expect("features as they are");
    [&learners[0], wide]
        .map(|learner| {
            let space = learner.fit(&task.training(), &Silent).expect("a space");
            let (features, labels) = (task.train.features.as_ref(), &task.train.labels);
            Landmarks::of(&space, features, labels, task.known.len()).expect("landmarks")
        })
        .to_vec()
}

fn embedded(task: &Task, landmarks: &Landmarks, lsm: &Lsm) -> (Mat<f64>, f64) {
    let found = lsm.embed(landmarks, &task.semantics, &Silent).expect("an embedding").points;
    let cost = stress(landmarks.points.as_ref(), found.as_ref(), &task.semantics.distances);
    (found, cost)
}

#[test]
fn more_starts_never_raise_the_stress_and_sometimes_lower_it() {
    let mut lowered = 0;
    for seed in 0..4 {
        let task = task(seed);
        for landmarks in spaces(&task) {
            for init in [Init::WeightedMean, Init::Random { seed: 5 }, Init::Krr] {
                let with = |starts: usize| {
                    let lsm = Lsm { init, starts, starts_seed: Some(9), ..Lsm::default() };
                    embedded(&task, &landmarks, &lsm).1
                };
                let costs = [1, 2, 4, 8].map(with);
                // The cost of the embedding is computed again, pair by pair: equal up to rounding.
                assert!(
                    costs.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-10)),
                    "{init:?}: {costs:?}"
                );
                lowered += usize::from(costs[3] < 0.999 * costs[0]);
            }
        }
    }
    assert!(lowered > 0, "otherwise nothing was tested");
}

#[test]
fn one_start_is_what_it_was_whatever_the_seed_of_others() {
    let task = task(2);
    for landmarks in spaces(&task) {
        for optimizer in [Optimizer::Lbfgs, Optimizer::Smacof] {
            let one = Lsm { optimizer, ..Lsm::default() };
            let seeded = Lsm { starts_seed: Some(7), ..one.clone() };
            assert_eq!(embedded(&task, &landmarks, &one), embedded(&task, &landmarks, &seeded));
        }
    }
}

#[test]
fn the_seed_decides_the_starts_after_the_first() {
    let task = task(3);
    let landmarks = spaces(&task).pop().expect("two spaces");
    let points = |seed| {
        let lsm = Lsm { starts: 3, starts_seed: Some(seed), max_iterations: 3, ..Lsm::default() };
        embedded(&task, &landmarks, &Lsm { init: Init::Random { seed: 1 }, ..lsm }).0
    };
    assert_eq!(points(1), points(1));
    assert!((2..12).any(|seed| points(seed) != points(1)));
}

#[test]
fn from_kernel_ridge_regression_the_mapping_starts_at_its_embedding_and_descends() {
    let task = task(1);
    for landmarks in spaces(&task) {
        let regressed = Krr::default().embed(&landmarks, &task.semantics, &Silent).expect("points").points;
        let at = stress(landmarks.points.as_ref(), regressed.as_ref(), &task.semantics.distances);
        let krr = Lsm { init: Init::Krr, ..Lsm::default() };
        let still = Lsm { max_iterations: 0, ..krr.clone() };
        let (start, _) = embedded(&task, &landmarks, &still);
        assert!((&start - &regressed).norm_max() < 1e-9);
        assert!(embedded(&task, &landmarks, &krr).1 < at);
    }
}

#[test]
fn no_start_at_all_is_an_error() {
    let task = task(0);
    let landmarks = &spaces(&task)[0];
    let none = Lsm { starts: 0, ..Lsm::default() };
    let error = none.embed(landmarks, &task.semantics, &Silent).expect_err("nowhere to start").to_string();
    assert!(error.contains("starts must be at least 1"), "{error}");
}
