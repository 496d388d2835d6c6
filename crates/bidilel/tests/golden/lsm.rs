//! The mapping: cost and gradient to 1e-12, stress to 1e-9, distances to 1e-5.

use bidilel::semantic::SemanticDistances;
use bidilel::top_down::{Init, Lsm, Optimizer, Sammon};
use bidilel_math::distance::pairwise;
use bidilel_math::lbfgs::Objective;
use bidilel_math::{Observer, Silent};
use faer::{Mat, MatRef};
use std::sync::Mutex;

use crate::support::{Golden, all_pairs, close, semantics};

const CASES: [(&str, &str); 3] = [("lsm_att", "att"), ("lsm_wv", "wv"), ("lsm_fused", "fused")];

fn cost(distances: &SemanticDistances) -> Sammon<'_> {
    let landmarks = Golden::read("latent").columns("landmarks");
    Sammon::new(landmarks.as_ref(), distances)
}

fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    matrix.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>()).collect()
}

#[test]
fn cost_and_gradient_agree_at_a_fixed_place() {
    for (file, semantic) in CASES {
        let golden = Golden::read(file);
        let mut gradient = vec![0.0; 12];
        let value =
            cost(&semantics(semantic).distances).evaluate(&flat(&golden.columns("B0")), &mut gradient);
        assert!((value - golden.number("cost_B0")).abs() < 1e-12 * value, "{file}");
        let gradient = MatRef::from_column_major_slice(&gradient, 4, 3);
        close(gradient, golden.columns("grad_B0").as_ref(), 1e-12, file);
    }
}

#[test]
fn the_gradient_is_that_of_central_differences() {
    for (file, semantic) in CASES {
        let distances = semantics(semantic).distances;
        let cost = cost(&distances);
        let at = flat(&Golden::read(file).columns("B0"));
        let mut gradient = vec![0.0; at.len()];
        cost.evaluate(&at, &mut gradient);
        for i in 0..at.len() {
            let shifted = |by: f64| {
                let mut place = at.clone();
                place[i] += by;
                cost.evaluate(&place, &mut vec![0.0; at.len()])
            };
            let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            assert!(
                (difference - gradient[i]).abs() < 1e-7 * gradient[i].abs().max(1.0),
                "{file}, entry {i}"
            );
        }
    }
}

#[test]
fn one_step_of_majorisation_agrees() {
    for (file, semantic) in CASES {
        let golden = Golden::read(file);
        let distances = semantics(semantic).distances;
        let cost = cost(&distances);
        let once = Lsm { optimizer: Optimizer::Smacof, max_iterations: 1, ..Lsm::default() };
        let found = once.minimize(&cost, flat(&golden.columns("B0")), &Silent).expect("a step");
        let place = MatRef::from_column_major_slice(&found.point, 4, 3);
        close(place, golden.columns("smacof_one_step").as_ref(), 1e-12, file);
        assert!((found.value - golden.number("cost_after_smacof_step")).abs() < 1e-12, "{file}");
    }
}

#[derive(Default)]
struct Trace(Mutex<Vec<f64>>);

impl Observer for Trace {
    fn step(&self, _: usize, value: f64) {
        self.0.lock().expect("one thread").push(value);
    }
}

#[test]
fn every_optimizer_and_start_reaches_the_optimum_and_the_cost_never_rises() {
    for (file, semantic) in CASES {
        let golden = Golden::read(file);
        let distances = semantics(semantic).distances;
        let cost = cost(&distances);
        let weighted = Lsm::default().initial_points(&cost).expect("distances are enough");
        close(
            MatRef::from_column_major_slice(&weighted, 4, 3),
            golden.columns("wmean_init").as_ref(),
            1e-12,
            "weighted-mean start",
        );
        for optimizer in [Optimizer::Lbfgs, Optimizer::Descent, Optimizer::Smacof] {
            for init in [Init::WeightedMean, Init::Random { seed: 7 }] {
                let trace = Trace::default();
                let lsm = Lsm { optimizer, init, max_iterations: 100_000, ..Lsm::default() };
                let start = lsm.initial_points(&cost).expect("distances are enough");
                let found = lsm.minimize(&cost, start, &trace).expect("a minimum");
                let what = format!("{file} {optimizer:?} {init:?}");
                assert!(found.converged, "{what}");
                let off = found.value - golden.number("optimum_stress");
                assert!(off.abs() < 1e-9, "{what}: stress off by {off:e}");
                let values = trace.0.lock().expect("one thread");
                assert!(values.windows(2).all(|pair| pair[1] <= pair[0]), "{what}");
                let place = MatRef::from_column_major_slice(&found.point, 4, 3).to_owned();
                let landmarks = Golden::read("latent").columns("landmarks");
                let outer = pairwise(place.as_ref(), landmarks.as_ref());
                close(outer.as_ref(), golden.columns("dist_lu").as_ref(), 1e-5, &what);
                close(all_pairs(&place).as_ref(), golden.columns("dist_uu").as_ref(), 1e-5, &what);
            }
        }
    }
}
