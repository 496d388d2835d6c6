//! Properties that every fitted machine must satisfy: the Karush-Kuhn-Tucker conditions, and edge cases.

use approx::assert_abs_diff_eq;
use faer::{Mat, MatRef};
use proptest::prelude::*;

use super::*;

/// Slack of a comparison: the default tolerance with room for rounding.
const SLACK: f64 = 1e-5;

/// Kernel matrices of rank 1 to 4, many with repeated samples, and targets.
fn problem() -> impl Strategy<Value = (Mat<f64>, Vec<f64>)> {
    (1_usize..=12, 1_usize..=4).prop_flat_map(|(samples, rank)| {
        let coordinates = prop::collection::vec((-8_i8..=8).prop_map(|x| f64::from(x) / 4.0), samples * rank);
        let targets = prop::collection::vec(-2.0..2.0, samples);
        let gram = coordinates.prop_map(move |x| {
            let points = Mat::from_fn(rank, samples, |i, j| x[j * rank + i]);
            points.transpose() * &points
        });
        (gram, targets)
    })
}

fn errors(machine: &Machine, kernel: MatRef<'_, f64>, targets: &[f64]) -> Vec<f64> {
    let predict = |i| machine.predict(kernel.col(i).iter().copied());
    targets.iter().enumerate().map(|(i, target)| target - predict(i)).collect()
}

/// Half width of the tube, if a free coefficient shows where its edge is.
fn tube(machine: &Machine, errors: &[f64], c: f64) -> Option<f64> {
    let free = machine.coefficients.iter().position(|b| b.abs() > 1e-3 * c && b.abs() < 0.999 * c)?;
    Some(errors[free].abs())
}

/// The Karush-Kuhn-Tucker conditions of a machine with a tube of half width `epsilon`.
fn check_optimal(machine: &Machine, errors: &[f64], epsilon: f64, c: f64) -> Result<(), TestCaseError> {
    let sum: f64 = machine.coefficients.iter().sum();
    prop_assert!(sum.abs() < 1e-9 * c * errors.len() as f64, "coefficients sum to {sum}");
    for (&coefficient, &error) in machine.coefficients.iter().zip(errors) {
        prop_assert!(coefficient.abs() <= c);
        // Outside the tube only at the bound, inside it only at zero.
        let outside = if coefficient < 0.0 { -error - epsilon } else { error - epsilon };
        if coefficient.abs() < c {
            prop_assert!(error.abs() < epsilon + SLACK, "{error} outside with coefficient {coefficient}");
        }
        if coefficient.abs() > 1e-12 * c {
            prop_assert!(outside > -SLACK, "{error} inside with coefficient {coefficient}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn epsilon_form_is_optimal((kernel, targets) in problem(), epsilon in 0.0..0.5, c in 0.1..10.0) {
        let svr = Svr { form: Form::Epsilon { epsilon }, c, ..Svr::default() };
        let machine = svr.fit(kernel.as_ref(), &targets).expect("the input is valid");
        check_optimal(&machine, &errors(&machine, kernel.as_ref(), &targets), epsilon, c)?;
    }

    /// A nu machine is the epsilon machine of its own tube, and `nu` bounds the parts in and outside it.
    #[test]
    fn nu_form_is_optimal((kernel, targets) in problem(), nu in 0.05..1.0, c in 0.1..10.0) {
        let svr = Svr { form: Form::Nu { nu }, c, ..Svr::default() };
        let machine = svr.fit(kernel.as_ref(), &targets).expect("the input is valid");
        let errors = errors(&machine, kernel.as_ref(), &targets);
        if let Some(epsilon) = tube(&machine, &errors, c) {
            check_optimal(&machine, &errors, epsilon, c)?;
            let share = |count: usize| count as f64 / errors.len() as f64;
            let outside = share(errors.iter().filter(|e| e.abs() > epsilon + SLACK).count());
            let supporting = share(errors.iter().filter(|e| e.abs() > epsilon - SLACK).count());
            prop_assert!(outside <= nu + 1e-9 && nu <= supporting + 1e-9);
        }
    }
}

/// Multipliers and kernels of any magnitude: errors computed from scratch satisfy the optimality conditions up to the rounding of
/// their sums.
#[test]
fn large_multipliers_leave_no_more_than_rounding() {
    for (scale, c) in [(1.0, 1e6), (1e6, 1e6), (1e-6, 1e9), (1e8, 10.0)] {
        let kernel = Mat::from_fn(30, 30, |i, j| scale * (-0.3 * i.abs_diff(j) as f64).exp());
        let targets: Vec<f64> = (0..30).map(|i| (f64::from(i) * 1.7).sin()).collect();
        let svr =
            Svr { form: Form::Epsilon { epsilon: 0.01 }, c, max_iterations: 3_000_000, ..Svr::default() };
        let machine = svr.fit(kernel.as_ref(), &targets).expect("it converges");
        let sums = |i: usize| {
            machine.coefficients.iter().zip(kernel.col(i).iter()).map(|(b, k)| (b * k).abs()).sum()
        };
        let largest = (0..30).map(sums).fold(0.0, f64::max);
        let slack = 1e-6 + 64.0 * f64::EPSILON * largest;
        for (error, coefficient) in
            errors(&machine, kernel.as_ref(), &targets).iter().zip(&machine.coefficients)
        {
            let free = coefficient.abs() < c;
            assert!(!free || error.abs() < 0.01 + 2.0 * slack, "{scale} {c}: {error} with {coefficient}");
        }
    }
}

fn forms() -> [Svr; 2] {
    [Form::Epsilon { epsilon: 0.1 }, Form::Nu { nu: 0.5 }].map(|form| Svr { form, ..Svr::default() })
}

#[test]
fn one_sample_is_predicted_exactly() {
    for svr in forms() {
        let machine = svr.fit(faer::mat![[2.0]].as_ref(), &[7.0]).expect("the input is valid");
        assert_abs_diff_eq!(machine.predict([2.0].into_iter()), 7.0, epsilon = 1e-6);
    }
}

#[test]
fn constant_targets_need_no_support() {
    let kernel = Mat::from_fn(4, 4, |i, j| if i == j { 2.0 } else { 0.5 });
    for svr in forms() {
        let machine = svr.fit(kernel.as_ref(), &[3.0; 4]).expect("the input is valid");
        assert!(machine.coefficients.iter().all(|b| b.abs() < 1e-6));
        assert_abs_diff_eq!(machine.bias, 3.0, epsilon = 1e-6);
    }
}

/// If the kernel does not distinguish the samples, the machine is a constant within the range of the targets.
#[test]
fn flat_kernels_leave_only_the_bias() {
    for kernel in [Mat::zeros(3, 3), Mat::full(3, 3, 1.0)] {
        for svr in forms() {
            let machine = svr.fit(kernel.as_ref(), &[0.0, 1.0, 5.0]).expect("the input is valid");
            let prediction = machine.predict(kernel.col(0).iter().copied());
            assert!((0.0..=5.0).contains(&prediction), "{prediction}");
        }
    }
}

#[test]
fn machines_fitted_together_equal_machines_fitted_alone() {
    let kernel = Mat::from_fn(9, 9, |i, j| (-0.3 * (i.abs_diff(j) as f64)).exp());
    let targets = Mat::from_fn(5, 9, |m, i| ((m + 1) as f64 * i as f64).sin());
    for svr in forms() {
        let together = svr.fit_all(kernel.as_ref(), targets.as_ref()).expect("the input is valid");
        for (m, machine) in together.iter().enumerate() {
            let row: Vec<f64> = targets.row(m).iter().copied().collect();
            assert_eq!(*machine, svr.fit(kernel.as_ref(), &row).expect("the input is valid"));
        }
    }
}

#[test]
fn bad_input_is_an_error() {
    let (kernel, targets) = (Mat::<f64>::identity(2, 2), [1.0, 2.0]);
    let with = |form, c, tolerance| Svr { form, c, tolerance, ..Svr::default() };
    for svr in [
        with(Form::Epsilon { epsilon: 0.1 }, 0.0, 1e-6),
        with(Form::Epsilon { epsilon: 0.1 }, f64::NAN, 1e-6),
        with(Form::Epsilon { epsilon: 0.1 }, 1.0, 0.0),
        with(Form::Epsilon { epsilon: -0.1 }, 1.0, 1e-6),
        with(Form::Nu { nu: 0.0 }, 1.0, 1e-6),
        with(Form::Nu { nu: 1.1 }, 1.0, 1e-6),
    ] {
        assert!(matches!(svr.fit(kernel.as_ref(), &targets), Err(Error::Parameter { .. })));
    }
    let svr = Svr::default();
    assert!(matches!(svr.fit(kernel.as_ref(), &[1.0]), Err(Error::Shape { .. })));
    assert!(matches!(svr.fit(Mat::zeros(2, 3).as_ref(), &targets), Err(Error::Shape { .. })));
    assert!(matches!(svr.fit(kernel.as_ref(), &[1.0, f64::NAN]), Err(Error::NotFinite { .. })));
    assert!(matches!(svr.fit(Mat::full(2, 2, f64::NAN).as_ref(), &targets), Err(Error::NotFinite { .. })));
    assert!(matches!(svr.fit(Mat::zeros(0, 0).as_ref(), &[]), Err(Error::Parameter { .. })));
    let hurried = Svr { max_iterations: 1, ..svr };
    assert!(matches!(hurried.fit(kernel.as_ref(), &targets), Err(Error::NoConvergence { .. })));
}
