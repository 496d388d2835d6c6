//! The vectors that describe classes.

use bidilel::dataset::{Metric, Semantic};
use faer::Mat;

use super::problem::{Problem, count, place, some};
use super::summary::Distribution;

/// Directions closer than this are the same one: it is what rounding to `f64` leaves.
const EQUAL: f64 = 1e-12;

/// Median distances of two representations that differ by more than this factor are on different scales: on CUB,
/// distances twice as large cost 9.5 points.
const SCALES_APART: f64 = 2.0;

/// Classes among which the median distance is looked for.
const SCALE_SAMPLE: usize = 512;

/// A semantic representation in numbers.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SemanticSummary {
    /// Where it came from.
    pub origin: String,
    /// The distance that goes with it.
    pub metric: Metric,
    /// How long the vectors are.
    pub dimensions: usize,
    /// Whether the dimensions have names.
    pub named: bool,
    /// The smallest value.
    pub minimum: f64,
    /// The largest value.
    pub maximum: f64,
    /// The share of values that are zero.
    pub sparsity: f64,
    /// The l2 norms of the vectors; of distances, the distances themselves.
    pub norms: Option<Distribution>,
    /// Dimensions that have the same value for all classes.
    pub constant_dimensions: usize,
    /// The median distance of two classes, as recognition compares them.
    pub median_distance: Option<f64>,
    /// Pairs of classes that cannot be told apart.
    pub equal_pairs: Vec<(String, String)>,
}

pub(super) fn describe(
    semantic: &Semantic,
    classes: &[String],
    problems: &mut Vec<Problem>,
) -> (String, SemanticSummary) {
    let vectors = &semantic.vectors;
    let values = || (0..vectors.ncols()).flat_map(|class| vectors.col_as_slice(class)).copied();
    let norms: Vec<f64> = (0..vectors.ncols()).map(|class| norm(vectors.col_as_slice(class))).collect();
    let (pairs, mut spread) = match semantic.metric {
        Metric::Precomputed => (zero_distances(vectors), distances(vectors)),
        _ => (equal_directions(vectors, &norms), norms.clone()),
    };
    #[expect(clippy::float_cmp, reason = "constant means the same number")]
    let constant = |row: usize| (1..vectors.ncols()).all(|class| vectors[(row, class)] == vectors[(row, 0)]);
    let zeros = values().filter(|&value| value == 0.0).count();
    let summary = SemanticSummary {
        origin: place(&semantic.origin),
        metric: semantic.metric,
        dimensions: vectors.nrows(),
        named: semantic.dimension_names.is_some(),
        minimum: values().min_by(f64::total_cmp).unwrap_or(0.0),
        maximum: values().max_by(f64::total_cmp).unwrap_or(0.0),
        sparsity: zeros as f64 / (vectors.nrows() * vectors.ncols()).max(1) as f64,
        norms: Distribution::of(&mut spread),
        constant_dimensions: (0..vectors.nrows()).filter(|&row| vectors.ncols() > 1 && constant(row)).count(),
        median_distance: median_distance(semantic.metric, vectors, &norms),
        equal_pairs: pairs.into_iter().map(|(a, b)| (classes[a].clone(), classes[b].clone())).collect(),
    };
    let zero = match semantic.metric {
        Metric::Precomputed => Vec::new(),
        _ => (0..norms.len())
            .filter(|&class| norms[class] <= 0.0)
            .map(|class| classes[class].clone())
            .collect(),
    };
    find_problems(&summary, &zero, problems);
    (semantic.name.clone(), summary)
}

/// Warns where distances of representations lie on scales that are far apart: fused, the larger ones decide.
pub(super) fn compare_scales(all: &[(String, SemanticSummary)], problems: &mut Vec<Problem>) {
    let scales = all.iter().filter_map(|(name, one)| Some((name, one, one.median_distance?)));
    let scales: Vec<_> = scales.filter(|&(_, _, scale)| scale > 0.0).collect();
    let least = scales.iter().min_by(|a, b| a.2.total_cmp(&b.2));
    let most = scales.iter().max_by(|a, b| a.2.total_cmp(&b.2));
    let (Some((small, _, low)), Some((large, summary, high))) = (least, most) else { return };
    if high / low <= SCALES_APART {
        return;
    }
    let message = format!(
        "classes are {high:.3} apart in `{large}` (the median) and {low:.3} in `{small}`, {:.1} times less",
        high / low
    );
    let hint = format!(
        "distances are fused as they are, so `{large}` would decide: weigh it less (--semantic {small}=0.8,{large}=0.2), \
         choose metrics of one scale, or use one of the two"
    );
    problems.push(Problem::warning(&summary.origin, message).with_hint(&hint));
}

/// The median distance of two classes, of a sample of the classes where there are many.
fn median_distance(metric: Metric, vectors: &Mat<f64>, norms: &[f64]) -> Option<f64> {
    let classes: Vec<usize> =
        (0..vectors.ncols()).step_by(vectors.ncols().div_ceil(SCALE_SAMPLE).max(1)).collect();
    let distance = |a: usize, b: usize| {
        if metric == Metric::Precomputed {
            return vectors[(a, b)];
        }
        let products = vectors.col_as_slice(a).iter().zip(vectors.col_as_slice(b)).map(|(x, y)| x * y);
        let cosine = products.sum::<f64>() / (norms[a] * norms[b]);
        if metric == Metric::Cosine { 1.0 - cosine } else { (2.0 - 2.0 * cosine).max(0.0).sqrt() }
    };
    let pairs = classes.iter().enumerate().flat_map(|(i, &a)| classes[..i].iter().map(move |&b| (a, b)));
    let mut all: Vec<f64> = pairs.map(|(a, b)| distance(a, b)).filter(|value| value.is_finite()).collect();
    Distribution::of(&mut all).map(|distances| distances.median)
}

fn find_problems(summary: &SemanticSummary, zero: &[String], problems: &mut Vec<Problem>) {
    if !zero.is_empty() {
        let names = some(zero.iter().map(|name| format!("`{name}`")));
        let message = format!("{} all zero: {names}", count(zero.len(), "vector is", "vectors are"));
        let hint = "describe the class, or remove it: a vector of zeros has no direction, so it has no distance to others";
        problems.push(Problem::error(&summary.origin, message).with_hint(hint));
    }
    if !summary.equal_pairs.is_empty() {
        let pairs = some(summary.equal_pairs.iter().map(|(a, b)| format!("`{a}` and `{b}`")));
        let message = format!("classes with the same description cannot be told apart: {pairs}");
        let hint = "describe them differently, merge them, or add a second semantic representation";
        problems.push(Problem::warning(&summary.origin, message).with_hint(hint));
    }
    if summary.constant_dimensions > 0 && summary.metric != Metric::Precomputed {
        let number = count(summary.constant_dimensions, "is", "are");
        let message = format!("of {} dimensions {number} the same for all classes", summary.dimensions);
        let hint = "such a dimension tells no class from another; check that the file is the right one";
        problems.push(Problem::warning(&summary.origin, message).with_hint(hint));
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn zero_distances(matrix: &Mat<f64>) -> Vec<(usize, usize)> {
    let pairs = (0..matrix.ncols()).flat_map(|a| (a + 1..matrix.ncols()).map(move |b| (a, b)));
    pairs.filter(|&(a, b)| matrix[(a, b)] <= 0.0).collect()
}

fn distances(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|a| (a + 1..matrix.ncols()).map(move |b| matrix[(a, b)])).collect()
}

/// Pairs of vectors with the same direction: both metrics compare unit vectors.
fn equal_directions(vectors: &Mat<f64>, norms: &[f64]) -> Vec<(usize, usize)> {
    // Equal vectors have equal sums, so only neighbors in that order need to be compared.
    let sum = |class: usize| vectors.col_as_slice(class).iter().sum::<f64>() / norms[class];
    let mut order: Vec<(f64, usize)> =
        (0..norms.len()).filter(|&class| norms[class] > 0.0).map(|class| (sum(class), class)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Rounding of a sum grows with its length.
    let reach = EQUAL * vectors.nrows() as f64;
    let equal = |a: usize, b: usize| {
        let pairs = vectors.col_as_slice(a).iter().zip(vectors.col_as_slice(b));
        pairs.map(|(x, y)| (x / norms[a] - y / norms[b]).powi(2)).sum::<f64>().sqrt() < EQUAL
    };
    let mut pairs = Vec::new();
    for (position, &(own, a)) in order.iter().enumerate() {
        for &(_, b) in order[position + 1..].iter().take_while(|(other, _)| other - own <= reach) {
            if equal(a, b) {
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
