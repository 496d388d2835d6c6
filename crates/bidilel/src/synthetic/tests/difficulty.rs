//! Tasks get harder with every knob that should make them so.

use faer::Mat;
use faer::prelude::Solve;

use super::*;

/// Per-class accuracy of ridge regression from attributes to class means, then the nearest mean.
fn accuracy(dataset: &Dataset, view: &str) -> f64 {
    let unseen = unseen(dataset);
    let known: Vec<usize> = (0..dataset.classes.len()).filter(|c| !unseen.contains(c)).collect();
    let features: Vec<Vec<f64>> =
        rows(dataset.visual(Some(view)).expect("a view of the task")).into_iter().map(unit).collect();
    let dim = features[0].len();
    let of_class = |class: usize| {
        features.iter().zip(&dataset.labels).filter(move |&(_, &label)| label == class).map(|(row, _)| row)
    };
    let means: Vec<Vec<f64>> = known.iter().map(|&class| mean(of_class(class), dim)).collect();
    let center = mean(means.iter(), dim);

    let vectors = &dataset.semantic[0].vectors;
    let semantics: Vec<Vec<f64>> =
        (0..dataset.classes.len()).map(|c| unit(vectors.col_as_slice(c).to_vec())).collect();
    let semantic_center = mean(known.iter().map(|&c| &semantics[c]), vectors.nrows());
    let dot = |a: usize, b: usize| -> f64 {
        let centered = semantics[a].iter().zip(&semantics[b]).zip(&semantic_center);
        centered.map(|((a, b), m)| (a - m) * (b - m)).sum()
    };
    let count = known.len();
    let gram = Mat::from_fn(count, count, |i, j| dot(known[i], known[j]) + if i == j { 0.3 } else { 0.0 });
    let targets = Mat::from_fn(count, dim, |i, d| means[i][d] - center[d]);
    let cross = Mat::from_fn(unseen.len(), count, |u, k| dot(unseen[u], known[k]));
    let prototypes = cross * gram.partial_piv_lu().solve(&targets);

    let distance = |row: &[f64], u: usize| -> f64 {
        (0..dim).map(|d| (row[d] - center[d] - prototypes[(u, d)]).powi(2)).sum()
    };
    let nearest = |row: &[f64]| {
        (0..unseen.len())
            .min_by(|&a, &b| distance(row, a).total_cmp(&distance(row, b)))
            .expect("some class is unseen")
    };
    let hit_rate = |u: usize| {
        let hits: Vec<bool> = of_class(unseen[u]).map(|row| nearest(row) == u).collect();
        hits.iter().filter(|&&hit| hit).count() as f64 / hits.len() as f64
    };
    (0..unseen.len()).map(hit_rate).sum::<f64>() / unseen.len() as f64
}

/// A task with enough unseen classes for an accuracy to mean something.
fn ten_unseen() -> Synthetic {
    Synthetic { known: 30, unseen: 10, groups: 10, instances_per_class: 20.0, ..Synthetic::default() }
}

fn mean_accuracy(settings: &Synthetic) -> f64 {
    (0..4).map(|seed| accuracy(&draw(settings, seed), "cnn")).sum::<f64>() / 4.0
}

fn assert_falls(knob: &str, settings: &[Synthetic; 3]) {
    let accuracies = settings.each_ref().map(mean_accuracy);
    let falls = accuracies.windows(2).all(|pair| pair[0] > pair[1] + 0.05);
    assert!(falls, "accuracy does not fall with {knob}: {accuracies:.3?}");
    assert!(accuracies[0] > 0.4, "the easiest task is too hard: {accuracies:.3?}");
}

#[test]
fn accuracy_falls_with_the_semantic_gap() {
    assert_falls(
        "semantic_gap",
        &[0.0, 0.4, 0.9].map(|semantic_gap| Synthetic { semantic_gap, ..ten_unseen() }),
    );
}

#[test]
fn accuracy_falls_with_domain_shift() {
    assert_falls(
        "domain_shift",
        &[0.0, 1.0, 3.0].map(|domain_shift| Synthetic { domain_shift, ..ten_unseen() }),
    );
}

#[test]
fn accuracy_falls_with_spread() {
    assert_falls("spread", &[0.2, 0.9, 2.5].map(|spread| Synthetic { spread, ..ten_unseen() }));
}
