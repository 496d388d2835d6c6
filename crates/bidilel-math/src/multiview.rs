//! Canonical correlation analysis of several views of the same instances.
//!
//! For centered views `$X_i$` (dimensions x instances) the maps `$P_i$`, stacked, are the leading solutions of
//! `$$ \begin{pmatrix} X_1 X_1^\top & X_1 X_2^\top & \cdots \\ X_2 X_1^\top & X_2 X_2^\top & \\ \vdots & & \ddots \end{pmatrix} p
//! = \lambda \, \mathrm{diag}(X_i X_i^\top + r \bar\lambda_i I) \, p, $$`
//! the directions along which the projected views differ least relative to their variance. The ridge $r$ is relative to the
//! mean eigenvalue `$\bar\lambda_i$` of each view. With $V$ views $\lambda$ is between 0 and $V$, and $\lambda / V$ is the
//! correlation: 1 where all projections agree and no ridge takes its share.
//!
//! # References
//! J. Kettenring, *Canonical analysis of several sets of variables*, 1971 (the criterion MAXVAR).

use faer::{Mat, MatRef};

use crate::parallel::product;
use crate::{Error, Observer, Result, eigen};

/// Maps of several views into one space.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiView {
    /// Per view, dimensions of the view x dimensions of the space.
    pub maps: Vec<Mat<f64>>,
    /// $\lambda / V$ per dimension of the space, descending.
    pub correlations: Vec<f64>,
}

/// The leading `count` dimensions, or as many as there are, of views that are centered already.
///
/// # Errors
/// [`Error::Shape`] for views of different numbers of instances; [`Error::Constant`] for a view that is zero; those of the
/// eigensolver.
pub fn correlate(
    views: &[MatRef<'_, f64>],
    ridge: f64,
    count: usize,
    watch: &dyn Observer,
) -> Result<MultiView> {
    let instances = views.first().map_or(0, MatRef::ncols);
    if let Some(other) = views.iter().find(|view| view.ncols() != instances) {
        let what = "the number of instances of a view";
        return Err(Error::Shape { what, expected: instances, found: other.ncols() });
    }
    let first: Vec<usize> = views
        .iter()
        .scan(0, |at, view| {
            *at += view.nrows();
            Some(*at - view.nrows())
        })
        .collect();
    let size = views.iter().map(MatRef::nrows).sum();
    let (mut left, mut right) = (Mat::<f64>::zeros(size, size), Mat::<f64>::zeros(size, size));
    for (i, one) in views.iter().enumerate() {
        for (j, other) in views.iter().enumerate().take(i + 1) {
            let block = product(*one, other.transpose());
            let (rows, columns) = (block.nrows(), block.ncols());
            if i == j {
                let trace: f64 = (0..rows).map(|k| block[(k, k)]).sum();
                if trace <= 0.0 {
                    return Err(Error::Constant { what: "the instances of a view" });
                }
                let mut own = right.as_mut().submatrix_mut(first[i], first[i], rows, rows);
                own.copy_from(&block);
                (0..rows).for_each(|k| own[(k, k)] += ridge * trace / rows as f64);
            } else {
                left.as_mut().submatrix_mut(first[j], first[i], columns, rows).copy_from(block.transpose());
            }
            left.as_mut().submatrix_mut(first[i], first[j], rows, columns).copy_from(&block);
        }
    }
    let found = eigen::generalized(left.as_ref(), right, count.min(size), watch)?;
    let part = |(view, &row): (&MatRef<'_, f64>, &usize)| found.vectors.subrows(row, view.nrows()).to_owned();
    Ok(MultiView {
        maps: views.iter().zip(&first).map(part).collect(),
        correlations: found.values.iter().map(|value| value / views.len() as f64).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    fn view(rows: usize, seed: usize) -> Mat<f64> {
        let mut view = Mat::from_fn(rows, 40, |i, j| ((i * 31 + j * 17 + seed) as f64).powi(2).sin());
        for i in 0..rows {
            let mean = (0..40).map(|j| view[(i, j)]).sum::<f64>() / 40.0;
            (0..40).for_each(|j| view[(i, j)] -= mean);
        }
        view
    }

    #[test]
    fn two_views_of_one_dimension_have_their_correlation() {
        let (one, other) = (view(1, 1), view(1, 2));
        let found = correlate(&[one.as_ref(), other.as_ref()], 0.0, 2, &Silent).expect("a solution");
        let dot = |a: &Mat<f64>, b: &Mat<f64>| (0..40).map(|j| a[(0, j)] * b[(0, j)]).sum::<f64>();
        let r = dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt();
        assert!((found.correlations[0] - f64::midpoint(1.0, r.abs())).abs() < 1e-12);
        assert!((found.correlations[1] - f64::midpoint(1.0, -r.abs())).abs() < 1e-12);
    }

    #[test]
    fn linear_images_of_one_view_correlate_fully_and_coincide() {
        let one = view(3, 1);
        let mixed = Mat::from_fn(4, 3, |i, j| ((i * 3 + j) as f64).powi(2).cos());
        let other = &mixed * &one;
        let third = one.clone();
        let views = [one.as_ref(), other.as_ref(), third.as_ref()];
        let found = correlate(&views, 1e-9, 3, &Silent).expect("a solution");
        assert!(found.correlations.iter().all(|c| (c - 1.0).abs() < 1e-6), "{:?}", found.correlations);
        let projected = |i: usize| found.maps[i].transpose() * views[i];
        assert!((projected(0) - projected(1)).norm_max() < 1e-6);
    }

    #[test]
    fn a_view_that_does_not_vary_is_refused() {
        let (one, none) = (view(2, 1), Mat::<f64>::zeros(2, 40));
        assert!(correlate(&[one.as_ref(), none.as_ref()], 0.1, 1, &Silent).is_err());
        assert!(correlate(&[one.as_ref(), one.as_ref().subcols(0, 7)], 0.1, 1, &Silent).is_err());
    }
}
