//! Scatter matrices to 1e-10, eigenvalues to 1e-9 (both relative), eigenvectors to 1e-7 up to sign.

use bidilel::bottom_up::{BottomUp, LatentSpaceLearner, Locality, Lpp, Regularizer, Slpp};
use bidilel::latent_space::Map;
use bidilel_math::eigen::Eigen;
use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::scatter::{self, Selected};
use bidilel_math::{Silent, neighbors};
use faer::Mat;

use crate::support::{Golden, close, close_up_to_sign, inputs, locality, task};

fn relative(found: &[f64], expected: &[f64], tolerance: f64) {
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{a} is not {b}");
    }
    assert_eq!(found.len(), expected.len());
}

fn solved() -> (Mat<f64>, Mat<f64>, Eigen) {
    let (points, labels) = (inputs().columns("Xl"), inputs().indices("yl"));
    let graph = Affinity::new(&neighbors::exact(points.as_ref(), 5, &Silent), Some(&labels), Weights::Exp);
    let rows: Vec<usize> = (0..12).collect();
    let data = Selected { points: points.as_ref(), rows: &rows, center: None };
    let mut pencil = scatter::of_graph(data, &graph, &Silent);
    let (degree, laplacian) = (pencil.left(), pencil.right());
    pencil.regularize(0.1);
    let found = pencil.leading(12, &Silent).expect("a definite pencil");
    (degree, laplacian, found)
}

#[test]
fn scatter_matrices_and_all_eigenpairs_agree() {
    let golden = Golden::read("slpp");
    let (degree, laplacian, found) = solved();
    for (name, matrix) in [("XDX", degree), ("XLX", laplacian)] {
        let expected = golden.columns(name);
        close(matrix.as_ref(), expected.as_ref(), 1e-10 * expected.norm_max(), name);
    }
    relative(&found.values, &golden.vector("eigenvalues"), 1e-9);
    // A golden row is a visual dimension, so its columns (ours: rows) are eigenvectors.
    let expected = golden.columns("P_Bnorm");
    close_up_to_sign(found.vectors.transpose(), expected.as_ref(), 1e-7, "P");
}

#[test]
fn the_learner_returns_the_leading_eigenvectors() {
    let learner = Slpp { locality: locality(), ..Slpp::default() };
    let space = learner.fit(&task("att").training(), &Silent).expect("a fit");
    let Map::Linear(map) = &space.map else { panic!("SLPP learns a matrix") };
    let expected = Golden::read("slpp").columns("P_Bnorm").subrows(0, 4).to_owned();
    close_up_to_sign(map.transpose(), expected.as_ref(), 1e-7, "P");
}

fn projections(learner: &BottomUp) -> Mat<f64> {
    let task = task("att");
    let space = learner.fit(&task.training(), &Silent).expect("a fit");
    let Map::Linear(map) = &space.map else { panic!("a learned matrix") };
    map.transpose() * &task.train.features
}

#[test]
fn the_kernel_regularizer_in_the_primal_equals_the_kernel_form() {
    let golden = Golden::read("slpp");
    let learner =
        Slpp { locality: Locality { regularizer: Regularizer::Kernel, ..locality() }, ..Slpp::default() };
    let found = projections(&BottomUp::Slpp(learner));
    close_up_to_sign(found.as_ref(), golden.columns("Y_kernelreg").as_ref(), 1e-8, "Y, kernel regularizer");
}

#[test]
fn lpp_agrees() {
    let found = projections(&BottomUp::Lpp(Lpp { locality: locality() }));
    close_up_to_sign(found.as_ref(), Golden::read("slpp").columns("Y_lpp").as_ref(), 1e-8, "Y, LPP");
}
