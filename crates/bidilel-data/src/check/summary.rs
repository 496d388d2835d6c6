//! Numbers about numbers.

use serde::{Serialize, Serializer};

/// How many bars a histogram has.
const BARS: usize = 10;

/// The smallest, the middle and the largest of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Distribution {
    pub minimum: f64,
    pub median: f64,
    pub maximum: f64,
}

impl Distribution {
    /// Sorts the values; `None` when there are none.
    pub(super) fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let (&minimum, &maximum) = (values.first()?, values.last()?);
        let upper = values.len() / 2;
        let lower = (values.len() - 1) / 2;
        Some(Self { minimum, median: f64::midpoint(values[lower], values[upper]), maximum })
    }
}

/// How many values lie between each edge and the next; the last bar includes its upper edge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// One more than there are bars, ascending.
    pub edges: Vec<f64>,
    /// The number of values in each bar.
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Bars of equal width over the range of the values; a single bar when all are equal.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let minimum = values.iter().copied().min_by(f64::total_cmp)?;
        let maximum = values.iter().copied().max_by(f64::total_cmp)?;
        let bars = if maximum > minimum { BARS } else { 1 };
        let width = (maximum - minimum) / bars as f64;
        let edges = (0..=bars).map(|edge| if edge == bars { maximum } else { minimum + width * edge as f64 });
        let mut counts = vec![0; bars];
        for value in values {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates, then cut to a bar"
            )]
            let bar = if bars == 1 { 0 } else { ((value - minimum) / width) as usize };
            counts[bar.min(bars - 1)] += 1;
        }
        Some(Self { edges: edges.collect(), counts })
    }
}

/// Named things in order; an object in JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// The thing of that name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, thing)| thing)
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, thing)| (name, thing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_middle() {
        let of =
            |values: &[f64]| Distribution::of(&mut values.to_vec()).map(|d| (d.minimum, d.median, d.maximum));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(of(&[4.0, 1.0, 2.0]), Some((1.0, 2.0, 4.0)));
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), Some((1.0, 2.5, 4.0)));
    }

    #[test]
    fn every_value_is_in_one_bar() {
        assert_eq!(Histogram::of(&[]), None);
        assert_eq!(Histogram::of(&[2.0, 2.0]), Some(Histogram { edges: vec![2.0, 2.0], counts: vec![2] }));
        let values: Vec<f64> = (0..=20).map(f64::from).collect();
        let Histogram { edges, counts } = Histogram::of(&values).unwrap();
        assert_eq!(edges, (0..=10).map(|i| f64::from(2 * i)).collect::<Vec<_>>());
        assert_eq!(counts, [2, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
    }
}
