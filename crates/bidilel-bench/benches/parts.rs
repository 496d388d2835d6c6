//! The parts of a fit, one by one: `cargo bench -p bidilel-bench`.
//!
//! The points form clusters along a few leading directions, as features of networks do.

use std::hint::black_box;

use bidilel::landmarks::Landmarks;
use bidilel::semantic::{ClassSemantics, Representation};
use bidilel::top_down::{ClassEmbedder, Lsm};
use bidilel_math::graph::{Affinity, Weights};
use bidilel_math::parallel::{product, zeros};
use bidilel_math::scatter::{Selected, of_graph};
use bidilel_math::{Silent, distance, neighbors};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use faer::Mat;

const CLASSES: usize = 50;

fn noise() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }
}

#[expect(clippy::cast_possible_truncation, reason = "features are f32")]
fn points(dim: usize, count: usize) -> Mat<f32> {
    let mut next = noise();
    let strength = |i: usize| 1.0 / (1.0 + i as f64 / 10.0);
    let centers = Mat::from_fn(dim, CLASSES, |i, _| next() * strength(i));
    let mut points = zeros::<f32>(dim, count);
    for j in 0..count {
        for i in 0..dim {
            points[(i, j)] = (centers[(i, j % CLASSES)] + 0.5 * next() * strength(i)) as f32;
        }
    }
    distance::normalize_columns(points.as_mut());
    points
}

fn unit(dim: usize, count: usize) -> Mat<f64> {
    let mut next = noise();
    let mut points = Mat::from_fn(dim, count, |_, _| next());
    distance::normalize_columns(points.as_mut());
    points
}

fn parts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parts");
    group.sample_size(10);
    for (dim, count) in [(512, 4000), (1024, 8000)] {
        let points = points(dim, count);
        let size = format!("n={count},d={dim}");
        group.bench_function(BenchmarkId::new("neighbors", &size), |timer| {
            timer.iter(|| neighbors::exact(black_box(points.as_ref()), 10, &Silent));
        });
        let labels: Vec<usize> = (0..count).map(|j| j % CLASSES).collect();
        let graph =
            Affinity::new(&neighbors::exact(points.as_ref(), 10, &Silent), Some(&labels), Weights::Exp);
        let rows: Vec<usize> = (0..dim).collect();
        let data = Selected { points: points.as_ref(), rows: &rows, center: None };
        group.bench_function(BenchmarkId::new("scatter", &size), |timer| {
            timer.iter(|| of_graph(black_box(data), &graph, &Silent));
        });
        let mut pencil = of_graph(data, &graph, &Silent);
        pencil.regularize(10.0);
        group.bench_function(BenchmarkId::new("eigen", format!("d={dim},pairs=100")), |timer| {
            timer.iter(|| pencil.clone().leading(100, &Silent).expect("a definite problem"));
        });
    }
    for (known, unseen, dim) in [(150, 50, 100), (1000, 1000, 300)] {
        let landmarks = Landmarks { points: unit(dim, known) };
        let metric = bidilel::dataset::Metric::Euclidean;
        let vectors = Representation::new("vectors", 1.0, metric, unit(dim, known + unseen));
        let semantics = ClassSemantics::from_representations(vec![vectors], known);
        let lsm = Lsm { max_iterations: 50, ..Lsm::default() };
        let size = format!("known={known},unseen={unseen},dim={dim},iterations=50");
        group.bench_function(BenchmarkId::new("mapping", size), |timer| {
            timer.iter(|| lsm.embed(&landmarks, &semantics, &Silent).expect("a mapping"));
        });
    }
    let factor = unit(1024, 1024);
    group.bench_function(BenchmarkId::new("product", "1024 f64"), |timer| {
        timer.iter(|| product(black_box(factor.as_ref()), factor.as_ref()));
    });
    group.finish();
}

criterion_group!(benches, parts);
criterion_main!(benches);
