//! What holds for the trainer of bilinear maps.

use super::*;
use crate::Silent;
use crate::krylov::tests::random as noise;

const LOSSES: [Loss; 4] = [Loss::All, Loss::Ranked, Loss::Worst, Loss::Drawn];

/// Classes with descriptions, and instances around a linear map of these.
struct Sample {
    instances: Mat<f64>,
    labels: Vec<usize>,
    classes: Mat<f64>,
}

fn sample(description_dim: usize) -> Sample {
    let (dim, count, per_class) = (12, 8, 20);
    // Unit vectors: a description inside the hull of the others can never have the largest compatibility.
    let mut classes = noise(description_dim, count, 1);
    crate::distance::normalize_columns(classes.as_mut());
    let centers = noise(dim, description_dim, 2) * &classes;
    let spread = noise(dim, count * per_class, 3);
    let labels: Vec<usize> = (0..count * per_class).map(|i| i % count).collect();
    let instances =
        Mat::from_fn(dim, labels.len(), |i, j| 1.0 + centers[(i, labels[j])] + 0.3 * spread[(i, j)]);
    Sample { instances, labels, classes }
}

impl Sample {
    fn data(&self) -> Ranked<'_, f64> {
        Ranked {
            instances: self.instances.as_ref(),
            scales: None,
            labels: &self.labels,
            classes: self.classes.as_ref(),
        }
    }
}

fn ranking(loss: Loss) -> Ranking {
    let rate = if loss == Loss::All { 0.2 } else { 0.04 };
    Ranking { loss, maps: if loss == Loss::Drawn { 3 } else { 1 }, rate, epochs: 12, seed: 5 }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let sample = sample(5);
    let (prepared, _) = Prepared::new(sample.data()).expect("they vary");
    let members: Vec<usize> = (0..50).collect();
    let draws: Vec<f64> = (0..50).map(|i| f64::from(i) / 50.0).collect();
    for loss in LOSSES {
        for count in [1, 3] {
            let maps = noise(12, count * 5, 9);
            let part = prepared.gradient(loss, maps.as_ref(), &members, &draws);
            let gradient = product(part.instances.as_ref(), part.derivatives.transpose());
            for (i, j) in [(0, 0), (3, 2), (11, 4), (7, count * 5 - 1)] {
                let moved = |by: f64| {
                    let mut maps = maps.clone();
                    maps[(i, j)] += by;
                    prepared.gradient(loss, maps.as_ref(), &members, &draws).loss
                };
                let difference = (moved(1e-7) - moved(-1e-7)) / 2e-7;
                assert!((difference - gradient[(i, j)]).abs() < 1e-5, "{loss:?} {count}: {difference}");
            }
        }
    }
}

#[test]
fn the_smoothed_loss_falls_in_every_epoch() {
    let sample = sample(5);
    for loss in LOSSES {
        let losses = ranking(loss).fit(sample.data(), &Silent).expect("maps").losses;
        let smoothed: Vec<f64> = losses.windows(5).map(|part| part.iter().sum::<f64>() / 5.0).collect();
        assert!(smoothed.windows(2).all(|pair| pair[1] < pair[0]), "{loss:?}: {losses:?}");
        assert!(losses[losses.len() - 1] < 0.7 * losses[0], "{loss:?}: {losses:?}");
    }
}

/// Scores of all instances by the maps as they are returned.
fn scores(found: &Bilinear, sample: &Sample) -> Mat<f64> {
    let mut best = Mat::from_fn(sample.classes.ncols(), sample.labels.len(), |_, _| f64::NEG_INFINITY);
    let centered = Mat::from_fn(12, sample.labels.len(), |i, j| sample.instances[(i, j)] - found.mean[i]);
    for map in &found.maps {
        let own = sample.classes.transpose() * map.transpose() * &centered;
        best = Mat::from_fn(best.nrows(), best.ncols(), |i, j| own[(i, j)].max(best[(i, j)]));
    }
    best
}

#[test]
fn most_instances_rank_their_class_first() {
    let sample = sample(5);
    for loss in LOSSES {
        let found = ranking(loss).fit(sample.data(), &Silent).expect("maps");
        let scores = scores(&found, &sample);
        let right = |j: usize| (0..8).all(|class| scores[(class, j)] <= scores[(sample.labels[j], j)]);
        let share =
            (0..sample.labels.len()).filter(|&j| right(j)).count() as f64 / sample.labels.len() as f64;
        assert!(share > 0.8, "{loss:?}: {share}");
    }
}

/// Descriptions of more dimensions than classes are reduced: the same descriptions, rotated into more dimensions, have
/// the same scores.
#[test]
fn reduced_descriptions_give_the_same_scores() {
    let plain = sample(8);
    let rotation = noise(20, 8, 4).qr().compute_thin_Q();
    let wide = Sample {
        classes: &rotation * &plain.classes,
        instances: plain.instances.clone(),
        labels: plain.labels.clone(),
    };
    for loss in [Loss::All, Loss::Ranked, Loss::Worst] {
        let found = [&plain, &wide]
            .map(|sample| scores(&ranking(loss).fit(sample.data(), &Silent).expect("maps"), sample));
        assert!((&found[0] - &found[1]).norm_max() < 1e-9, "{loss:?}");
    }
}

#[test]
fn maps_have_the_same_bits_for_any_number_of_threads_and_others_for_another_seed() {
    let sample = sample(5);
    let narrow = Mat::<f32>::from_fn(12, sample.labels.len(), |i, j| f32::from_f64(sample.instances[(i, j)]));
    for loss in LOSSES {
        let with = |threads, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            let Sample { labels, classes, .. } = &sample;
            let data = Ranked { instances: narrow.as_ref(), scales: None, labels, classes: classes.as_ref() };
            pool.install(|| Ranking { seed, ..ranking(loss) }.fit(data, &Silent).expect("maps"))
        };
        assert_eq!(with(1, 5), with(3, 5), "{loss:?}");
        assert_ne!(with(1, 5), with(1, 6), "{loss:?}");
    }
}

#[test]
fn scales_are_those_of_scaled_instances() {
    let sample = sample(5);
    let scales: Vec<f64> = (0..12).map(|i| 0.5 + f64::from(i) / 10.0).collect();
    let scaled = Mat::from_fn(12, sample.labels.len(), |i, j| scales[i] * sample.instances[(i, j)]);
    let fit = |instances: &Mat<f64>, scales| {
        let data = Ranked { instances: instances.as_ref(), scales, ..sample.data() };
        ranking(Loss::Ranked).fit(data, &Silent).expect("maps").maps.remove(0)
    };
    let (by_scales, by_hand) = (fit(&sample.instances, Some(&scales[..])), fit(&scaled, None));
    let folded = Mat::from_fn(12, 5, |i, j| scales[i] * by_hand[(i, j)]);
    assert!((by_scales - &folded).norm_max() < 1e-9 * folded.norm_max());
}

#[test]
fn what_does_not_vary_and_rates_beyond_all_bounds_are_errors() {
    let sample = sample(5);
    let same = Mat::from_fn(12, sample.labels.len(), |i, _| i as f64);
    let constant = ranking(Loss::Worst).fit(Ranked { instances: same.as_ref(), ..sample.data() }, &Silent);
    assert!(matches!(constant, Err(Error::Constant { .. })), "{constant:?}");
    let alike = Mat::from_fn(5, 8, |i, _| i as f64);
    let constant = ranking(Loss::Worst).fit(Ranked { classes: alike.as_ref(), ..sample.data() }, &Silent);
    assert!(matches!(constant, Err(Error::Constant { .. })), "{constant:?}");
    let far = Ranking { rate: 1e308, ..ranking(Loss::Worst) }.fit(sample.data(), &Silent);
    assert!(matches!(far, Err(Error::NotFinite { .. })), "{far:?}");
}
