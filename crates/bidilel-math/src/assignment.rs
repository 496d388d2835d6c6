//! The linear assignment problem: one-to-one assignment of rows to columns at minimum total cost.
//!
//! `$$ \min_{\pi} \sum_{i=1}^{n} C_{i,\pi(i)}, \qquad \pi \text{ a permutation of } \{1, \dots, n\} $$`
//!
//! for a cost matrix $C$ ($n \times n$). With distances between clusters and class embeddings as costs
//! this is the problem of structured prediction (Wang & Chen 2017, eq. (11)).
//!
//! Shortest augmenting paths (Jonker and Volgenant): rows are inserted one at a time. Each gets the shortest alternating path to
//! a free column, found by Dijkstra's algorithm on the reduced costs $C_{ij} - u_i - v_j \ge 0$; updating the potentials
//! $u, v$ after each path keeps the reduced costs nonnegative. The total cost is $O(n^3)$.
//!
//! ```
//! use bidilel_math::assignment::assign;
//!
//! // Both rows prefer column 0, but row 1 loses less with column 1.
//! let cost = faer::mat![[1.0, 9.0], [2.0, 3.0]];
//! assert_eq!(assign(cost.as_ref()), [0, 1]);
//! ```
//!
//! # References
//!
//! - R. Jonker, A. Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment
//!   problems. Computing 38, 1987.
//! - Q. Wang, K. Chen: Zero-shot visual recognition via bidirectional latent embedding. IJCV 124, 2017.

use faer::MatRef;

/// Assigns every row of a square cost matrix to its own column.
///
/// Entry `i` of the result is the column of row `i`. Where several columns continue a path at the same
/// cost the lowest index is taken, so equal inputs give equal results.
///
/// # Panics
///
/// If the matrix is not square or a cost is not finite.
pub fn assign(cost: MatRef<'_, f64>) -> Vec<usize> {
    assert_eq!(cost.nrows(), cost.ncols(), "the cost matrix must be square");
    assert!(cost.col_iter().all(|column| column.iter().all(|c| c.is_finite())), "costs must be finite");
    let mut matching = Matching::empty(cost);
    for row in 0..cost.nrows() {
        matching.insert(row);
    }
    matching.column_of_row.into_iter().map(|column| column.expect("every row was inserted")).collect()
}

/// A partial assignment that is optimal for the rows inserted so far.
struct Matching<'a> {
    cost: MatRef<'a, f64>,
    column_of_row: Vec<Option<usize>>,
    row_of_column: Vec<Option<usize>>,
    row_potential: Vec<f64>,
    column_potential: Vec<f64>,
}

/// Shortest alternating paths from one row to the columns.
struct Paths {
    /// Reduced length of the shortest known path to each column.
    length: Vec<f64>,
    /// Row from which that path enters the column.
    from_row: Vec<usize>,
    /// Whether the path is known to be the shortest.
    settled: Vec<bool>,
    /// The free column where the search ended.
    end: usize,
}

impl<'a> Matching<'a> {
    fn empty(cost: MatRef<'a, f64>) -> Self {
        let n = cost.nrows();
        Self {
            cost,
            column_of_row: vec![None; n],
            row_of_column: vec![None; n],
            row_potential: vec![0.0; n],
            column_potential: vec![0.0; n],
        }
    }

    fn insert(&mut self, row: usize) {
        let paths = self.shortest_paths(row);
        self.update_potentials(row, &paths);
        let mut column = paths.end;
        // Augment: along the path every row passes its column to the previous row and takes the next one; only
        // the new row has none to pass on.
        loop {
            let taker = paths.from_row[column];
            self.row_of_column[column] = Some(taker);
            match self.column_of_row[taker].replace(column) {
                Some(given) => column = given,
                None => return,
            }
        }
    }

    fn shortest_paths(&self, root: usize) -> Paths {
        let n = self.cost.nrows();
        let (mut length, mut from_row) = (vec![f64::INFINITY; n], vec![root; n]);
        let mut settled = vec![false; n];
        let (mut row, mut reached) = (root, 0.0);
        loop {
            let mut nearest: Option<usize> = None;
            for column in (0..n).filter(|&column| !settled[column]) {
                let reduced =
                    self.cost[(row, column)] - self.row_potential[row] - self.column_potential[column];
                if reached + reduced < length[column] {
                    length[column] = reached + reduced;
                    from_row[column] = row;
                }
                if nearest.is_none_or(|best| length[column] < length[best]) {
                    nearest = Some(column);
                }
            }
            let end = nearest.expect("fewer rows than columns are assigned");
            reached = length[end];
            settled[end] = true;
            match self.row_of_column[end] {
                Some(next) => row = next,
                None => return Paths { length, from_row, settled, end },
            }
        }
    }

    /// Makes the reduced costs on the path zero and keeps all of them nonnegative.
    fn update_potentials(&mut self, root: usize, paths: &Paths) {
        let total = paths.length[paths.end];
        self.row_potential[root] += total;
        for column in (0..paths.settled.len()).filter(|&column| paths.settled[column]) {
            if let Some(row) = self.row_of_column[column] {
                let slack = total - paths.length[column];
                self.row_potential[row] += slack;
                self.column_potential[column] -= slack;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::{Mat, mat};
    use proptest::prelude::*;

    use super::*;

    fn total(cost: MatRef<'_, f64>, columns: &[usize]) -> f64 {
        columns.iter().enumerate().map(|(row, &column)| cost[(row, column)]).sum()
    }

    /// Minimum over all permutations that continue `columns`.
    fn minimum_by_enumeration(cost: MatRef<'_, f64>, columns: &mut Vec<usize>) -> f64 {
        if columns.len() == cost.nrows() {
            return total(cost, columns);
        }
        let mut best = f64::INFINITY;
        for column in 0..cost.ncols() {
            if !columns.contains(&column) {
                columns.push(column);
                best = best.min(minimum_by_enumeration(cost, columns));
                columns.pop();
            }
        }
        best
    }

    fn check(cost: &Mat<f64>) -> Result<(), TestCaseError> {
        let columns = assign(cost.as_ref());
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..cost.nrows()).collect::<Vec<_>>());
        let best = minimum_by_enumeration(cost.as_ref(), &mut Vec::new());
        prop_assert!((total(cost.as_ref(), &columns) - best).abs() < 1e-9);
        Ok(())
    }

    fn square(entry: impl Strategy<Value = f64>) -> impl Strategy<Value = Mat<f64>> {
        (1_usize..=7, prop::collection::vec(entry, 49))
            .prop_map(|(n, values)| Mat::from_fn(n, n, |i, j| values[7 * i + j]))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_permutation_is_cheaper(cost in square(-10.0..10.0)) {
            check(&cost)?;
        }

        #[test]
        fn no_permutation_is_cheaper_when_costs_tie(cost in square((0_u8..3).prop_map(f64::from))) {
            check(&cost)?;
        }
    }

    #[test]
    fn equal_costs_give_the_identity() {
        assert_eq!(assign(Mat::full(5, 5, 2.5).as_ref()), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn no_rows_give_no_columns() {
        assert!(assign(Mat::<f64>::zeros(0, 0).as_ref()).is_empty());
    }

    #[test]
    #[should_panic(expected = "costs must be finite")]
    fn a_missing_cost_is_refused() {
        assign(mat![[f64::NAN]].as_ref());
    }
}
