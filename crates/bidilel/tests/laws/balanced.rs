//! Balanced refinement on batches of any make-up: it may help, and never does much harm.

use std::sync::Mutex;

use bidilel::metrics::accuracy;
use bidilel::post::{Balanced, Batch, Post};
use bidilel::recognize::Recognition;
use bidilel_math::Observer;
use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const DIM: usize = 16;
/// A refinement is much worse where it loses more than this.
const MUCH: f64 = 0.03;

/// A batch around ten classes, which were embedded somewhat beside their instances.
struct Drawn {
    before: Recognition,
    truth: Vec<usize>,
    sizes: Vec<usize>,
}

fn drawn(sizes: &[usize], noise: f64, seed: u64) -> Drawn {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut gaussian = |scale: f64| -> f64 {
        let value: f64 = StandardNormal.sample(&mut random);
        scale * value
    };
    let centers = Mat::from_fn(DIM, sizes.len(), |_, _| gaussian(1.0));
    let embedding = Mat::from_fn(DIM, sizes.len(), |i, k| centers[(i, k)] + gaussian(0.7));
    let truth: Vec<usize> = sizes.iter().enumerate().flat_map(|(k, &size)| vec![k; size]).collect();
    let points = Mat::from_fn(DIM, truth.len(), |i, j| centers[(i, truth[j])] + gaussian(noise));
    let unit = |mut matrix: Mat<f64>| {
        bidilel_math::distance::normalize_columns(matrix.as_mut());
        matrix
    };
    let before = Recognition::nearest(unit(points).into(), unit(embedding));
    Drawn { before, truth, sizes: sizes.to_vec() }
}

/// Of classes, and of instances.
fn accuracies(drawn: &Drawn, found: &Recognition) -> [f64; 2] {
    let found = accuracy(&found.labels(), &drawn.truth, drawn.sizes.len());
    [found.per_class, found.per_image]
}

/// Batches whose classes are equally frequent, and such as are not at all.
fn make_ups() -> Vec<(&'static str, Vec<usize>)> {
    let but_first = |first: usize, others: usize| {
        let mut sizes = vec![others; 10];
        sizes[0] = first;
        sizes
    };
    vec![
        ("equal", vec![50; 10]),
        ("100 to 1", but_first(500, 5)),
        ("1 to 100", but_first(1, 100)),
        ("halves of 10 to 1", (0..10).map(|k| if k < 5 { 100 } else { 10 }).collect()),
        ("geometric", (0..10).map(|k| 400 >> k).map(|size: usize| size.max(1)).collect()),
        ("three of ten", (0..10).map(|k| if k < 3 { 150 } else { 0 }).collect()),
        ("one class alone", but_first(200, 0)),
        ("one of each", vec![1; 10]),
    ]
}

fn refined(settings: Balanced, drawn: &Drawn, watch: &dyn Observer) -> Recognition {
    let classes: Vec<String> = (0..drawn.sizes.len()).map(|k| format!("class {k}")).collect();
    let batch = Batch::of(&classes, watch);
    Post::Balanced(settings).refine_batch(drawn.before.clone(), &batch).expect("a refinement")
}

/// What refinement adds to both accuracies, and what is noted about it.
fn gains(settings: Balanced, drawn: &Drawn) -> ([f64; 2], Vec<String>) {
    let notes = Notes::default();
    let found = refined(settings, drawn, &notes);
    let [after, before] = [&found, &drawn.before].map(|found| accuracies(drawn, found));
    ([after[0] - before[0], after[1] - before[1]], notes.0.into_inner().expect("no panic"))
}

/// Where the batch contradicts equal shares, they are given up, and classes stay nearer to their embeddings. A class of one
/// instance is a tenth of the accuracy per class.
#[test]
fn any_batch_is_refined_without_much_harm() {
    for (name, sizes) in make_ups() {
        for (noise, strength) in [0.4, 0.8].into_iter().flat_map(|noise| [0.0, 0.5].map(|s| (noise, s))) {
            let mut sum = 0.0;
            for seed in 0..10 {
                let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
                let ([per_class, per_image], notes) = gains(settings, &drawn(&sizes, noise, seed));
                let case = format!("{name}, {noise}, {strength}, {seed}: {per_class} {per_image} {notes:?}");
                assert!(per_image > -MUCH && per_class > -0.1 - MUCH, "{case}");
                sum += per_image;
            }
            assert!(sum > -1e-9, "{name}, {noise}, {strength}: {sum}");
        }
    }
}

/// Full strength believes in equal shares until the batch contradicts them: what it may lose is what it must move.
#[test]
fn full_strength_loses_no_more_than_the_bound_on_shares() {
    for (name, sizes) in make_ups() {
        for seed in 0..10 {
            let settings = Balanced { balanced_strength: 1.0, ..Balanced::default() };
            let ([_, per_image], _) = gains(settings, &drawn(&sizes, 0.8, seed));
            assert!(per_image > -0.3, "{name}, {seed}: {per_image}");
        }
    }
}

/// What speaks against a batch is said, and nothing of a batch that is as assumed.
#[test]
fn batches_that_are_small_or_uneven_are_noted() {
    for (name, sizes) in make_ups() {
        let notes = gains(Balanced::default(), &drawn(&sizes, 0.4, 0)).1;
        let expected = match name {
            "equal" | "1 to 100" => None,
            "one of each" => Some("10 instances of 10 classes"),
            _ => Some("do not look equally frequent"),
        };
        assert_eq!(notes.len(), usize::from(expected.is_some()), "{name}: {notes:?}");
        assert!(expected.is_none_or(|words| notes[0].contains(words)), "{name}: {notes:?}");
    }
}

/// Shares that are the true ones are never much worse than no refinement, at any strength.
#[test]
fn true_shares_do_no_harm() {
    for (name, sizes) in make_ups() {
        for (seed, balanced_strength) in (0..10).flat_map(|seed| [0.5, 1.0].map(|strength| (seed, strength)))
        {
            let drawn = drawn(&sizes, 0.8, seed);
            let prior = Some(shares(&sizes));
            let given = Balanced { balanced_prior: prior, balanced_strength, ..Balanced::default() };
            let ([_, per_image], _) = gains(given, &drawn);
            assert!(per_image > -MUCH, "{name}, seed {seed}, strength {balanced_strength}: {per_image}");
        }
    }
}

fn shares(sizes: &[usize]) -> Vec<String> {
    sizes.iter().enumerate().map(|(k, size)| format!("class {k}={size}")).collect()
}

/// Notes, in order.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, message: &str) {
        self.0.lock().expect("no panic").push(message.to_owned());
    }
}
