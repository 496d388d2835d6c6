//! Some columns of a matrix, read where they lie.

use faer::{ColRef, Mat, MatRef};

use crate::Scalar;
use crate::vector::column;

/// Columns of a matrix: all of them, or those at some places, in the order of the places.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a, T> {
    all: MatRef<'a, T>,
    at: Option<&'a [usize]>,
}

impl<'a, T: Scalar> Columns<'a, T> {
    /// The columns of `all` at these places.
    pub fn new(all: MatRef<'a, T>, at: &'a [usize]) -> Self {
        Self { all, at: Some(at) }
    }

    /// Rows of the matrix.
    pub fn nrows(&self) -> usize {
        self.all.nrows()
    }

    /// How many columns there are.
    pub fn ncols(&self) -> usize {
        self.at.map_or(self.all.ncols(), <[usize]>::len)
    }

    /// Column `i` of them.
    pub fn col(&self, i: usize) -> ColRef<'a, T> {
        self.all.col(self.at.map_or(i, |at| at[i]))
    }

    /// Column `i` of them, of a matrix whose columns are contiguous.
    ///
    /// # Panics
    /// If they are not.
    pub fn slice(&self, i: usize) -> &'a [T] {
        column(self.all, self.at.map_or(i, |at| at[i]))
    }

    /// So many of them, from the first of these on.
    #[must_use]
    pub fn part(&self, first: usize, count: usize) -> Self {
        match self.at {
            Some(at) => Self { all: self.all, at: Some(&at[first..first + count]) },
            None => Self { all: self.all.subcols(first, count), at: None },
        }
    }

    /// Hands them on as a matrix of their own: a copy, unless they are all that there are.
    pub fn with_matrix<R>(&self, work: impl FnOnce(MatRef<'_, T>) -> R) -> R {
        match self.at {
            None => work(self.all),
            Some(_) => work(Mat::from_fn(self.nrows(), self.ncols(), |i, j| self.col(j)[i]).as_ref()),
        }
    }
}

impl<'a, T: Scalar> From<MatRef<'a, T>> for Columns<'a, T> {
    fn from(all: MatRef<'a, T>) -> Self {
        Self { all, at: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_some_columns_are_those_columns() {
        let matrix = Mat::<f64>::from_fn(2, 9, |i, j| (10 * j + i) as f64);
        let places = [7, 2, 5, 0];
        let some = Columns::new(matrix.as_ref(), &places);
        assert_eq!((some.nrows(), some.ncols()), (2, 4));
        assert_eq!(some.part(1, 2).slice(1), [50.0, 51.0]);
        let all = Columns::from(matrix.as_ref());
        assert_eq!((all.part(3, 4).ncols(), all.part(3, 4).slice(1)), (4, &[40.0, 41.0][..]));
        some.with_matrix(|own| assert_eq!((own.ncols(), own.col(2)), (4, all.col(5))));
        all.with_matrix(|own| assert_eq!(own, matrix));
    }
}
