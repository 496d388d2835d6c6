//! How far classes are from others by their descriptions.
//!
//! A fold predicts how a setting does on the unseen classes only as far as its held-out classes resemble these. One
//! thing can be told without an instance: how far the nearest known class is.

use crate::dataset::Dataset;
use crate::semantic::ClassSemantics;
use crate::split::Trial;

/// Semantic distances among the known classes of a trial, in the dataset's first representation.
///
/// It is the first one whatever a search uses, so that searches with other descriptions have the same folds.
pub struct Nearness {
    known: Vec<usize>,
    /// Row by row; infinite from a class to itself.
    distances: Vec<f64>,
    /// The mean distance from an unseen class to the nearest known one.
    pub unseen: f64,
}

impl Nearness {
    /// Distances of a trial's classes; none where their descriptions cannot be used.
    pub fn new(dataset: &Dataset, trial: &Trial) -> Option<Self> {
        let apart = ClassSemantics::new(dataset, &[], &trial.known, &trial.unseen).ok()?.distances;
        let nearest =
            apart.known_unseen.col_iter().map(|column| column.iter().copied().fold(f64::INFINITY, f64::min));
        let unseen = nearest.sum::<f64>() / trial.unseen.len() as f64;
        let among = ClassSemantics::new(dataset, &[], &[], &trial.known).ok()?.distances.unseen_unseen;
        let count = trial.known.len();
        let distance = |at: usize| {
            if at / count == at % count { f64::INFINITY } else { among.get(at / count, at % count) }
        };
        let distances = (0..count * count).map(distance).collect();
        unseen.is_finite().then(|| Self { known: trial.known.clone(), distances, unseen })
    }

    /// The mean distance from one of these known classes to the nearest other known one.
    pub fn of(&self, held_out: &[usize]) -> f64 {
        let count = self.known.len();
        let out: Vec<bool> = self.known.iter().map(|class| held_out.contains(class)).collect();
        let nearest = |class: usize| {
            let row = &self.distances[class * count..(class + 1) * count];
            row.iter().zip(&out).filter(|(_, out)| !**out).map(|(&d, _)| d).fold(f64::INFINITY, f64::min)
        };
        let own = (0..count).filter(|&class| out[class]);
        own.map(nearest).sum::<f64>() / held_out.len() as f64
    }

    /// Keeps those choices of classes, in their order, that are about as far from the rest as the unseen classes are
    /// from the known ones.
    pub(super) fn keep_nearest(&self, draws: &mut Vec<Vec<usize>>, count: usize) {
        let mut order: Vec<(f64, usize)> =
            draws.iter().enumerate().map(|(i, draw)| ((self.of(draw) - self.unseen).abs(), i)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut taken: Vec<usize> = order.into_iter().take(count).map(|(_, i)| i).collect();
        taken.sort_unstable();
        *draws = taken.into_iter().map(|i| std::mem::take(&mut draws[i])).collect();
    }
}
