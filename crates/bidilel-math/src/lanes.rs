//! The SIMD operations that the GEMM micro-kernel needs of a number type.

use pulp::Simd;
use pulp::bytemuck::{Pod, cast_slice};

/// A number type that SIMD registers hold.
pub trait Lanes: Pod {
    /// A SIMD register.
    type Vector<S: Simd>: Pod;

    /// Lanes of a register.
    fn lanes<S: Simd>() -> usize {
        size_of::<Self::Vector<S>>() / size_of::<Self>()
    }

    /// Broadcasts a value to all lanes.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// `left * right + sum`, fused where the processor supports it.
    fn multiply_add<S: Simd>(
        simd: S,
        left: Self::Vector<S>,
        right: Self::Vector<S>,
        sum: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// A slice as registers; its length must be a multiple of the lanes.
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
