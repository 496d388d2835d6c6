//! What the kernel of a product needs of a number type: registers full of it.

use pulp::Simd;
use pulp::bytemuck::{Pod, cast_slice};

/// A number type that the vector registers take.
pub trait Lanes: Pod {
    /// A register full of these.
    type Vector<S: Simd>: Pod;

    /// How many a register holds.
    fn lanes<S: Simd>() -> usize {
        size_of::<Self::Vector<S>>() / size_of::<Self>()
    }

    /// The same number in every lane.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// `left * right + sum`, rounded once where the machine can.
    fn multiply_add<S: Simd>(
        simd: S,
        left: Self::Vector<S>,
        right: Self::Vector<S>,
        sum: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// Numbers, as registers take them; their count must be a multiple of a register's.
    #[inline(always)]
    fn vectors<S: Simd>(values: &[Self]) -> &[Self::Vector<S>] {
        cast_slice(values)
    }
}

impl Lanes for f32 {
    type Vector<S: Simd> = S::f32s;

    #[inline(always)]
    fn splat<S: Simd>(simd: S, value: Self) -> S::f32s {
        simd.splat_f32s(value)
    }

    #[inline(always)]
    fn multiply_add<S: Simd>(simd: S, left: S::f32s, right: S::f32s, sum: S::f32s) -> S::f32s {
        simd.mul_add_e_f32s(left, right, sum)
    }
}

impl Lanes for f64 {
    type Vector<S: Simd> = S::f64s;

    #[inline(always)]
    fn splat<S: Simd>(simd: S, value: Self) -> S::f64s {
        simd.splat_f64s(value)
    }

    #[inline(always)]
    fn multiply_add<S: Simd>(simd: S, left: S::f64s, right: S::f64s, sum: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(left, right, sum)
    }
}
