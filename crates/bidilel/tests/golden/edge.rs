//! Degenerate inputs: duplicates, few instances, constant features, equal descriptions, one unseen class.

use bidilel::dataset::Metric;
use bidilel::landmarks::Landmarks;
use bidilel::metrics::stress;
use bidilel::semantic::ClassSemantics;
use bidilel::top_down::{ClassEmbedder, Lsm, Sammon};
use bidilel_math::distance::pairwise;
use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Silent, neighbors};
use faer::Mat;

use crate::support::{Golden, close_up_to_sign, index, inputs, representation, semantics};

fn eigenvalues(points: &Mat<f64>, labels: &[usize], k: usize, alpha: f64) -> Vec<f64> {
    let graph = Affinity::new(&neighbors::exact(points.as_ref(), k, &Silent), Some(labels), Weights::Exp);
    let rows: Vec<usize> = (0..points.nrows()).collect();
    let data = Selected { points: points.as_ref(), rows: &rows, center: None };
    let mut pencil = scatter::of_graph(data, &graph, &Silent);
    pencil.regularize(alpha);
    pencil.leading(4, &Silent).expect("a definite pencil").values
}

fn agree(found: &[f64], expected: &[f64]) {
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-7 * b.abs(), "{a} is not {b}");
    }
}

#[test]
fn duplicates_are_neighbors_of_each_other_but_not_of_themselves() {
    let golden = Golden::read("edge");
    let mut points = inputs().columns("Xl");
    let rows = golden.indices("dup_rows");
    let first = points.col(rows[0]).to_owned();
    rows.iter().for_each(|&row| points.col_mut(row).copy_from(&first));
    let found = neighbors::exact(points.as_ref(), 3, &Silent);
    for (&row, expected) in rows.iter().zip(golden.at("dup_knn_idx").as_array().expect("rows")) {
        let expected: Vec<usize> = expected.as_array().expect("a row").iter().map(index).collect();
        assert_eq!(found.of(row).iter().map(|n| n.0).collect::<Vec<_>>(), expected);
        assert!(found.of(row).iter().take(2).all(|n| n.1 == 0.0), "copies are at distance zero");
    }
}

#[test]
fn more_neighbors_than_instances_are_clipped() {
    let golden = Golden::read("edge");
    let points = inputs().columns("Xl").subcols(0, 8).to_owned();
    let found = neighbors::exact(points.as_ref(), 50, &Silent);
    for (i, expected) in golden.at("k_ge_n_idx").as_array().expect("rows").iter().enumerate() {
        let expected: Vec<usize> = expected.as_array().expect("a row").iter().map(index).collect();
        assert_eq!(found.of(i).iter().map(|n| n.0).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_constant_feature_dominates_the_spectrum_unless_it_is_dropped() {
    let points = inputs().columns("Xl");
    let with = Mat::from_fn(13, 60, |i, j| if i == 12 { 2.5 } else { points[(i, j)] });
    let found = eigenvalues(&with, &inputs().indices("yl"), 5, 0.1);
    agree(&found, &Golden::read("edge").vector("const_feature_eigs"));
    assert_eq!(scatter::varying(with.as_ref()), (0..12).collect::<Vec<_>>());
}

#[test]
fn fewer_instances_than_features() {
    let golden = Golden::read("edge");
    let points = inputs().columns("Xl").subcols(0, 8).to_owned();
    let labels = golden.indices("n8_labels");
    agree(&eigenvalues(&points, &labels, 5, 1e-3), &golden.vector("n8_d12_eigs_alpha1e3"));
}

#[test]
fn equal_descriptions_are_floored_and_come_together() {
    let golden = Golden::read("edge");
    let landmarks = Landmarks { points: Golden::read("latent").columns("landmarks") };
    // Classes 6 and 0, and classes 7 and 8, are said to be the same.
    let mut semantics = semantics("att");
    semantics.distances.known_unseen[(0, 0)] = 0.0;
    semantics.distances.unseen_unseen.set(1, 2, 0.0);
    assert_eq!(Sammon::new(landmarks.points.as_ref(), &semantics.distances).floored, 2);
    let embedding = Lsm::default().embed(&landmarks, &semantics, &Silent).expect("an embedding");
    let found = stress(landmarks.points.as_ref(), embedding.points.as_ref(), &semantics.distances);
    let expected = golden.number("zero_delta_stress");
    assert!((found - expected).abs() < 1e-6, "stress {found}, expected {expected}");
    let outer = pairwise(landmarks.points.as_ref(), embedding.points.as_ref());
    let inner = pairwise(embedding.points.as_ref(), embedding.points.as_ref());
    assert!(outer[(0, 0)] < 1e-3 && inner[(1, 2)] < 1e-3, "{} {}", outer[(0, 0)], inner[(1, 2)]);
}

#[test]
fn one_unseen_class_has_no_pairs() {
    let golden = Golden::read("edge");
    let landmarks = Landmarks { points: Golden::read("latent").columns("landmarks") };
    let mut one = representation("S", Metric::Euclidean, 1.0);
    one.values = one.values.subcols(0, 7).to_owned();
    let semantics = ClassSemantics::from_representations(vec![one], 6);
    let embedding = Lsm::default().embed(&landmarks, &semantics, &Silent).expect("an embedding");
    let found = stress(landmarks.points.as_ref(), embedding.points.as_ref(), &semantics.distances);
    assert!((found - golden.number("single_unseen_stress")).abs() < 1e-6);
    close_up_to_sign(embedding.points.as_ref(), golden.columns("single_unseen_B").as_ref(), 1e-5, "B");
}
