//! Values of settings that are wrong whatever the data are.
//!
//! They are found before a dataset is opened, and are mistakes of the command line: status 2. What a dataset is too small
//! for, and what a settings file says, is found later, by the stages themselves.

use anyhow::Result;
use bidilel::settings::Settings;
use bidilel::visual::Kernel;

use crate::failure::usage;

/// A setting, its value, what it must be in words, and as a test.
type Rule<'a> = (&'static str, Option<f64>, &'static str, &'a dyn Fn(f64) -> bool);

/// Weights may miss their sum by this much.
const SUM_TOLERANCE: f64 = 1e-9;

/// Checks every setting that was typed.
pub(crate) fn check(typed: &Settings) -> Result<()> {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let not_negative = |value: f64| value >= 0.0 && value.is_finite();
    let share = |value: f64| (0.0..=1.0).contains(&value);
    let positive_share = |value: f64| value > 0.0 && value <= 1.0;
    let numbers: [Rule<'_>; 8] = [
        ("alpha", typed.alpha, "a positive number", &positive),
        ("ridge", typed.ridge, "zero or a positive number", &not_negative),
        ("gamma", typed.gamma, "between 0 and 1", &share),
        ("svr-gamma", typed.svr_gamma, "a positive number", &positive),
        ("svr-c", typed.svr_c, "a positive number", &positive),
        ("svr-epsilon", typed.svr_epsilon, "zero or a positive number", &not_negative),
        ("svr-nu", typed.svr_nu, "above 0 and at most 1", &positive_share),
        ("kernel-memory", typed.kernel_memory, "a positive number", &positive),
    ];
    for (name, value, expected, holds) in numbers {
        if let Some(value) = value.filter(|&value| !holds(value)) {
            return Err(usage(format!("{name} must be {expected}, found {value}")));
        }
    }
    let counts = [
        ("dim", typed.dim),
        ("neighbors", typed.neighbors),
        ("nystrom-rank", typed.nystrom_rank),
        ("self-training-neighbors", typed.self_training_neighbors),
    ];
    if let Some((name, _)) = counts.iter().find(|(_, count)| *count == Some(0)) {
        return Err(usage(format!("{name} must be at least 1, found 0")));
    }
    weights("view", typed.view_weights.as_deref(), typed.visual.as_deref())?;
    weights("semantic", typed.semantic_weights.as_deref(), typed.semantic.as_deref())?;
    for kernel in typed.kernel.iter().flatten() {
        let name = kernel.rsplit_once('=').map_or(kernel.as_str(), |(_, name)| name);
        if name.parse::<Kernel>().is_err() {
            let known = "linear, rbf, rbf:GAMMA, chi2 or chi2:GAMMA";
            return Err(usage(format!("kernel must be {known}, found `{name}`")));
        }
    }
    Ok(())
}

/// Weights of names that were typed, too, are as many; all weights are shares of one.
fn weights(kind: &str, weights: Option<&[f64]>, names: Option<&[String]>) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if let Some(names) = names.filter(|names| names.len() != weights.len()) {
        return Err(usage(format!(
            "{kind}-weights must be {} weights, one for each representation, found {}",
            names.len(),
            weights.len()
        )));
    }
    let sum: f64 = weights.iter().sum();
    if weights.iter().any(|weight| !(*weight >= 0.0 && weight.is_finite()))
        || (sum - 1.0).abs() > SUM_TOLERANCE
    {
        let name = |place: usize| names.map_or(String::new(), |names| format!("{}=", names[place]));
        let found = weights.iter().enumerate().map(|(place, weight)| format!("{}{weight}", name(place)));
        let found = found.collect::<Vec<_>>().join(", ");
        return Err(usage(format!("{kind} weights must be non-negative and sum to 1, found {found}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_stages_would_take_passes_and_what_none_would_does_not() {
        let alpha = |alpha| check(&Settings { alpha: Some(alpha), ..Settings::default() });
        assert!(alpha(1e-9).is_ok() && check(&Settings::default()).is_ok());
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().all(|value| alpha(value).is_err()));
        let weights = |weights: &[f64]| {
            check(&Settings { view_weights: Some(weights.to_vec()), ..Settings::default() }).is_ok()
        };
        assert!(weights(&[1.0 / 3.0; 3]) && weights(&[1.0, 0.0]));
        assert!(!weights(&[0.5, 0.6]) && !weights(&[1.5, -0.5]) && !weights(&[f64::NAN]));
    }
}
