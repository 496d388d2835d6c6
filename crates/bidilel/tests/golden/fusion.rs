//! Averaged graphs and kernels of two views, in the primal: concatenation over the root of the views' number.

use bidilel::bottom_up::{Locality, Regularizer};
use bidilel::landmarks::Landmarks;
use bidilel::metrics::stress;
use bidilel::recognize::Recognition;
use bidilel::top_down::{ClassEmbedder, Lsm};
use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::{Silent, neighbors};
use faer::Mat;
use std::sync::Arc;

use crate::support::{Golden, all_pairs, close, inputs, locality, task};

fn concatenated(first: &str, second: &str) -> Mat<f64> {
    let (a, b) = (inputs().columns(first), inputs().columns(second));
    let scale = 1.0 / 2.0_f64.sqrt();
    Mat::from_fn(a.nrows() + b.nrows(), a.ncols(), |i, j| {
        scale * if i < a.nrows() { a[(i, j)] } else { b[(i - a.nrows(), j)] }
    })
}

#[test]
fn two_views_agree_with_the_kernel_form() {
    let golden = Golden::read("kernel_fusion");
    let (train, test) = (concatenated("Xl", "Xl2"), concatenated("Xu", "Xu2"));
    close((train.transpose() * &train).as_ref(), golden.columns("K_train").as_ref(), 1e-10, "K, training");
    close((train.transpose() * &test).as_ref(), golden.columns("K_test").as_ref(), 1e-10, "K, test");

    let labels = inputs().indices("yl");
    let graphs: Vec<Affinity> = ["Xl", "Xl2"]
        .iter()
        .map(|view| {
            let found = neighbors::exact(inputs().columns(view).as_ref(), 5, &Silent);
            Affinity::new(&found, Some(&labels), Weights::Exp)
        })
        .collect();
    let graph = Affinity::mean(&graphs);
    let mut dense = Mat::<f64>::zeros(60, 60);
    (0..60).for_each(|i| graph.row(i).iter().for_each(|&(j, weight)| dense[(i, j)] = weight));
    close(dense.as_ref(), golden.columns("W_fused").as_ref(), 1e-12, "W");

    let mut task = task("att");
    task.train.features = train;
    let settings = Locality { alpha: golden.number("alpha"), regularizer: Regularizer::Kernel, ..locality() };
    let space = settings.project(&task.training(), &graph, &Silent).expect("a fit");
    let points = space.project(task.train.features.as_ref()).expect("matching dimensions");
    close(
        (points.transpose() * &points).as_ref(),
        golden.columns("Gram_Y_train").as_ref(),
        1e-6,
        "Gram of Y",
    );
    let landmarks = Landmarks::of(&space, task.train.features.as_ref(), &labels, 6).expect("landmarks");
    close(all_pairs(&landmarks.points).as_ref(), golden.columns("landmark_dist").as_ref(), 1e-6, "landmarks");
    let embedding = Lsm::default().embed(&landmarks, &task.semantics, &Silent).expect("an embedding");
    let found = stress(landmarks.points.as_ref(), embedding.points.as_ref(), &task.semantics.distances);
    assert!((found - golden.number("stress_wmean")).abs() < 1e-7);
    let points = Arc::new(space.project(test.as_ref()).expect("matching dimensions"));
    assert_eq!(Recognition::nearest(points, embedding.points).labels(), golden.indices("pred"));
}
