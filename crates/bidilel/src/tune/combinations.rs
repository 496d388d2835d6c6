//! Whole grids, random samples of them, and successive halving.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use bidilel_math::Scalar;

use super::grid::{self, Axis, product};
use super::search::Search;
use super::{Curve, Scored, Stage, Strategy};
use crate::error::{Error, Result};
use crate::settings::Settings;

impl<T: Scalar> Search<'_, T> {
    /// All combinations, some of them, or fewer and fewer.
    pub(super) fn product(&mut self) -> Result<Settings> {
        let plan = self.plan;
        let paper = grid::fine().into_iter().take(3);
        let axes = if plan.axes.is_empty() { self.wanted(paper.collect()) } else { plan.axes.clone() };
        let all = product(&plan.base, &axes)?;
        let mut batch = self.admit(all);
        self.evaluator.prepare(&batch, self.watch)?;
        let folds = self.evaluator.folds();
        match plan.strategy {
            Strategy::Halving => return self.halving(batch, &axes),
            Strategy::Random { samples } => {
                if samples == 0 {
                    let expected = "at least 1".to_owned();
                    return Err(Error::Setting { setting: "samples", expected, found: "0".to_owned() });
                }
                batch.shuffle(&mut ChaCha8Rng::seed_from_u64(plan.seed));
                batch.truncate(samples);
            }
            Strategy::Grid | Strategy::Paper => {}
        }
        self.score(Stage::Grid, &batch, folds)?;
        self.best_of_grid(Stage::Grid, &batch, &axes)
    }

    /// Successive halving, by thirds: what does badly on few folds is not tried on many.
    fn halving(&mut self, mut batch: Vec<Settings>, axes: &[Axis]) -> Result<Settings> {
        let all = self.evaluator.folds();
        let mut folds = 1;
        loop {
            self.score(Stage::Halving, &batch, folds)?;
            if folds >= all || self.stopped {
                return self.best_of_grid(Stage::Halving, &batch, axes);
            }
            let mut order: Vec<(f64, usize)> =
                (0..batch.len()).map(|i| (self.scored(Stage::Halving, &batch[i]).mean, i)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            order.truncate(batch.len().div_ceil(3));
            // Those that stay keep the grid's order, by which ties are broken.
            order.sort_by_key(|&(_, i)| i);
            batch = order.iter().map(|&(_, i)| batch[i].clone()).collect();
            folds = (3 * folds).min(all);
        }
    }

    /// The best of a grid, with the best for each value of each axis as its curves.
    fn best_of_grid(&mut self, stage: Stage, batch: &[Settings], axes: &[Axis]) -> Result<Settings> {
        let judged: Vec<Scored> = batch.iter().map(|one| self.scored(stage, one)).collect();
        for axis in axes.iter().filter(|axis| axis.values.len() > 1) {
            let mut points: Vec<Scored> = Vec::new();
            for value in &axis.values {
                let with = |one: &&Scored| {
                    grid::set(&one.settings, &axis.name, value).is_ok_and(|same| same == one.settings)
                };
                let among: Vec<Scored> = judged.iter().filter(with).cloned().collect();
                points.extend(Scored::best(&among).ok().cloned());
            }
            self.curves.push(Curve { setting: axis.name.clone(), points });
        }
        Scored::best(&judged).map(|best| best.settings.clone())
    }
}
