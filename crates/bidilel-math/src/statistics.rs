//! Means with their spread and confidence intervals, skewness, paired tests.

/// Mean, spread and precision of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor $n - 1$); 0 for one value.
    pub standard_deviation: f64,
    /// Standard deviation over $\sqrt n$.
    pub standard_error: f64,
}

impl Summary {
    /// Summarizes `values`; all zeros for an empty slice.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self { mean: 0.0, standard_deviation: 0.0, standard_error: 0.0 };
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_deviation = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self { mean, standard_deviation, standard_error: standard_deviation / count.sqrt() }
    }
}

/// Third standardized moment, with the population divisor $n$; 0 for constant values.
pub fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 }
}

/// The logarithm of the standard normal distribution function, $\log \Phi(z)$, without underflow on either side.
pub fn ln_normal_cdf(z: f64) -> f64 {
    /// Below this the continued fraction has all digits in as many terms.
    const TAIL: f64 = -5.0;
    const TERMS: u32 = 60;
    let upper = |z: f64| 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
    if z > 0.0 {
        (-upper(z)).ln_1p()
    } else if z > TAIL {
        upper(-z).ln()
    } else {
        // Laplace: the upper tail is the density over t + 1/(t + 2/(t + 3/(t + ...))).
        let t = -z;
        let fraction = (1..=TERMS).rev().fold(t, |below, term| t + f64::from(term) / below);
        -0.5 * t * t - 0.5 * std::f64::consts::TAU.ln() - fraction.ln()
    }
}

/// The two-sided p-value of Wilcoxon's signed-rank test: how likely paired differences this lopsided are if neither side
/// is better.
///
/// Differences of zero are left out, equal ones share their mean rank. The distribution is exact, ties included, up to
/// 200 pairs, and normal with a correction for ties and continuity beyond. No difference at all gives 1.
///
/// # References
/// F. Wilcoxon, *Individual comparisons by ranking methods*, 1945.
pub fn wilcoxon(differences: &[f64]) -> f64 {
    let mut differences: Vec<f64> = differences.iter().copied().filter(|&value| value != 0.0).collect();
    differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the ranks, which are whole numbers with ties, too.
    let doubled = doubled_ranks(&differences);
    let total: usize = doubled.iter().sum();
    let above = |(value, rank): (&f64, &usize)| if *value > 0.0 { *rank } else { 0 };
    let positive: usize = differences.iter().zip(&doubled).map(above).sum();
    let smaller = positive.min(total - positive);
    if differences.is_empty() {
        1.0
    } else if doubled.len() <= MOST_EXACT_PAIRS {
        (2.0 * signed_rank_below(&doubled, smaller)).min(1.0)
    } else {
        let mean = total as f64 / 2.0;
        let variance: f64 = doubled.iter().map(|&rank| (rank * rank) as f64 / 4.0).sum();
        // A rank sum changes by whole ranks: twice the half step.
        let z = (mean - smaller as f64 - 1.0).max(0.0) / variance.sqrt();
        libm::erfc(z / std::f64::consts::SQRT_2)
    }
}

/// Exact up to here: beyond, the normal distribution agrees to three digits.
const MOST_EXACT_PAIRS: usize = 200;

/// Twice the ranks of numbers that are sorted by size; equal sizes share theirs.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a.abs().total_cmp(&b.abs()).is_eq()) {
        // The mean of the ranks first + 1 ..= first + length.
        let shared = 2 * ranks.len() + group.len() + 1;
        ranks.extend(std::iter::repeat_n(shared, group.len()));
    }
    ranks
}

/// The probability that a sum of ranks, each with either sign as likely, is at most `limit`.
fn signed_rank_below(doubled: &[usize], limit: usize) -> f64 {
    // Halved with every rank, so that nothing overflows: `ways[s]` is the probability of the sum s.
    let mut ways = vec![0.0; limit + 1];
    ways[0] = 1.0;
    for &rank in doubled {
        for sum in (0..=limit).rev() {
            let with = if sum >= rank { ways[sum - rank] } else { 0.0 };
            ways[sum] = 0.5 * (ways[sum] + with);
        }
    }
    ways.iter().sum()
}

/// p-values of several tests, raised so that the chance of any false alarm among them stays what each says.
///
/// # References
/// S. Holm, *A simple sequentially rejective multiple test procedure*, 1979.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut corrected, mut least) = (vec![1.0; p_values.len()], 0.0_f64);
    for (place, &test) in order.iter().enumerate() {
        least = least.max((p_values.len() - place) as f64 * p_values[test]).min(1.0);
        corrected[test] = least;
    }
    corrected
}

/// The 95 % confidence interval of a mean, by Student's distribution; none for fewer than two values.
pub fn confidence_interval(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let Summary { mean, standard_error, .. } = Summary::of(values);
    let reach = student_quantile(values.len() - 1) * standard_error;
    Some((mean - reach, mean + reach))
}

/// The two-sided p-value of Student's test: how likely a mean this far from `expected` is if that is the true one.
///
/// None for fewer than two values, and for values without spread.
pub fn t_test(values: &[f64], expected: f64) -> Option<f64> {
    let Summary { mean, standard_error, .. } = Summary::of(values);
    let usable = values.len() > 1 && standard_error > 0.0;
    usable.then(|| 2.0 * student_tail((mean - expected).abs() / standard_error, values.len() - 1))
}

/// The two-sided p-value of Welch's test of two means, each with its standard error and number of values.
///
/// The degrees of freedom are rounded down. None where there are fewer than two values, or no spread at all.
///
/// # References
/// B. L. Welch, *The generalization of Student's problem when several different population variances are involved*, 1947.
pub fn welch(one: (f64, f64, usize), other: (f64, f64, usize)) -> Option<f64> {
    let [first, second] = [one, other].map(|(_, error, _)| error * error);
    if one.2 < 2 || other.2 < 2 || first + second <= 0.0 {
        return None;
    }
    let share = |variance: f64, count: usize| variance * variance / (count - 1) as f64;
    let freedom = (first + second).powi(2) / (share(first, one.2) + share(second, other.2));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and the two counts"
    )]
    let freedom = freedom.floor().max(1.0) as usize;
    Some(2.0 * student_tail((one.0 - other.0).abs() / (first + second).sqrt(), freedom))
}

/// The 97.5 % quantile of Student's distribution.
fn student_quantile(freedom: usize) -> f64 {
    // The quantile lies between the normal one and that for one degree of freedom.
    let (mut low, mut high) = (1.959_963, 12.706_205);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if student_tail(middle, freedom) > 0.025 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The probability that Student's t is larger than `t`, by its finite trigonometric series (Abramowitz and Stegun,
/// 26.7.3 and 26.7.4).
fn student_tail(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let (mut term, mut sum) = if odd { (cosine, cosine) } else { (1.0, 1.0) };
    let mut k = if odd { 2 } else { 1 };
    while k + 2 < freedom {
        term *= cosine * cosine * k as f64 / (k + 1) as f64;
        sum += term;
        k += 2;
    }
    let inside = match freedom {
        1 => 2.0 * angle / std::f64::consts::PI,
        _ if odd => 2.0 / std::f64::consts::PI * (angle + sine * sum),
        _ => sine * sum,
    };
    0.5 * (1.0 - inside)
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    #[test]
    fn summary_by_hand() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_relative_eq!(summary.mean, 2.5);
        assert_relative_eq!(summary.standard_deviation, (5.0_f64 / 3.0).sqrt());
        assert_relative_eq!(summary.standard_error, (5.0_f64 / 12.0).sqrt());
        assert_relative_eq!(Summary::of(&[7.0]).standard_error, 0.0);
    }

    #[test]
    fn skewness_is_odd_and_invariant_to_scale() {
        let values = [0.0, 1.0, 1.0, 5.0];
        let mirrored = values.map(|v| 3.0 - 2.0 * v);
        assert!(skewness(&values) > 0.5);
        assert_relative_eq!(skewness(&values), -skewness(&mirrored), epsilon = 1e-12);
        assert_relative_eq!(skewness(&[2.0, 2.0]), 0.0);
    }

    /// mpmath 1.3: `log(ncdf(z))` with 50 digits.
    #[test]
    fn logarithms_of_the_normal_distribution_have_both_tails() {
        let known = [
            (-40.0, -804.608_442_013_753_8),
            (-12.5, -81.575_967_870_743_88),
            (-5.0, -15.064_998_393_988_725),
            (-4.75, -13.798_571_593_147_466),
            (-1.0, -1.841_021_645_009_263_6),
            (0.0, -std::f64::consts::LN_2),
            (0.5, -0.368_946_415_288_656_4),
            (3.0, -0.001_350_809_964_748_193_8),
            (8.0, -6.220_960_574_271_786e-16),
        ];
        for (z, expected) in known {
            assert_relative_eq!(ln_normal_cdf(z), expected, max_relative = 1e-13);
        }
        let around = [-5.0 - 1e-9, -5.0 + 1e-9].map(ln_normal_cdf);
        assert!((around[1] - around[0]).abs() < 2e-8, "one curve: {around:?}");
    }

    /// SciPy 1.16 (`stats.wilcoxon`), and for ties the count of all signs.
    #[test]
    fn signed_ranks_agree_with_other_implementations() {
        assert_relative_eq!(wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 0.03125, epsilon = 1e-12);
        let mixed = [0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7];
        assert_relative_eq!(wilcoxon(&mixed), 0.375, epsilon = 1e-12);
        assert_relative_eq!(wilcoxon(&mixed.map(|value| -value)), 0.375, epsilon = 1e-12);
        let tied = [0.1, 0.1, -0.1, 0.2, 0.3, 0.3, 0.0, -0.2, 0.5];
        assert_relative_eq!(wilcoxon(&tied), 0.140_625, epsilon = 1e-12);
        let many: Vec<f64> = (1..=250_u32).map(|i| f64::from(i * 7919 % 1009) / 1009.0 - 0.45).collect();
        assert_relative_eq!(wilcoxon(&many[..200]), 0.009_605_466_868_348_955, epsilon = 1e-12);
        assert_relative_eq!(wilcoxon(&many), 0.013_247_718_890_306_582, epsilon = 1e-12);
        assert_relative_eq!(wilcoxon(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn corrected_p_values_keep_their_order_and_are_never_smaller() {
        let corrected = holm(&[0.04, 0.001, 0.03, 0.8]);
        for (found, expected) in corrected.iter().zip([0.09, 0.004, 0.09, 0.8]) {
            assert_relative_eq!(*found, expected, epsilon = 1e-12);
        }
        assert!(holm(&[]).is_empty());
        assert_relative_eq!(holm(&[0.7, 0.6])[1], 1.0);
    }

    /// Simpson's rule over the density of Student's distribution, with Welch's freedom rounded down (55).
    #[test]
    fn tests_of_means_agree_with_another_implementation() {
        let values = [0.51, 0.47, 0.62, 0.55, 0.49, 0.58];
        assert_relative_eq!(t_test(&values, 0.5).expect("a spread"), 0.176_885_617_989, epsilon = 1e-9);
        let p = welch((0.205, 0.005, 30), (0.19, 0.004, 30)).expect("a spread");
        assert_relative_eq!(p, 0.022_795_617_995, epsilon = 1e-9);
        assert_relative_eq!(t_test(&[1.0, 2.0, 3.0], 2.0).expect("a spread"), 1.0, epsilon = 1e-12);
        assert_eq!((t_test(&[0.5], 0.4), t_test(&[0.5, 0.5], 0.4)), (None, None));
        assert_eq!(welch((0.5, 0.0, 30), (0.4, 0.0, 30)), None);
    }

    /// SciPy 1.16: `stats.t.ppf(0.975, freedom)`.
    #[test]
    fn quantiles_are_those_of_student() {
        let known = [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (9, 2.262_157_163),
            (10, 2.228_138_852),
            (49, 2.009_575_237),
            (50, 2.008_559_112),
            (1000, 1.962_339_081),
        ];
        for (freedom, quantile) in known {
            assert_relative_eq!(student_quantile(freedom), quantile, epsilon = 1e-8);
        }
        let (low, high) = confidence_interval(&[1.0, 2.0, 3.0]).expect("three values");
        assert_relative_eq!(high - low, 2.0 * 4.302_652_730 / 3.0_f64.sqrt(), epsilon = 1e-8);
        assert_eq!(confidence_interval(&[1.0]), None);
    }
}
