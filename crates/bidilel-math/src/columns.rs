//! A view of selected columns of a matrix, without a copy.

use faer::{ColRef, Mat, MatRef};

use crate::Scalar;
use crate::vector::column;

/// Columns of a matrix: all of them, or those with given indices, in the order of the indices.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a, T> {
    all: MatRef<'a, T>,
    indices: Option<&'a [usize]>,
}

impl<'a, T: Scalar> Columns<'a, T> {
    /// The columns of `all` with these indices.
    pub fn new(all: MatRef<'a, T>, indices: &'a [usize]) -> Self {
        Self { all, indices: Some(indices) }
    }

    /// The number of rows.
    pub fn nrows(&self) -> usize {
        self.all.nrows()
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.indices.map_or(self.all.ncols(), <[usize]>::len)
    }

    /// Column `i` of the view.
    pub fn col(&self, i: usize) -> ColRef<'a, T> {
        self.all.col(self.indices.map_or(i, |indices| indices[i]))
    }

    /// Column `i` of the view as a slice.
    ///
    /// # Panics
    /// If the columns of the matrix are not contiguous.
    pub fn slice(&self, i: usize) -> &'a [T] {
        column(self.all, self.indices.map_or(i, |indices| indices[i]))
    }

    /// The `count` columns from `first` on.
    #[must_use]
    pub fn part(&self, first: usize, count: usize) -> Self {
        match self.indices {
            Some(indices) => Self { all: self.all, indices: Some(&indices[first..first + count]) },
            None => Self { all: self.all.subcols(first, count), indices: None },
        }
    }

    /// Calls `work` with the columns as a matrix: a copy, unless they are all columns.
    pub fn with_matrix<R>(&self, work: impl FnOnce(MatRef<'_, T>) -> R) -> R {
        match self.indices {
            None => work(self.all),
            Some(_) => work(Mat::from_fn(self.nrows(), self.ncols(), |i, j| self.col(j)[i]).as_ref()),
        }
    }
}

impl<'a, T: Scalar> From<MatRef<'a, T>> for Columns<'a, T> {
    fn from(all: MatRef<'a, T>) -> Self {
        Self { all, indices: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_selected_columns_are_those_columns() {
        let matrix = Mat::<f64>::from_fn(2, 9, |i, j| (10 * j + i) as f64);
        let indices = [7, 2, 5, 0];
        let some = Columns::new(matrix.as_ref(), &indices);
        assert_eq!((some.nrows(), some.ncols()), (2, 4));
        assert_eq!(some.part(1, 2).slice(1), [50.0, 51.0]);
        let all = Columns::from(matrix.as_ref());
        assert_eq!((all.part(3, 4).ncols(), all.part(3, 4).slice(1)), (4, &[40.0, 41.0][..]));
        some.with_matrix(|own| assert_eq!((own.ncols(), own.col(2)), (4, all.col(5))));
        all.with_matrix(|own| assert_eq!(own, matrix));
    }
}
