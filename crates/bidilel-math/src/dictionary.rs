//! Dictionary learning from second moments: instances as combinations of a few atoms.
//!
//! For instances $X$ (dimensions x instances), atoms $D$ (dimensions x atoms) with `$\|d_k\| \le 1$` and codes $A$
//! `$$ \min_{D, A} \tfrac12 \|X - D A\|^2 + \tfrac{\mu}{2} \|A\|^2. $$`
//! For a given $D$ the codes are those of ridge regression, $A = (D^\top D + \mu I)^{-1} D^\top X$: linear in $X$, so that
//! the problem needs $X X^\top$ alone. For given codes [`update`] minimizes over one atom after the other, which is exact:
//! with $B = X A^\top$ and $C = A A^\top$, atom $k$ becomes the projection of $d_k + (b_k - D c_k) / C_{kk}$ onto the unit
//! ball. No step can raise the objective.
//!
//! # References
//! J. Mairal, F. Bach, J. Ponce and G. Sapiro, *Online learning for matrix factorization and sparse coding*, 2010.

use faer::{Mat, MatRef};

use crate::parallel::product;
use crate::{Observer, Result, eigen, linear, vector};

/// One sweep over the atoms for codes with `cross` $= X A^\top$ and `gram` $= A A^\top$.
///
/// An atom that no instance uses stays as it is.
///
/// # Panics
/// If shapes do not match.
pub fn update(atoms: &mut Mat<f64>, cross: MatRef<'_, f64>, gram: MatRef<'_, f64>) {
    assert_eq!((atoms.nrows(), atoms.ncols()), (cross.nrows(), cross.ncols()), "one column per atom");
    let tiny = f64::EPSILON * (0..gram.ncols()).map(|k| gram[(k, k)]).fold(0.0, f64::max);
    for k in 0..atoms.ncols() {
        let uses = gram[(k, k)];
        if uses <= tiny {
            continue;
        }
        let combined = product(atoms.as_ref(), gram.subcols(k, 1));
        let atom = atoms.col_as_slice_mut(k);
        for (i, value) in atom.iter_mut().enumerate() {
            *value += (cross[(i, k)] - combined[(i, 0)]) / uses;
        }
        let norm = vector::dot(atom, atom).sqrt();
        if norm > 1.0 {
            atom.iter_mut().for_each(|value| *value /= norm);
        }
    }
}

/// $(D^\top D + \mu I)^{-1} D^\top$: the linear map from instances to their codes, atoms x dimensions.
///
/// # Errors
/// Those of [`linear::solve`], where `ridge` is not positive.
pub fn coder(atoms: MatRef<'_, f64>, ridge: f64) -> Result<Mat<f64>> {
    let mut inner = product(atoms.transpose(), atoms);
    (0..inner.nrows()).for_each(|i| inner[(i, i)] += ridge);
    linear::solve(inner, atoms.transpose().to_owned())
}

/// The leading eigenvectors of `scatter` $= X X^\top$: the atoms that alternation begins with.
///
/// # Errors
/// Those of the eigensolver.
pub fn init(scatter: MatRef<'_, f64>, count: usize, watch: &dyn Observer) -> Result<Mat<f64>> {
    Ok(eigen::symmetric(scatter, count.min(scatter.nrows()), watch)?.vectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::krylov::tests::random;

    fn objective(x: &Mat<f64>, atoms: &Mat<f64>, codes: &Mat<f64>, ridge: f64) -> f64 {
        0.5 * (x - atoms * codes).squared_norm_l2() + 0.5 * ridge * codes.squared_norm_l2()
    }

    #[test]
    fn no_step_raises_the_objective_and_atoms_stay_in_the_unit_ball() {
        let x = random(9, 40, 1);
        let mut atoms = random(9, 5, 2);
        for k in 0..5 {
            let norm = atoms.col(k).norm_l2();
            atoms.col_as_slice_mut(k).iter_mut().for_each(|value| *value /= norm);
        }
        let mut last = f64::INFINITY;
        for _ in 0..30 {
            let codes = coder(atoms.as_ref(), 0.3).expect("a positive ridge") * &x;
            let coded = objective(&x, &atoms, &codes, 0.3);
            update(&mut atoms, (&x * codes.transpose()).as_ref(), (&codes * codes.transpose()).as_ref());
            let updated = objective(&x, &atoms, &codes, 0.3);
            assert!(coded <= last * (1.0 + 1e-12) && updated <= coded * (1.0 + 1e-12));
            assert!((0..5).all(|k| atoms.col(k).norm_l2() <= 1.0 + 1e-12));
            last = updated;
        }
    }

    /// Inside the ball the gradient vanishes; on the sphere it points along minus the atom.
    #[test]
    fn repeated_sweeps_end_where_every_atom_is_optimal() {
        let (x, codes) = (random(6, 30, 3), random(4, 30, 4) * faer::Scale(0.4));
        let (cross, gram) = (&x * codes.transpose(), &codes * codes.transpose());
        let mut atoms = Mat::<f64>::zeros(6, 4);
        (0..2000).for_each(|_| update(&mut atoms, cross.as_ref(), gram.as_ref()));
        let slope = &cross - &atoms * &gram;
        for k in 0..4 {
            let (atom, slope) = (atoms.col(k), slope.col(k));
            let along = atom.transpose() * slope;
            let multiplier = if atom.norm_l2() < 1.0 - 1e-9 { 0.0 } else { along };
            assert!(multiplier >= -1e-9);
            assert!((slope - atom * faer::Scale(multiplier)).norm_max() < 1e-8);
        }
    }

    #[test]
    fn codes_are_those_of_ridge_regression_and_eigenvectors_are_a_start() {
        let x = random(5, 12, 7);
        let atoms = init((&x * x.transpose()).as_ref(), 3, &Silent).expect("eigenvectors");
        assert!((atoms.transpose() * &atoms - Mat::<f64>::identity(3, 3)).norm_max() < 1e-9);
        let codes = coder(atoms.as_ref(), 0.5).expect("a positive ridge") * &x;
        let slope = atoms.transpose() * (&atoms * &codes - &x) + &codes * faer::Scale(0.5);
        assert!(slope.norm_max() < 1e-12);
    }
}
