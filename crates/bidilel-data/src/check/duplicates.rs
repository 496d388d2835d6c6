//! Rows that occur twice, and what that means for a split.
//!
//! A hash of every row finds candidates, which are then compared in full. Rows that are nearly equal differ little in
//! their product with any one direction: sorted by that, they stand close together.

use bidilel::dataset::{Dataset, Rows, Split, SplitKind, Visual};
use bidilel_math::Observer;
use bidilel_math::distance::squared_slices;
use xxhash_rust::xxh3::xxh3_64;

use super::problem::{Problem, count, place};
use super::splits::Side;
use crate::error::{Error, Result};

/// The distance, as a share of the norm, below which two rows count as nearly equal.
const NEAR: f64 = 1e-3;

/// Rows after a row, sorted by their product with a direction, that are compared with it.
const WINDOW: usize = 64;

/// What is kept of a row: enough to find its double.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fingerprint {
    hash: u64,
    /// Products of the unit row with two directions; NaN for a row without direction.
    products: [f32; 2],
}

impl Fingerprint {
    pub(super) fn of(row: &[f32], norm: f64, bytes: &mut Vec<u8>) -> Self {
        bytes.clear();
        // Adding zero makes both zeros the same one.
        row.iter().for_each(|value| bytes.extend_from_slice(&(value + 0.0).to_le_bytes()));
        let mut sums = [0.0_f64; 2];
        for (index, &value) in (0_u64..).zip(row) {
            // Signs from the bits of a multiple of the golden ratio: fixed, and without a pattern.
            let bits = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sums[0] += f64::from(if bits >> 63 == 0 { value } else { -value });
            sums[1] += f64::from(if bits >> 40 & 1 == 0 { value } else { -value });
        }
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough to find neighbors")]
        let products = sums.map(|sum| (sum / norm) as f32);
        Self { hash: xxh3_64(bytes), products }
    }
}

/// The rows of one representation that are equal.
#[derive(Debug)]
pub(super) struct Duplicates {
    /// Equal rows together, ascending.
    groups: Vec<Vec<usize>>,
    /// Pairs of rows that are nearly equal.
    pub(super) near: usize,
}

impl Duplicates {
    pub(super) fn find(rows: &dyn Rows, prints: &[Fingerprint], watch: &dyn Observer) -> Result<Self> {
        let mut order: Vec<usize> = (0..prints.len()).collect();
        order.sort_unstable_by_key(|&row| (prints[row].hash, row));
        let mut groups = Vec::new();
        let (mut first, mut other) = (vec![0.0; rows.dim()], vec![0.0; rows.dim()]);
        for candidates in order.chunk_by(|&a, &b| prints[a].hash == prints[b].hash) {
            if candidates.len() < 2 {
                continue;
            }
            Error::where_cancelled(watch)?;
            rows.read(candidates[0], &mut first);
            let equal = |&row: &usize| {
                rows.read(row, &mut other);
                // NaN equals nothing, so a broken row is reported as broken only.
                first == other
            };
            let group: Vec<usize> = candidates.iter().copied().filter(equal).collect();
            if group.len() > 1 {
                groups.push(group);
            }
        }
        groups.sort_unstable();
        Ok(Self { groups, near: near_pairs(rows, prints, watch)? })
    }

    /// How many rows repeat an earlier one.
    pub(super) fn repeats(&self) -> usize {
        self.groups.iter().map(|group| group.len() - 1).sum()
    }

    /// Warns of equal rows that lie on different sides of a split, or in different classes.
    pub(super) fn find_across(
        &self,
        dataset: &Dataset,
        visual: &Visual,
        split: &Split,
        problems: &mut Vec<Problem>,
    ) {
        if dataset.labels.len() != visual.rows.count() {
            return;
        }
        let at = format!("{}, split `{}`", place(&visual.origin), split.name);
        let across = |sides: &[Option<Side>]| {
            let mut pairs = self.groups.iter().filter_map(|group| pair_across(group, sides));
            pairs.next().map(|first| (first, 1 + pairs.count()))
        };
        if let SplitKind::Family { trials } = &split.kind {
            let found = |unseen: &Vec<usize>| across(&Side::by_class(dataset, unseen)).map(|(pair, _)| pair);
            let pairs: Vec<_> = trials.iter().filter_map(found).collect();
            if let Some(&(a, b)) = pairs.first() {
                let trials = count(pairs.len(), "trial", "trials");
                let message = format!("rows {a} and {b} are equal, but on different sides in {trials}");
                problems.push(Problem::warning(at, message).with_hint(HINT));
            }
            return;
        }
        let sides = Side::of_instances(dataset, split);
        if let Some(((a, b), groups)) = across(&sides) {
            let name = |row: usize| sides[row].map_or("unused", Side::name);
            let mut message =
                format!("rows {a} and {b} are equal, but one is in {} and the other in {}", name(a), name(b));
            if groups > 1 {
                message = format!("{message}, the first of {groups} such groups");
            }
            problems.push(Problem::warning(at, message).with_hint(HINT));
        }
    }
}

const HINT: &str = "probably the same picture twice: remove one of the instances";

/// Two rows of a group that are on different sides.
fn pair_across(group: &[usize], sides: &[Option<Side>]) -> Option<(usize, usize)> {
    let mut placed = group.iter().copied().filter(|&row| sides[row].is_some());
    let first = placed.next()?;
    placed.find(|&row| sides[row] != sides[first]).map(|other| (first, other))
}

fn near_pairs(rows: &dyn Rows, prints: &[Fingerprint], watch: &dyn Observer) -> Result<usize> {
    let finite = |row: &usize| prints[*row].products.iter().all(|product| product.is_finite());
    let mut order: Vec<usize> = (0..prints.len()).filter(finite).collect();
    order.sort_unstable_by(|&a, &b| prints[a].products[0].total_cmp(&prints[b].products[0]));
    let apart = |a: usize, b: usize, direction: usize| {
        f64::from((prints[a].products[direction] - prints[b].products[direction]).abs())
    };
    let (mut own, mut other) = (vec![0.0; rows.dim()], vec![0.0; rows.dim()]);
    let mut pairs = 0;
    for (position, &row) in order.iter().enumerate() {
        Error::where_cancelled(watch)?;
        // A difference has a spread of its own length along a random direction: four of those hold all but a few.
        let after =
            order[position + 1..].iter().take(WINDOW).take_while(|&&next| apart(row, next, 0) < 4.0 * NEAR);
        for &next in after {
            if apart(row, next, 1) >= 4.0 * NEAR || prints[row].hash == prints[next].hash {
                continue;
            }
            rows.read(row, &mut own);
            rows.read(next, &mut other);
            let norm: f64 = own.iter().map(|&value| f64::from(value).powi(2)).sum();
            if squared_slices(&own, &other) < NEAR * NEAR * norm {
                pairs += 1;
            }
        }
    }
    Ok(pairs)
}
