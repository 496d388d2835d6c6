//! Averaged graphs and kernels of two views, through the pipeline, in every exact form.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Neighborhood, Regularizer, Search, Slpp};
use bidilel::latent_space::Map;
use bidilel::pipeline::{Fitted, Pipeline};
use bidilel::reference::{self, split};
use bidilel::task::Task;
use bidilel::visual::{Fusion, Kernel, KernelForm, View, Views};
use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::{Silent, kernel};
use faer::{Mat, MatRef};

use crate::support::{Golden, all_pairs, close, inputs, locality, task};

fn stacked(first: &str, second: &str) -> Mat<f64> {
    let (a, b) = (inputs().columns(first), inputs().columns(second));
    Mat::from_fn(a.nrows() + b.nrows(), a.ncols(), |i, j| {
        if i < a.nrows() { a[(i, j)] } else { b[(i - a.nrows(), j)] }
    })
}

/// The golden task over two views of equal weight.
fn fused() -> Task<f64> {
    let view = |name: &str, dim| View {
        name: name.to_owned(),
        dim,
        weight: 0.5,
        kernel: Kernel::Linear,
        columns: None,
    };
    let mut task = task("att");
    task.views = Views { parts: vec![view("Xl", 12), view("Xl2", 9)] };
    (task.train.features, task.test.features) = (stacked("Xl", "Xl2"), stacked("Xu", "Xu2"));
    task
}

fn pipeline(method: Option<KernelForm>) -> Pipeline {
    let alpha = Golden::read("kernel_fusion").number("alpha");
    let locality = Locality { alpha, regularizer: Regularizer::Kernel, ..locality() };
    let bottom_up = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
    let fusion = Fusion { method, nystrom_rank: 60, ..Fusion::default() };
    Pipeline { bottom_up, fusion, ..Pipeline::default() }
}

fn mean_graph(task: &Task<f64>) -> Affinity {
    let (features, labels) = (task.train.features.as_ref(), &task.train.labels);
    let how = (Neighborhood::Global, Search::Exact);
    let lists = reference::neighbors(&task.views, features, labels, how, 5, &Silent).expect("exact lists");
    task.views.graph(&lists.iter().collect::<Vec<_>>(), 5, Some(labels), Weights::Exp)
}

#[test]
fn kernels_and_graphs_of_two_views_agree() {
    let golden = Golden::read("kernel_fusion");
    let task = fused();
    let fused_kernel = |points: MatRef<'_, f64>| {
        let mut sum = Mat::zeros(60, points.ncols());
        let parts =
            split(&task.views, task.train.features.as_ref()).into_iter().zip(split(&task.views, points));
        for (support, points) in parts {
            kernel::Kernel::Linear.add_to(0.5, support, points, sum.as_mut());
        }
        sum
    };
    let (train, test) = (task.train.features.as_ref(), task.test.features.as_ref());
    close(fused_kernel(train).as_ref(), golden.columns("K_train").as_ref(), 1e-10, "K, training");
    close(fused_kernel(test).as_ref(), golden.columns("K_test").as_ref(), 1e-10, "K, test");
    let graph = mean_graph(&task);
    let mut dense = Mat::<f64>::zeros(60, 60);
    (0..60).for_each(|i| graph.row(i).iter().for_each(|(j, weight)| dense[(i, j)] = weight));
    close(dense.as_ref(), golden.columns("W_fused").as_ref(), 1e-12, "W");
}

#[test]
fn every_exact_form_of_the_fused_pipeline_agrees() {
    let golden = Golden::read("kernel_fusion");
    let task = fused();
    let graph = mean_graph(&task);
    // A sample of all instances is no approximation.
    for method in [None, Some(KernelForm::Primal), Some(KernelForm::NSpace), Some(KernelForm::Nystrom)] {
        let pipeline = pipeline(method);
        let fitted: Fitted = pipeline.fit(&task, &Silent).expect("a fit");
        assert_eq!(fitted.fusion.method, method.unwrap_or(KernelForm::Primal), "21 dimensions, 60 instances");
        let points =
            reference::project(&fitted.space, task.train.features.as_ref()).expect("matching dimensions");
        let gram = points.transpose() * &points;
        close(gram.as_ref(), golden.columns("Gram_Y_train").as_ref(), 1e-6, "Gram of Y");
        let between = all_pairs(&fitted.landmarks.points);
        close(between.as_ref(), golden.columns("landmark_dist").as_ref(), 1e-6, "landmarks");
        assert!((fitted.stress - golden.number("stress_wmean")).abs() < 1e-7);
        let found =
            reference::recognize(&pipeline, &fitted, task.test.prepared(), &Silent).expect("a recognition");
        assert_eq!(found.labels(), golden.indices("pred"), "{method:?}");
        // p'(K L K + alpha I)p = 1, so that the eigenvalues are y'Dy.
        let placed = reference::project_unnormalized(&fitted.space, task.train.features.as_ref())
            .expect("matching dimensions");
        for (dim, expected) in golden.vector("eigenvalues").into_iter().enumerate() {
            let y = |i: usize| placed[(dim, i)] + fitted.space.mean[dim];
            let value: f64 = (0..60).map(|i| graph.degree(i) * y(i) * y(i)).sum();
            assert!((value - expected).abs() < 1e-7 * expected, "{method:?}: {value} is not {expected}");
        }
    }
}

#[test]
fn the_forms_over_dimensions_and_over_instances_have_one_map() {
    let task = fused();
    let map = |method| {
        let fitted = pipeline(Some(method)).fit(&task, &Silent).expect("a fit");
        let Map::Linear(map) = fitted.space.map else { panic!("linear kernels need no support") };
        map
    };
    close(map(KernelForm::Primal).as_ref(), map(KernelForm::NSpace).as_ref(), 1e-8, "the map");
}
