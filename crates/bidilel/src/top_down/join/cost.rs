//! The part of the cost of the mapping that joining classes have a share in, with its gradient.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use bidilel_math::lbfgs::Objective;
use bidilel_math::vector::add_scaled;

use crate::semantic::ClassSemantics;
use crate::top_down::forces::{Forces, Points, squared_norms};
use crate::top_down::smacof::Majorized;
use crate::top_down::span::{Hull, columns};
use crate::top_down::{DISTANCE_FLOOR, init};

/// Fixed classes whose forces are computed at a time.
const BLOCK_FIXED: usize = 256;
/// Joining classes that one thread evaluates at a time.
const BLOCK_JOINING: usize = 64;

/// Points, and how far the joining classes should be from them.
#[derive(Debug, Clone)]
struct Fixed {
    points: Mat<f64>,
    norms: Vec<f64>,
    /// Points x joining classes, at least the floor.
    semantic: Mat<f64>,
    weight: f64,
}

impl Fixed {
    fn new(points: MatRef<'_, f64>, semantic: Mat<f64>, weight: f64) -> Self {
        Self { norms: squared_norms(points), points: points.to_owned(), semantic, weight }
    }

    fn at(&self, points: Mat<f64>) -> Self {
        Self { norms: squared_norms(points.as_ref()), points, ..self.clone() }
    }

    fn points(&self) -> Points<'_> {
        Points { points: self.points.as_ref(), norms: &self.norms }
    }
}

/// The part of the cost that the joining classes have a share in, as a function of their points, column after column.
#[derive(Debug, Clone)]
pub(super) struct Joining {
    landmarks: Fixed,
    settled: Fixed,
    /// Distances among the joining classes; the floor on the diagonal.
    among: Mat<f64>,
    /// Weight of a pair of unseen classes.
    inner_weight: f64,
    /// How many distances were raised to the floor.
    pub(super) floored: usize,
}

impl Joining {
    pub(super) fn new(
        landmarks: MatRef<'_, f64>,
        settled: MatRef<'_, f64>,
        semantics: &ClassSemantics,
    ) -> Self {
        let distances = &semantics.distances;
        let (known, unseen) = distances.known_unseen.shape();
        let (before, inner) = (settled.ncols(), &distances.unseen_unseen);
        let joining = unseen - before;
        let mut floored = 0;
        let mut raised = |value: f64| {
            floored += usize::from(value < DISTANCE_FLOOR);
            value.max(DISTANCE_FLOOR)
        };
        let outer = Mat::from_fn(known, joining, |i, j| raised(distances.known_unseen[(i, before + j)]));
        let between = Mat::from_fn(before, joining, |i, j| raised(inner.get(i, before + j)));
        let among = Mat::from_fn(joining, joining, |i, j| {
            if i == j { DISTANCE_FLOOR } else { raised(inner.get(before + i, before + j)) }
        });
        let inner_weight = 2.0 / (unseen * unseen.saturating_sub(1)).max(1) as f64;
        Self {
            landmarks: Fixed::new(landmarks, outer, 1.0 / (known * unseen) as f64),
            settled: Fixed::new(settled, between, inner_weight),
            among,
            inner_weight,
            floored,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.among.ncols()
    }

    /// The landmarks.
    pub(super) fn landmarks(&self) -> MatRef<'_, f64> {
        self.landmarks.points.as_ref()
    }

    /// The same cost and initial points in the coordinates of the landmarks' hull, if all points are in it.
    pub(super) fn within(&self, hull: &Hull, start: &[f64]) -> Option<(Self, Vec<f64>)> {
        let points = &self.landmarks.points;
        let start = hull.within(MatRef::from_column_major_slice(start, points.nrows(), self.count()))?;
        let settled = hull.within(self.settled.points.as_ref())?;
        let cost = Self {
            landmarks: self.landmarks.at(hull.landmarks(points.as_ref())),
            settled: self.settled.at(settled),
            ..self.clone()
        };
        Some((cost, columns(start.as_ref())))
    }

    /// Moves initial points apart from settled ones that they coincide with: between these the cost has no gradient.
    pub(super) fn leave_settled(&self, start: &mut [f64]) {
        let dim = self.settled.points.nrows();
        for (j, own) in start.chunks_mut(dim).enumerate() {
            let coincides = (0..self.settled.norms.len()).any(|k| {
                init::coincide(self.settled.points.col_as_slice(k), own)
                    && self.settled.semantic[(k, j)] > DISTANCE_FLOOR
            });
            if coincides {
                init::perturb(own, j as u64);
            }
        }
    }
}

impl Objective for Joining {
    fn evaluate(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (dim, count) = (self.landmarks.points.nrows(), self.count());
        let points = MatRef::from_column_major_slice(point, dim, count);
        let norms = squared_norms(points);
        let all = Points { points, norms: &norms };
        let costs: Vec<f64> = gradient
            .par_chunks_mut(dim * BLOCK_JOINING)
            .enumerate()
            .map(|(block, gradient)| {
                let (first, columns) = (block * BLOCK_JOINING, gradient.len() / dim);
                let own = all.part(first, columns);
                let mut gradient = MatMut::from_column_major_slice_mut(gradient, dim, columns);
                gradient.fill(0.0);
                let (mut totals, mut cost) = (vec![0.0; columns], 0.0);
                let mut add = |fixed: &Points<'_>, semantic: &Mat<f64>, weight: f64, share: f64| {
                    for start in (0..fixed.norms.len()).step_by(BLOCK_FIXED) {
                        let some = fixed.part(start, BLOCK_FIXED.min(fixed.norms.len() - start));
                        let semantic =
                            |j: usize| &semantic.col_as_slice(first + j)[start..][..some.norms.len()];
                        let forces = Forces::between(&some, &own, weight, semantic);
                        cost += share * forces.cost;
                        forces.pull_columns(&some, &mut totals, gradient.as_mut());
                    }
                };
                add(&self.landmarks.points(), &self.landmarks.semantic, self.landmarks.weight, 1.0);
                add(&self.settled.points(), &self.settled.semantic, self.settled.weight, 1.0);
                // Every pair is met twice here, once from each of its classes.
                add(&all, &self.among, self.inner_weight, 0.5);
                for (j, &total) in totals.iter().enumerate() {
                    let column = gradient.as_mut().col_mut(j).try_as_col_major_mut();
                    add_scaled(
                        column.expect("gradients are column-major").as_slice_mut(),
                        total,
                        own.column(j),
                    );
                }
                cost
            })
            .collect();
        // A class and itself, at distance zero, were counted as a pair at the floor.
        costs.iter().sum::<f64>() - 0.5 * self.inner_weight * DISTANCE_FLOOR * count as f64
    }
}

impl Majorized for Joining {
    fn system(&self) -> Mat<f64> {
        let count = self.count();
        let mut system = Mat::zeros(count, count);
        for j in 0..count {
            for fixed in [&self.landmarks, &self.settled] {
                let stiffness = fixed.semantic.col_as_slice(j).iter().map(|semantic| fixed.weight / semantic);
                system[(j, j)] += stiffness.sum::<f64>();
            }
            for k in 0..j {
                let weight = self.inner_weight / self.among[(k, j)];
                system[(j, j)] += weight;
                system[(k, k)] += weight;
                system[(j, k)] -= weight;
            }
        }
        system
    }
}
