//! The cost of the landmark-based Sammon mapping as the paper writes it, pair by pair: independent of the optimizers.

use faer::MatRef;
use rayon::prelude::*;

use bidilel_math::distance::squared;

use super::DISTANCE_FLOOR;
use crate::semantic::SemanticDistances;

/// The cost of the landmark-based Sammon mapping at an embedding (Wang & Chen 2017, eq. 7).
///
/// Distances below [`DISTANCE_FLOOR`] count as that floor.
pub fn stress(landmarks: MatRef<'_, f64>, embedding: MatRef<'_, f64>, semantic: &SemanticDistances) -> f64 {
    stress_from(landmarks, embedding, semantic, 0)
}

/// The part of the cost that the unseen classes from `first` on have a share in: all pairs with one of them.
pub fn stress_from(
    landmarks: MatRef<'_, f64>,
    embedding: MatRef<'_, f64>,
    semantic: &SemanticDistances,
    first: usize,
) -> f64 {
    let (known, unseen) = (landmarks.ncols(), embedding.ncols());
    // Without unseen classes there is no pair to misfit.
    if unseen == 0 {
        return 0.0;
    }
    let misfit = |latent: f64, semantic: f64| {
        let semantic = semantic.max(DISTANCE_FLOOR);
        (latent - semantic).powi(2) / semantic
    };
    let latent = |left: MatRef<'_, f64>, i: usize, j: usize| squared(left.col(i), embedding.col(j)).sqrt();
    // One unseen class at a time: among 20,000 of them, all distances at once would be gigabytes.
    let shares: Vec<(f64, f64)> = (first..unseen)
        .into_par_iter()
        .map(|j| {
            let outer = (0..known).map(|i| misfit(latent(landmarks, i, j), semantic.known_unseen[(i, j)]));
            let others = semantic.unseen_unseen.above(j).iter().enumerate();
            (outer.sum(), others.map(|(i, &distance)| misfit(latent(embedding, i, j), distance)).sum())
        })
        .collect();
    let outer: f64 = shares.iter().map(|(outer, _)| outer).sum();
    let inner: f64 = shares.iter().map(|(_, inner)| inner).sum();
    let pairs = unseen * unseen.saturating_sub(1);
    outer / (known * unseen) as f64 + if pairs > 0 { 2.0 * inner / pairs as f64 } else { 0.0 }
}
