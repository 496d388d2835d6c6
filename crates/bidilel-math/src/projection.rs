//! Linear projection of many instances: $Y = P^\top X$.
//!
//! $P$ (dimensions x projected dimensions) is packed once; every block of instances is widened to `f64` and multiplied by
//! it. Instances in single precision are never copied whole.
//!
//! ```
//! use bidilel_math::projection::Projector;
//!
//! let map = faer::mat![[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]; // 3 dimensions to 2
//! let instances = faer::mat![[1.0_f32, 4.0], [2.0, 5.0], [3.0, 6.0]];
//! let projected = Projector::new(map.as_ref()).project(instances.as_ref());
//! assert_eq!(projected, faer::mat![[1.0, 4.0], [4.0, 10.0]]);
//! ```

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::panels::{Panels, Product, Right};
use crate::parallel::zeros;
use crate::vector::widen;
use crate::{Columns, Scalar};

/// Instances that one thread widens to `f64` and projects at a time.
const BLOCK_INSTANCES: usize = 24;

/// A linear map, packed for products with many blocks of instances.
#[derive(Debug)]
pub struct Projector {
    /// $P^\top$.
    packed: Panels<f64>,
    input_dim: usize,
    output_dim: usize,
}

impl Projector {
    /// Packs $P$, dimensions x projected dimensions.
    ///
    /// # Panics
    /// If its columns are not contiguous.
    pub fn new(map: MatRef<'_, f64>) -> Self {
        let (input_dim, output_dim) = (map.nrows(), map.ncols());
        let mut packed = Panels::left(output_dim, input_dim);
        packed.pack_columns(map, 1.0);
        Self { packed, input_dim, output_dim }
    }

    /// Writes $P^\top X$ of one block of instances, on the calling thread.
    ///
    /// # Panics
    /// If shapes do not match, or columns are not contiguous.
    pub fn project_block(&self, instances: MatRef<'_, f64>, into: MatMut<'_, f64>) {
        assert_eq!(instances.nrows(), self.input_dim, "dimensions of an instance");
        assert_eq!((into.nrows(), into.ncols()), (self.output_dim, instances.ncols()), "shape of the result");
        let (left, right) = (&self.packed, Right::Columns(instances));
        Product { left, first_row: 0, right, depth: self.input_dim, lower: false }.write_to(into);
    }

    /// $P^\top X$ of instances in memory, in parallel.
    ///
    /// # Panics
    /// If instances have other dimensions than the map.
    pub fn project<'a, T: Scalar>(&self, instances: impl Into<Columns<'a, T>>) -> Mat<f64> {
        let instances = instances.into();
        let mut projected = zeros(self.output_dim, instances.ncols());
        let blocks = projected.par_col_chunks_mut(BLOCK_INSTANCES).enumerate();
        blocks.for_each_init(
            || zeros(instances.nrows(), BLOCK_INSTANCES.min(instances.ncols())),
            |wide, (block, projected)| {
                for i in 0..projected.ncols() {
                    let (from, to) = (instances.col(block * BLOCK_INSTANCES + i), wide.col_as_slice_mut(i));
                    match from.try_as_col_major() {
                        Some(from) => widen(from.as_slice(), to),
                        None => to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = from.to_f64()),
                    }
                }
                self.project_block(wide.subcols(0, projected.ncols()), projected);
            },
        );
        projected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::tests::random;
    use crate::parallel::product;

    #[test]
    fn projections_equal_the_product_for_any_stride_precision_and_selection() {
        let (map, points) = (random(37, 11, 1), random(37, 61, 2));
        let expected = product(map.transpose(), points.as_ref());
        let projector = Projector::new(map.as_ref());
        assert!((projector.project(points.as_ref()) - &expected).norm_max() < 1e-12);
        let transposed = points.transpose().to_owned();
        assert_eq!(projector.project(transposed.transpose()), projector.project(points.as_ref()));
        let narrow = Mat::<f32>::from_fn(37, 61, |i, j| f32::from_f64(points[(i, j)]));
        assert!((projector.project(narrow.as_ref()) - &expected).norm_max() < 1e-5);
        let some = projector.project(Columns::new(points.as_ref(), &[60, 3]));
        assert!((some.col(0) - expected.col(60)).norm_max() < 1e-12);
        assert!((some.col(1) - expected.col(3)).norm_max() < 1e-12);
    }
}
