//! Neighbors and graph weights: indices exact, weights to 1e-12.

use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::{Silent, neighbors};
use faer::Mat;

use crate::support::{Golden, close, index, inputs};

fn dense(graph: &Affinity) -> Mat<f64> {
    let mut dense = Mat::zeros(graph.count(), graph.count());
    for i in 0..graph.count() {
        graph.row(i).iter().for_each(|(j, weight)| dense[(i, j)] = weight);
    }
    dense
}

#[test]
fn neighbors_are_the_same_in_the_same_order() {
    let golden = Golden::read("graph");
    let found = neighbors::exact(inputs().columns("Xl").as_ref(), 5, &Silent);
    let distances = golden.columns("knn_dist");
    for (i, row) in golden.at("knn_idx").as_array().expect("rows").iter().enumerate() {
        let expected: Vec<usize> = row.as_array().expect("a row").iter().map(index).collect();
        assert_eq!(found.of(i).iter().map(|n| n.0).collect::<Vec<_>>(), expected, "neighbors of {i}");
        for (place, (_, distance)) in found.of(i).iter().enumerate() {
            assert!((distance - distances[(place, i)]).abs() < 1e-12);
        }
    }
}

#[test]
fn all_five_graphs_agree() {
    let golden = Golden::read("graph");
    let (points, labels) = (inputs().columns("Xl"), inputs().indices("yl"));
    let global = neighbors::exact(points.as_ref(), 5, &Silent);
    let within = neighbors::within_labels(points.as_ref(), &labels, 5, &Silent);
    let cases = [
        ("W_slpp", Affinity::new(&global, Some(&labels), Weights::Exp)),
        ("W_lpp", Affinity::new(&global, None, Weights::Exp)),
        ("W_slpp_heat_meant", Affinity::new(&global, Some(&labels), Weights::Heat)),
        ("W_slpp_withinclass", Affinity::new(&within, Some(&labels), Weights::Exp)),
    ];
    for (name, graph) in &cases {
        close(dense(graph).as_ref(), golden.columns(name).as_ref(), 1e-12, name);
    }
    for (i, expected) in golden.vector("degree").into_iter().enumerate() {
        assert!((cases[0].1.degree(i) - expected).abs() < 1e-12);
    }
}
