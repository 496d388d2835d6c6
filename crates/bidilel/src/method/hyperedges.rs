//! Hyperedges of nearest neighbors between two embeddings of the same vertices.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// Vertices that one thread compares with all others at a time.
const BLOCK_VERTICES: usize = 64;

/// Per vertex, itself and the `k` other vertices whose unit vectors in `to` are nearest to its own in `from`, and the mean
/// of their cosines, where it is positive, as the weight.
///
/// Equal cosines are ordered by index.
pub(super) fn hyperedges(from: MatRef<'_, f64>, to: MatRef<'_, f64>, k: usize) -> Vec<(Vec<usize>, f64)> {
    let count = to.ncols();
    let k = k.min(count.saturating_sub(1));
    let blocks: Vec<usize> = (0..count).step_by(BLOCK_VERTICES).collect();
    let edges = |&first: &usize| {
        let size = BLOCK_VERTICES.min(count - first);
        let mut cosines = Mat::<f64>::zeros(count, size);
        matmul(cosines.as_mut(), Accum::Replace, to.transpose(), from.subcols(first, size), 1.0, Par::Seq);
        (0..size).map(|i| edge(first + i, cosines.col_as_slice(i), k)).collect::<Vec<_>>()
    };
    blocks.par_iter().flat_map_iter(edges).collect()
}

fn edge(vertex: usize, cosines: &[f64], k: usize) -> (Vec<usize>, f64) {
    if k == 0 {
        return (vec![vertex], 0.0);
    }
    let mut others: Vec<usize> = (0..cosines.len()).filter(|&other| other != vertex).collect();
    others.select_nth_unstable_by(k - 1, |&a, &b| cosines[b].total_cmp(&cosines[a]).then(a.cmp(&b)));
    // A copy: the list of all vertices would keep its capacity for as long as the edge lives.
    let mut members = others[..k].to_vec();
    members.sort_unstable();
    let mean = members.iter().map(|&other| cosines[other]).sum::<f64>() / k as f64;
    members.push(vertex);
    (members, mean.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_has_the_nearest_vertices_of_the_other_view_and_its_own() {
        let from = faer::mat![[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]];
        let to = faer::mat![[1.0, 0.8, 0.0], [0.0, 0.6, -1.0]];
        let found = hyperedges(from.as_ref(), to.as_ref(), 1);
        assert_eq!(found[0], (vec![1, 0], 0.8));
        assert_eq!(found[1], (vec![0, 1], 0.0));
        let (members, weight) = &found[2];
        assert_eq!(members, &[1, 2]);
        assert!((weight - 0.96).abs() < 1e-12);
        // No more than there are.
        assert_eq!(hyperedges(from.as_ref(), to.as_ref(), 9)[0].0, [1, 2, 0]);
    }
}
