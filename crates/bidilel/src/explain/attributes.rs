//! Which attributes separate two classes, and which a class shares with others.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::dataset::Metric;
use crate::semantic::{ClassSemantics, Representation};

/// An attribute that separates two classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Separating {
    /// The semantic representation.
    pub representation: String,
    /// The attribute.
    pub name: String,
    /// Its value for the first class, on the scale of the dataset.
    pub first: f64,
    /// Its value for the second class.
    pub second: f64,
    /// Its mean over the known classes that the instance is nearest to, where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearby: Option<f64>,
    /// The part of the semantic distance between the two classes that it makes up.
    pub moves: f64,
    /// The same as a share of that distance, 0 to 1.
    pub share: f64,
}

/// A semantic representation whose dimensions have no names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unnamed {
    /// The semantic representation.
    pub representation: String,
    /// The part of the semantic distance between the two classes that it makes up.
    pub moves: f64,
}

/// What separates two classes: every named attribute, most of all first, and representations without names.
#[derive(Debug, Clone, PartialEq)]
pub struct Separation {
    /// The semantic distance of the two.
    pub distance: f64,
    /// Attributes by name.
    pub attributes: Vec<Separating>,
    /// Representations without names.
    pub unnamed: Vec<Unnamed>,
}

/// What separates two classes, counted over known, then unseen ones; `near` are the known classes near to the instance.
///
/// The parts of all dimensions add up to the semantic distance $\sum_m w_m \delta_m$: with unit vectors $a$ and $b$, a
/// dimension has `$w\, (a_k - b_k)^2 / \delta$` of the Euclidean distance $\delta$, and `$\frac12 w\, (a_k - b_k)^2$` of one
/// minus the cosine.
pub fn separation(semantics: &ClassSemantics, first: usize, second: usize, near: &[usize]) -> Separation {
    let mut found = Separation { distance: 0.0, attributes: Vec::new(), unnamed: Vec::new() };
    for one in &semantics.representations {
        let parts = parts(one, first, second);
        let whole = one.weight * parts.iter().sum::<f64>();
        found.distance += whole;
        let Some(names) = one.dimension_names.as_ref().filter(|_| one.metric != Metric::Precomputed) else {
            found.unnamed.push(Unnamed { representation: one.name.clone(), moves: whole });
            continue;
        };
        for (row, (name, part)) in names.iter().zip(&parts).enumerate() {
            let mean = near.iter().map(|&class| one.raw[(row, class)]).sum::<f64>() / near.len() as f64;
            found.attributes.push(Separating {
                representation: one.name.clone(),
                name: name.clone(),
                first: one.raw[(row, first)],
                second: one.raw[(row, second)],
                nearby: (!near.is_empty()).then_some(mean),
                moves: one.weight * part,
                share: 0.0,
            });
        }
    }
    let distance = found.distance;
    if distance > 0.0 {
        found.attributes.iter_mut().for_each(|one| one.share = one.moves / distance);
    }
    found.attributes.sort_by(|a, b| b.moves.total_cmp(&a.moves));
    found
}

/// The parts of one representation's distance, dimension by dimension, without its weight.
fn parts(one: &Representation, first: usize, second: usize) -> Vec<f64> {
    if one.metric == Metric::Precomputed {
        return vec![one.values[(first, second)]];
    }
    let (a, b) = (one.values.col_as_slice(first), one.values.col_as_slice(second));
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    let scale = match one.metric {
        Metric::Euclidean => {
            let distance = squares.clone().sum::<f64>().sqrt();
            if distance > 0.0 { 1.0 / distance } else { 0.0 }
        }
        Metric::Cosine | Metric::Precomputed => 0.5,
    };
    squares.map(|square| scale * square).collect()
}

/// The attributes that a class shares with others and not with all, as dimensions with their strengths, strongest first.
///
/// An attribute $a$ speaks for class $c$ as far as both it and the others $K$ have it and not everything has it:
/// `$\min(s_{ac}, \frac{1}{|K|} \sum_{k \in K} s_{ak}) - \frac{1}{|C|} \sum_{j \in C} s_{aj}$`.
///
/// ```
/// use bidilel::explain::shared;
/// use bidilel::Mat;
///
/// // Hooves, fins and being alive, of a horse, a cow, a shark and a zebra.
/// let table = [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]];
/// let attributes = Mat::from_fn(3, 4, |i, j| table[i][j]);
/// // The zebra shares hooves with horse and cow; being alive is nothing special.
/// assert_eq!(shared(attributes.as_ref(), 3, &[0, 1]), [(0, 0.25)]);
/// ```
pub fn shared(attributes: MatRef<'_, f64>, class: usize, others: &[usize]) -> Vec<(usize, f64)> {
    let strength = |row: usize| {
        let mean = |classes: &[usize]| {
            classes.iter().map(|&other| attributes[(row, other)]).sum::<f64>() / classes.len().max(1) as f64
        };
        let all = attributes.row(row).iter().sum::<f64>() / attributes.ncols().max(1) as f64;
        attributes[(row, class)].min(mean(others)) - all
    };
    let mut found: Vec<(usize, f64)> = (0..attributes.nrows()).map(|row| (row, strength(row))).collect();
    found.retain(|&(_, strength)| strength > 0.0);
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

/// [`shared`] over all named attributes, each divided by its standard deviation over classes: representations may have
/// different scales.
pub(super) fn shared_names(semantics: &ClassSemantics, class: usize, others: &[usize]) -> Vec<String> {
    let mut found = Vec::new();
    for one in &semantics.representations {
        let Some(names) = &one.dimension_names else { continue };
        let scaled = standardized(&one.raw);
        let own = shared(scaled.as_ref(), class, others);
        found.extend(own.into_iter().map(|(row, strength)| (names[row].clone(), strength)));
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().map(|(name, _)| name).collect()
}

/// Rows divided by their standard deviations; rows that do not vary become zero.
fn standardized(raw: &Mat<f64>) -> Mat<f64> {
    let count = raw.ncols().max(1) as f64;
    let deviations: Vec<f64> = raw
        .row_iter()
        .map(|row| {
            let mean = row.iter().sum::<f64>() / count;
            (row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
        })
        .collect();
    let scaled = |i: usize, j: usize| if deviations[i] > 0.0 { raw[(i, j)] / deviations[i] } else { 0.0 };
    Mat::from_fn(raw.nrows(), raw.ncols(), scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize, j: usize) -> f64 {
        1.5 + ((i * 31 + j * 17) as f64 * 0.613).sin()
    }

    fn semantics() -> ClassSemantics {
        let names = |count: usize| Some((0..count).map(|i| format!("a{i}")).collect());
        let one = |name: &str, metric, dim: usize, weight| {
            Representation::new(name, weight, metric, Mat::from_fn(dim, 7, |i, j| wave(i + dim, j)))
        };
        let given = Mat::from_fn(7, 7, |i, j| (wave(3, i) - wave(3, j)).abs());
        let all = vec![
            one("attributes", Metric::Euclidean, 5, 0.4).with_names(names(5)),
            one("traits", Metric::Cosine, 4, 0.3).with_names(names(4)),
            one("words", Metric::Cosine, 3, 0.2),
            Representation::new("given", 0.1, Metric::Precomputed, given),
        ];
        ClassSemantics::from_representations(all, 4)
    }

    #[test]
    fn parts_add_up_to_the_semantic_distance() {
        let semantics = semantics();
        for (first, second) in [(4, 5), (5, 6), (6, 4)] {
            let found = separation(&semantics, first, second, &[0, 2]);
            let expected = semantics.distances.unseen_unseen.get(first - 4, second - 4);
            assert!((found.distance - expected).abs() < 1e-12);
            let named: f64 = found.attributes.iter().map(|one| one.moves).sum();
            let unnamed: f64 = found.unnamed.iter().map(|one| one.moves).sum();
            assert!((named + unnamed - expected).abs() < 1e-12);
            assert_eq!((found.attributes.len(), found.unnamed.len()), (9, 2));
            assert!(found.attributes.windows(2).all(|pair| pair[0].moves >= pair[1].moves));
            let one = &found.attributes[0];
            assert!((one.share - one.moves / expected).abs() < 1e-12);
        }
    }

    /// Without the dimension the rest of a squared Euclidean distance is what the others add up to.
    #[test]
    fn a_part_is_the_share_of_the_squared_distance() {
        let semantics = semantics();
        let one = &semantics.representations[0];
        let found = parts(one, 4, 5);
        let distance = |skip: Option<usize>| {
            (0..5)
                .filter(|&i| Some(i) != skip)
                .map(|i| (one.values[(i, 4)] - one.values[(i, 5)]).powi(2))
                .sum::<f64>()
        };
        let whole = distance(None);
        for (i, part) in found.iter().enumerate() {
            let share = 1.0 - distance(Some(i)) / whole;
            assert!((part / whole.sqrt() - share).abs() < 1e-12);
        }
    }

    #[test]
    fn classes_that_are_described_alike_are_separated_by_nothing() {
        let semantics = semantics();
        let found = separation(&semantics, 4, 4, &[]);
        assert!(found.distance.abs() < 1e-15 && found.attributes.iter().all(|one| one.nearby.is_none()));
    }
}
