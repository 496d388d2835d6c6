//! A latent space with its dimensions turned among themselves, in which instances are placed by fewer products.
//!
//! Lengths in the leading $d_1 < d_2 < \dots$ dimensions stay the same when the dimensions between one and the next are turned
//! among themselves. With $P_r^\top = Q_r R_r$ for the part $P_r$ of the map that belongs to these, $R_r$ takes the place of
//! $P_r^\top$: its row $t$ begins with $t$ zeros, which products leave out. For 10, 100 and 500 of 1,024 dimensions that is a
//! sixth of all. What is found there is turned back by $Q_r$.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Conj, Mat, MatMut, Par, Spec};

use bidilel_math::parallel::{copy, zeros};

use crate::latent_space::{LatentSpace, Map};

/// So many instances a visual dimension pay for the turn twice over.
const WORTH: usize = 4;

/// The space, and how to turn back.
#[derive(Debug)]
pub(crate) struct Turned {
    pub(crate) space: LatentSpace,
    turns: Vec<Turn>,
}

/// $Q_r$, as reflections.
#[derive(Debug)]
struct Turn {
    /// The first of the dimensions that it turns.
    first: usize,
    basis: Mat<f64>,
    coefficients: Mat<f64>,
}

impl Turned {
    /// The leading dimensions of a space, turned between each of `dims` (ascending) and the next; none where so many
    /// instances are not worth it.
    pub(crate) fn of(space: &LatentSpace, dims: &[usize], instances: usize) -> Option<Self> {
        let Map::Linear(map) = &space.map else { return None };
        let visual = map.nrows();
        let dim = dims.last().copied().filter(|&dim| dim <= visual)?;
        if instances < WORTH * visual || !dims.is_sorted() {
            return None;
        }
        let (mut turned, mut mean) = (zeros(visual, dim), vec![0.0; dim]);
        let mut turns = Vec::new();
        let mut first = 0;
        for &end in dims {
            if end == first {
                continue;
            }
            let count = end - first;
            // The mean is turned with the map, as one more column.
            let mut part = zeros(count, visual + 1);
            part.as_mut().subcols_mut(0, visual).copy_from(map.subcols(first, count).transpose());
            part.col_as_slice_mut(visual).copy_from_slice(&space.mean[first..end]);
            let coefficients = factor(part.as_mut());
            for t in 0..count {
                let column = &mut turned.col_as_slice_mut(first + t)[t..];
                column.iter_mut().zip(t..).for_each(|(value, i)| *value = part[(t, i)]);
                mean[first + t] = part[(t, visual)];
            }
            turns.push(Turn { first, basis: copy(part.subcols(0, count)), coefficients });
            first = end;
        }
        Some(Self { space: LatentSpace { map: Map::Linear(turned), mean }, turns })
    }

    /// Turns columns back that are in the leading dimensions, as many as one of `dims`.
    pub(crate) fn back(&self, mut points: MatMut<'_, f64>) {
        for Turn { first, basis, coefficients } in &self.turns {
            if *first >= points.nrows() {
                break;
            }
            let own = points.as_mut().subrows_mut(*first, basis.nrows());
            let mut buffer = MemBuffer::new(apply_block_householder_sequence_on_the_left_in_place_scratch::<
                f64,
            >(basis.nrows(), coefficients.nrows(), own.ncols()));
            apply_block_householder_sequence_on_the_left_in_place_with_conj(
                basis.as_ref(),
                coefficients.as_ref(),
                Conj::No,
                own,
                Par::Seq,
                MemStack::new(&mut buffer),
            );
        }
    }
}

/// $Q R$ in the place of a matrix.
fn factor(mut matrix: MatMut<'_, f64>) -> Mat<f64> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let block = recommended_block_size::<f64>(rows, columns);
    let mut coefficients = Mat::zeros(block, rows.min(columns));
    // One thread: spaces are worked on side by side, and the bits must not depend on how many are.
    let par = Par::Seq;
    let mut buffer = MemBuffer::new(qr_in_place_scratch::<f64>(rows, columns, block, par, Spec::default()));
    qr_in_place(matrix.as_mut(), coefficients.as_mut(), par, MemStack::new(&mut buffer), Spec::default());
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(visual: usize, dim: usize) -> LatentSpace {
        let map = Mat::from_fn(visual, dim, |i, j| ((i * dim + j) as f64).powi(2).sin());
        LatentSpace::around(Map::Linear(map), (0..visual).map(|i| i as f64 / 9.0).collect())
    }

    #[test]
    fn lengths_in_leading_dimensions_stay_and_places_come_back() {
        let features = Mat::<f32>::from_fn(60, 300, |i, j| ((i * 13 + j * 29 + i * j) % 37) as f32 / 7.0);
        for dims in [vec![60], vec![5, 20, 20, 48], vec![1, 2], vec![33]] {
            let space = example(60, 60);
            let turned = Turned::of(&space, &dims, 300).expect("many instances");
            let (before, after) = (space.place(features.as_ref()), turned.space.place(features.as_ref()));
            let (before, after) = (before.expect("linear"), after.expect("linear"));
            let scale = before.norm_max();
            for &dim in &dims {
                let mut back = after.subrows(0, dim).to_owned();
                for i in 0..300 {
                    let length = |places: &Mat<f64>| places.col(i).subrows(0, dim).norm_l2();
                    assert!((length(&before) - length(&after)).abs() < 1e-12 * scale, "{dims:?}");
                }
                turned.back(back.as_mut());
                assert!((back - before.subrows(0, dim)).norm_max() < 1e-12 * scale, "{dims:?}");
            }
        }
    }

    /// Features that do not vary have no say in a map.
    #[test]
    fn zeros_of_the_map_stay_harmless() {
        let Map::Linear(mut map) = example(60, 40).map else { panic!("it is linear") };
        for row in (0..60).filter(|row| row % 3 == 0 || *row < 7) {
            (0..40).for_each(|column| map[(row, column)] = 0.0);
        }
        let space = LatentSpace::around(Map::Linear(map), vec![0.5; 60]);
        let features = Mat::<f32>::from_fn(60, 300, |i, j| ((i * 13 + j * 29 + i * j) % 37) as f32 / 7.0);
        let turned = Turned::of(&space, &[10, 30], 300).expect("many instances");
        let mut back = turned.space.place(features.as_ref()).expect("linear");
        turned.back(back.as_mut());
        let places = space.place(features.as_ref()).expect("linear");
        assert!((back - places.subrows(0, 30)).norm_max() < 1e-12 * places.norm_max());
        // More latent than visual dimensions are left alone.
        assert!(Turned::of(&example(10, 20), &[20], 300).is_none());
    }

    #[test]
    fn rows_of_the_map_begin_with_zeros() {
        let turned = Turned::of(&example(30, 20), &[5, 20], 1000).expect("many instances");
        let Map::Linear(map) = &turned.space.map else { panic!("it is linear") };
        for (column, zeros) in [(0, 0), (4, 4), (5, 0), (19, 14)] {
            assert!(map.col_as_slice(column)[..zeros].iter().all(|&value| value == 0.0));
            assert!(map[(zeros, column)] != 0.0);
        }
        assert!(Turned::of(&example(30, 20), &[5, 20], 100).is_none());
    }
}
