//! What balanced refinement holds to: its objective, the order of instances, shares, and batches of any make-up.

use super::*;
use crate::post::Remarks;

fn wave(i: usize, j: usize) -> f64 {
    ((i * 29 + j * 13) as f64 * 0.517).sin()
}

fn latent(instances: usize) -> Latent {
    let embedding = Mat::from_fn(4, 3, |i, j| wave(i, j + 100));
    let points = Mat::from_fn(4, instances, |i, j| embedding[(i, j % 3)] + 0.6 * wave(i, j));
    Latent { points: points.into(), embedding, spaces: 1 }
}

/// Classes that are described much alike, and instances far around them: centers settle slowly.
fn slow() -> Latent {
    let embedding = Mat::from_fn(4, 3, |i, j| 0.1 * wave(i, j + 100) + if i == 0 { 1.0 } else { 0.0 });
    let points = Mat::from_fn(4, 60, |i, j| embedding[(i, j % 3)] + 1.5 * wave(i, j));
    Latent { points: points.into(), embedding, spaces: 1 }
}

fn with_points(latent: &Latent, points: Mat<f64>) -> Latent {
    Latent { points: points.into(), embedding: latent.embedding.clone(), spaces: 1 }
}

fn refine(settings: &Balanced, latent: &Latent) -> (Mat<f64>, Vec<usize>) {
    let refined = settings.refine(latent.clone(), &Batch::UNNAMED).expect("refined");
    let labels = refined.labels();
    (refined.latent.expect("points").embedding, labels)
}

#[test]
fn answers_are_the_classes_of_the_largest_assignment() {
    let cases = [1, 2].into_iter().flat_map(|spaces| [0.0, 0.5, 1.0].map(|strength| (spaces, strength)));
    for (spaces, strength) in cases {
        let before = Latent { spaces, ..latent(60) };
        let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
        let refined = settings.refine(before.clone(), &Batch::UNNAMED).expect("refined");
        let found = refined.latent.as_ref().expect("points");
        let mut start = before.embedding.clone();
        normalize_columns(start.as_mut());
        let clusters = settings.clusters(&found.points, &start, 0.3 * 20.0, strength, &[1.0 / 3.0; 3]);
        let values = settings.assignment(&clusters, &found.points);
        assert_eq!(refined.labels(), Scores { values: values.clone() }.labels(), "{spaces}, {strength}");
        // Their softmax, by which propagation begins, is the assignment.
        for (i, k) in (0..60).flat_map(|i| (0..3).map(move |k| (i, k))) {
            let share = |k: usize| (-refined.scores.values[(k, i)].powi(2) / (2.0 * 0.05)).exp();
            let sum: f64 = (0..3).map(share).sum();
            assert!((share(k) / sum - values[(k, i)]).abs() < 1e-6, "{spaces}, {strength}: {i}, {k}");
        }
    }
}

/// `$\sum_{ik} p_{ik} (c_k^\top y_i - \tau \log p_{ik} - \tau \rho \log (m_k / n \pi_k)) + \mu \frac nK \sum_k c_k^\top
/// b_k$` with `$m_k = \sum_i p_{ik}$` and $\rho = s / (1 - s)$: shares sum to 1, so that the rest of the penalty is 0. At full
/// strength the shares are held, and the penalty is nothing.
fn objective(
    settings: &Balanced,
    clusters: &Clusters,
    [points, start]: [&Mat<f64>; 2],
    shares: &[f64],
) -> f64 {
    let (count, strength) = (points.ncols(), settings.balanced_strength);
    let assigned = settings.assignment(clusters, points);
    let near = clusters.centers.transpose() * points;
    let mut sum = 0.0;
    for k in 0..shares.len() {
        let mass: f64 = (0..count).map(|i| assigned[(k, i)]).sum();
        let weight = if strength < 1.0 { strength / (1.0 - strength) } else { 0.0 };
        let price = weight * (mass / (count as f64 * shares[k])).ln();
        for i in 0..count {
            let share: f64 = assigned[(k, i)];
            let log = if share > 0.0 { share.ln() } else { 0.0 };
            sum += share * (near[(k, i)] - settings.balanced_temperature * (log + price));
        }
        sum += settings.balanced_pull * count as f64 / shares.len() as f64
            * (clusters.centers.col(k).transpose() * start.col(k));
    }
    sum
}

fn units(latent: &Latent) -> [Mat<f64>; 2] {
    [Mat::clone(&latent.points), latent.embedding.clone()].map(|mut columns| {
        normalize_columns(columns.as_mut());
        columns
    })
}

#[test]
fn a_round_never_lowers_the_objective_at_any_strength() {
    let [points, start] = units(&latent(50));
    for (balanced_strength, shares) in [0.0, 0.5, 0.9, 1.0]
        .into_iter()
        .flat_map(|s| [[1.0 / 3.0; 3], [0.5, 0.3, 0.2]].map(|shares| (s, shares)))
    {
        let value = |balanced_rounds: usize| {
            let settings = Balanced { balanced_strength, balanced_rounds, ..Balanced::default() };
            let found = settings.clusters(&points, &start, 0.3 * 50.0 / 3.0, balanced_strength, &shares);
            objective(&settings, &found, [&points, &start], &shares)
        };
        let values: Vec<f64> = (1..12).map(value).collect();
        assert!(values.windows(2).all(|two| two[1] >= two[0] - 1e-9), "{balanced_strength}: {values:?}");
        assert!(values[10] > values[0], "{balanced_strength}: {values:?}");
    }
}

/// Where rounds end a further one would change next to nothing, however many they were.
#[test]
fn rounds_end_where_the_objective_has_settled() {
    let [points, start] = units(&slow());
    let shares = [1.0 / 3.0; 3];
    for balanced_strength in [0.0, 0.5] {
        let clusters = |balanced_rounds: usize| {
            let settings = Balanced { balanced_strength, balanced_rounds, ..Balanced::default() };
            let found = settings.clusters(&points, &start, 0.3 * 20.0, balanced_strength, &shares);
            let value = objective(&settings, &found, [&points, &start], &shares);
            (found, value)
        };
        let (settled, end) = clusters(Balanced::default().balanced_rounds);
        assert!(settled.settled, "strength {balanced_strength}");
        let (early, before) = clusters(40);
        assert!(
            !early.settled && end > before * (1.0 + 1e-9),
            "strength {balanced_strength}: {before} {end}"
        );
        let settings = Balanced { balanced_strength, ..Balanced::default() };
        let mut next =
            &points * settings.assignment(&settled, &points).transpose() + &start * faer::Scale(6.0);
        normalize_columns(next.as_mut());
        assert!((next - settled.centers).norm_max() < 1e-4, "strength {balanced_strength}");
    }
}

#[test]
fn a_refinement_that_has_not_settled_is_noted() {
    let heard = |balanced_rounds: usize| {
        let remarks = Remarks::to(&bidilel_math::Silent);
        let settings = Balanced { balanced_rounds, ..Balanced::default() };
        settings.refine(slow(), &Batch { watch: Some(&remarks), ..Batch::UNNAMED }).expect("refined");
        remarks.taken()
    };
    let told = "balanced refinement had not settled after 2 rounds";
    assert!(heard(2).iter().any(|note| note == told), "{:?}", heard(2));
    let settled = heard(Balanced::default().balanced_rounds);
    assert!(settled.iter().all(|note| !note.contains("settled")), "{settled:?}");
}

#[test]
fn the_order_of_instances_makes_no_difference() {
    let forward = latent(30);
    let backward = with_points(&forward, Mat::from_fn(4, 30, |i, j| forward.points[(i, 29 - j)]));
    for balanced_shares in [BalancedShares::Equal, BalancedShares::Estimated] {
        let settings = Balanced { balanced_shares, ..Balanced::default() };
        let [(one, labels), (other, mut turned)] =
            [forward.clone(), backward.clone()].map(|l| refine(&settings, &l));
        assert!((one - other).norm_max() < 1e-9);
        turned.reverse();
        assert_eq!(labels, turned);
    }
}

/// A batch that is uneven, and not so much that shares are given up: a fifth of it would have to be of another class.
#[test]
fn estimated_shares_are_held_where_the_batch_is_trusted() {
    let embedding = Mat::from_fn(4, 3, |i, j| if i == j { 1.0 } else { 0.2 });
    let truth: Vec<usize> = (0..60).map(|i| usize::from(i >= 32) + usize::from(i >= 48)).collect();
    let points = Mat::from_fn(4, 60, |i, j| embedding[(i, truth[j])] + 0.3 * wave(i, j));
    let uneven = Latent { points: points.into(), embedding, spaces: 1 };
    let [points, start] = units(&uneven);
    let found = |balanced_strength: f64, balanced_shares: BalancedShares| {
        let settings = Balanced { balanced_strength, balanced_shares, ..Balanced::default() };
        let (clusters, doubt) = settings.trusted(&points, &start, None);
        assert_eq!(doubt, None);
        (class_sums(&settings.assignment(&clusters, &points)), refine(&settings, &uneven).1)
    };
    let (free, _) = found(0.0, BalancedShares::Equal);
    let distance = free.iter().map(|sum| (sum / 60.0 - 1.0 / 3.0).abs()).sum::<f64>() / 2.0;
    assert!(distance > 0.1, "{free:?}");
    let (estimated, labels) = found(1.0, BalancedShares::Estimated);
    for (sum, free) in estimated.iter().zip(&free) {
        assert!((sum - 60.0 * (free + 1.0) / 63.0).abs() < 1e-3, "{estimated:?}, free {free:?}");
    }
    let (equal, divided) = found(1.0, BalancedShares::Equal);
    assert!(equal.iter().all(|sum| (sum - 20.0).abs() < 1e-3), "{equal:?}");
    assert_ne!(labels, divided);
}

#[test]
fn batches_of_one_of_equal_instances_and_of_one_class_stay_finite_and_near_the_start() {
    let one = latent(1);
    let equal = with_points(&one, Mat::from_fn(4, 12, |i, _| one.points[(i, 0)]));
    let single = with_points(&one, Mat::from_fn(4, 12, |i, j| one.embedding[(i, 0)] + 0.01 * wave(i, j)));
    for strength in [0.0, 0.5, 1.0] {
        for before in [&one, &equal, &single] {
            let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
            let (centers, _) = refine(&settings, before);
            assert!(centers.norm_max().is_finite());
            assert!(centers.col_iter().all(|center| (center.norm_l2() - 1.0).abs() < 1e-9));
        }
    }
    // A strong pull keeps the classes where they were.
    let settings = Balanced { balanced_pull: 1e9, ..Balanced::default() };
    let mut start = one.embedding.clone();
    normalize_columns(start.as_mut());
    assert!((refine(&settings, &one).0 - start).norm_max() < 1e-6);
}

fn given(texts: &[&str]) -> Balanced {
    let prior = Some(texts.iter().map(|&text| text.to_owned()).collect());
    Balanced { balanced_strength: 1.0, balanced_prior: prior, ..Balanced::default() }
}

fn named(classes: [&str; 3]) -> Vec<String> {
    classes.map(str::to_owned).into()
}

#[test]
fn given_shares_follow_their_classes_in_any_order_and_in_any_unit() {
    let before = latent(60);
    let reversed = Mat::from_fn(4, 3, |i, k| before.embedding[(i, 2 - k)]);
    let turned = Latent { embedding: reversed, ..before.clone() };
    let labels = |settings: &Balanced, latent: &Latent, classes: [&str; 3]| {
        let classes = named(classes);
        let batch = Batch { classes: &classes, ..Batch::UNNAMED };
        settings.refine(latent.clone(), &batch).expect("refined").labels()
    };
    let found = labels(&given(&["a=6", "b=3", "c=1", "other=90"]), &before, ["a", "b", "c"]);
    assert_eq!(labels(&given(&["c=0.1", "a=0.6", "b=0.3"]), &before, ["a", "b", "c"]), found);
    let other = labels(&given(&["a=6", "b=3", "c=1"]), &turned, ["c", "b", "a"]);
    assert_eq!(other.iter().map(|class| 2 - class).collect::<Vec<_>>(), found);
    let count = |class: usize| found.iter().filter(|&&own| own == class).count();
    assert!(count(0) > count(1) && count(1) > count(2), "{found:?}");
    // Known shares of held-out classes stand for given ones.
    let counted = Batch { counts: &[36, 18, 6], ..Batch::UNNAMED };
    let held_out = given(&["x=1"]).refine(before.clone(), &counted).expect("refined");
    assert_eq!(held_out.labels(), found);
    assert!(given(&["x=1"]).refine(before, &Batch::UNNAMED).is_err(), "no names to join by");
}

/// A single instance is answered as without refinement, at any strength.
#[test]
fn one_instance_keeps_its_answer() {
    for (i, strength) in (0..30).flat_map(|i| [0.0, 0.5, 1.0].map(|strength| (i, strength))) {
        let whole = latent(30);
        let one = with_points(&whole, Mat::from_fn(4, 1, |row, _| whole.points[(row, i)]));
        let [mut point, mut start] = [Mat::clone(&one.points), one.embedding.clone()];
        normalize_columns(point.as_mut());
        normalize_columns(start.as_mut());
        let before = Recognition::nearest(point.into(), start).labels();
        let settings = Balanced { balanced_strength: strength, ..Balanced::default() };
        assert_eq!(refine(&settings, &one).1, before, "instance {i}, strength {strength}");
    }
}

/// A hundred instances of one class to one of each other: its instances keep their name where proportions are free,
/// estimated, or equal ones that the batch contradicts, and lose it where equal ones are given.
#[test]
fn a_batch_of_a_hundred_to_one_keeps_its_names_unless_equal_shares_are_given() {
    let embedding = Mat::from_fn(4, 3, |i, j| if i == j { 1.0 } else { 0.2 });
    let base = Latent { embedding, ..latent(1) };
    let truth: Vec<usize> = (0..102_usize).map(|i| i.saturating_sub(99).min(2)).collect();
    let points = Mat::from_fn(4, 102, |i, j| base.embedding[(i, truth[j])] + 0.1 * wave(i, j));
    let uneven = with_points(&base, points);
    let named = |balanced_strength: f64, balanced_shares: BalancedShares| {
        let settings = Balanced { balanced_strength, balanced_shares, ..Balanced::default() };
        refine(&settings, &uneven).1.iter().filter(|&&class| class == 0).count()
    };
    assert!(named(0.0, BalancedShares::Equal) >= 100);
    assert!(named(1.0, BalancedShares::Estimated) >= 100);
    assert!(named(1.0, BalancedShares::Equal) >= 100);
    let classes: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    let prior = |shares: [usize; 3]| {
        let texts = classes.iter().zip(shares).map(|(class, share)| format!("{class}={share}")).collect();
        let settings =
            Balanced { balanced_strength: 1.0, balanced_prior: Some(texts), ..Balanced::default() };
        let batch = Batch { classes: &classes, ..Batch::UNNAMED };
        let found = settings.refine(uneven.clone(), &batch).expect("refined").labels();
        found.iter().filter(|&&class| class == 0).count()
    };
    assert!(prior([1, 1, 1]) < 70);
    assert!(prior([100, 1, 1]) >= 100);
}
