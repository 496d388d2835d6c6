//! Rows of a sparse matrix, one behind the other: an index and a number an entry, 12 bytes.
//!
//! Neighbour lists and graphs are held for several folds at a time, and in one piece of memory each: a vector a row would
//! take half as much again, and leave holes behind.

use rayon::prelude::*;

/// The rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Where each row begins, and where the last one ends.
    starts: Vec<usize>,
    points: Vec<u32>,
    values: Vec<f64>,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    points: &'a [u32],
    values: &'a [f64],
}

impl<'a> Row<'a> {
    /// The indices.
    pub fn points(self) -> &'a [u32] {
        self.points
    }

    /// The numbers, in the same order.
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// How many entries there are.
    pub fn len(self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.points.is_empty()
    }

    /// `(index, number)` of every entry.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (usize, f64)> + Clone + 'a {
        self.points.iter().map(|&point| point as usize).zip(self.values.iter().copied())
    }
}

impl Rows {
    /// Rows of these lengths, each written by one call.
    ///
    /// # Panics
    /// If a row has another length, or an index of 2^32 or more.
    pub fn new<E>(lengths: &[usize], row: impl Fn(usize) -> E + Sync) -> Self
    where
        E: IntoIterator<Item = (usize, f64)>,
    {
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        starts.push(0);
        starts.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let entries = starts[lengths.len()];
        let (mut points, mut values) = (vec![0; entries], vec![0.0; entries]);
        let both = (parted(&mut points, lengths), parted(&mut values, lengths));
        both.into_par_iter().enumerate().for_each(|(i, (points, values))| {
            let mut written = 0;
            for ((point, value), found) in row(i).into_iter().zip(0..) {
                (points[found], values[found]) = (number(point), value);
                written = found + 1;
            }
            assert_eq!(written, points.len(), "the length of row {i}");
        });
        Self { starts, points, values }
    }

    /// The same from a list a row.
    pub fn of_lists(lists: &[Vec<(usize, f64)>]) -> Self {
        let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
        Self::new(&lengths, |i| lists[i].iter().copied())
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> Row<'_> {
        let row = self.starts[i]..self.starts[i + 1];
        Row { points: &self.points[row.clone()], values: &self.values[row] }
    }

    /// The numbers of all rows.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same rows and indices among `count`, of which `members` (ascending) are the present ones; other rows are empty.
    #[must_use]
    pub fn among(mut self, members: &[usize], count: usize) -> Self {
        self.points.iter_mut().for_each(|point| *point = number(members[*point as usize]));
        let mut starts = Vec::with_capacity(count + 1);
        members.iter().zip(&self.starts).for_each(|(&member, &start)| starts.resize(member + 1, start));
        starts.resize(count + 1, self.points.len());
        Self { starts, ..self }
    }
}

/// An index as it is stored.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 points: their lists alone would fill a machine")
}

/// A slice as pieces of these sizes, one behind the other.
pub(crate) fn parted<'a, T>(mut rest: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    let piece = |&size: &usize| {
        let (piece, behind) = std::mem::take(&mut rest).split_at_mut(size);
        rest = behind;
        piece
    };
    sizes.iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_what_was_written_and_keep_their_entries_among_others() {
        let lists = vec![vec![(2, 0.5), (1, 0.25)], vec![], vec![(0, 4.0)]];
        let rows = Rows::of_lists(&lists);
        assert_eq!((rows.count(), rows.values()), (3, &[0.5, 0.25, 4.0][..]));
        for (i, list) in lists.iter().enumerate() {
            assert!(rows.row(i).iter().eq(list.iter().copied()));
        }
        let wider = rows.among(&[1, 4, 5], 8);
        let found: Vec<Vec<(usize, f64)>> = (0..8).map(|i| wider.row(i).iter().collect()).collect();
        assert_eq!(found[1], [(5, 0.5), (4, 0.25)]);
        assert_eq!(found[5], [(1, 4.0)]);
        assert!([0, 2, 3, 4, 6, 7].iter().all(|&i| wider.row(i).is_empty()));
    }

    #[test]
    #[should_panic(expected = "the length of row 1")]
    fn a_row_of_another_length_is_refused() {
        Rows::new(&[1, 2], |i| [(i, 1.0)]);
    }
}
