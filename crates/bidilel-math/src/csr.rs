//! Compressed sparse row (CSR) storage: 12 bytes per entry, a `u32` column index and an `f64` value.
//!
//! Neighbor lists and graphs of several folds are held at a time. In CSR each is three allocations; one vector per row would
//! take half as much memory again, and fragment the heap.

use rayon::prelude::*;

/// A sparse matrix in CSR storage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Csr {
    /// Row `i` has the entries from `offsets[i]` to `offsets[i + 1]`.
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// One row of a sparse matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CsrRow<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl<'a> CsrRow<'a> {
    /// The column indices.
    pub fn indices(self) -> &'a [u32] {
        self.indices
    }

    /// The values, in the same order.
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// The number of entries.
    pub fn len(self) -> usize {
        self.indices.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(self) -> bool {
        self.indices.is_empty()
    }

    /// `(index, value)` of every entry.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (usize, f64)> + Clone + 'a {
        self.indices.iter().map(|&index| index as usize).zip(self.values.iter().copied())
    }
}

impl Csr {
    /// A matrix with rows of these lengths; `row(i)` yields the entries of row `i`, and rows are filled in parallel.
    ///
    /// # Panics
    /// If a row has another length than announced, or an index of 2^32 or more.
    pub(crate) fn new<E>(lengths: &[usize], row: impl Fn(usize) -> E + Sync) -> Self
    where
        E: IntoIterator<Item = (usize, f64)>,
    {
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        offsets.push(0);
        offsets.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let entries = offsets[lengths.len()];
        let (mut indices, mut values) = (vec![0; entries], vec![0.0; entries]);
        let both = (split_by_lengths(&mut indices, lengths), split_by_lengths(&mut values, lengths));
        both.into_par_iter().enumerate().for_each(|(i, (indices, values))| {
            let mut written = 0;
            for ((index, value), found) in row(i).into_iter().zip(0..) {
                (indices[found], values[found]) = (index_u32(index), value);
                written = found + 1;
            }
            assert_eq!(written, indices.len(), "the length of row {i}");
        });
        Self { offsets, indices, values }
    }

    /// A matrix from one list of entries per row.
    pub(crate) fn from_lists(lists: &[Vec<(usize, f64)>]) -> Self {
        let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
        Self::new(&lengths, |i| lists[i].iter().copied())
    }

    /// The number of rows.
    pub(crate) fn nrows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Row `i`.
    pub(crate) fn row(&self, i: usize) -> CsrRow<'_> {
        let row = self.offsets[i]..self.offsets[i + 1];
        CsrRow { indices: &self.indices[row.clone()], values: &self.values[row] }
    }

    /// The values of all rows.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same matrix over `count` indices, where index `i` becomes `members[i]` (ascending); other rows are empty.
    #[must_use]
    pub(crate) fn expanded(mut self, members: &[usize], count: usize) -> Self {
        self.indices.iter_mut().for_each(|index| *index = index_u32(members[*index as usize]));
        let mut offsets = Vec::with_capacity(count + 1);
        members.iter().zip(&self.offsets).for_each(|(&member, &start)| offsets.resize(member + 1, start));
        offsets.resize(count + 1, self.indices.len());
        Self { offsets, ..self }
    }
}

/// An index in the width in which it is stored.
pub(crate) fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 indices: their lists alone would fill a machine")
}

/// A slice cut into consecutive pieces of these lengths.
pub(crate) fn split_by_lengths<'a, T>(mut rest: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
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
    fn entries_are_those_written_and_survive_an_expansion() {
        let lists = vec![vec![(2, 0.5), (1, 0.25)], vec![], vec![(0, 4.0)]];
        let rows = Csr::from_lists(&lists);
        assert_eq!((rows.nrows(), rows.values()), (3, &[0.5, 0.25, 4.0][..]));
        for (i, list) in lists.iter().enumerate() {
            assert!(rows.row(i).iter().eq(list.iter().copied()));
        }
        let wider = rows.expanded(&[1, 4, 5], 8);
        let found: Vec<Vec<(usize, f64)>> = (0..8).map(|i| wider.row(i).iter().collect()).collect();
        assert_eq!(found[1], [(5, 0.5), (4, 0.25)]);
        assert_eq!(found[5], [(1, 4.0)]);
        assert!([0, 2, 3, 4, 6, 7].iter().all(|&i| wider.row(i).is_empty()));
    }

    #[test]
    #[should_panic(expected = "the length of row 1")]
    fn a_row_of_another_length_is_refused() {
        Csr::new(&[1, 2], |i| [(i, 1.0)]);
    }
}
