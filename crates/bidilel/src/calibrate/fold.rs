//! The task of one fold: part of the known classes and instances of another task.

use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use bidilel_math::Columns;

use crate::split::draw_instances;
use crate::task::{Candidates, Samples, Shared, Task};

use super::HoldOut;

/// Some known classes of a task act as unseen ones, some instances of the others as test instances.
pub(super) struct Fold {
    /// The task to fit and to recognize.
    pub(super) task: Task,
    /// Its known, then its held-out classes, as indices into the known classes of the task that was divided.
    pub(super) classes: Vec<usize>,
}

impl Fold {
    /// The fold that holds out some known classes (ascending), and the test instances that `random` draws.
    pub(super) fn new(
        task: &Task,
        number: usize,
        held_out: &[usize],
        hold_out: &HoldOut,
        random: &mut ChaCha8Rng,
    ) -> Self {
        let is_out = |class: &usize| held_out.binary_search(class).is_ok();
        let known: Vec<usize> = (0..task.known.len()).filter(|class| !is_out(class)).collect();
        let labels = &task.train.labels;
        let tested = match hold_out.candidates {
            Candidates::All => draw_instances(labels, &known, hold_out.instance_share, random),
            Candidates::Known | Candidates::Unseen => vec![false; labels.len()],
        };
        let instances = |of: &dyn Fn(usize) -> bool| (0..labels.len()).filter(|&i| of(i)).collect::<Vec<_>>();
        let samples = |instances: &[usize], classes: &[usize]| {
            let index = |class: usize| classes.binary_search(&class).expect("its class is on this side");
            Samples {
                features: gathered(task.train.features.as_ref(), instances),
                labels: instances.iter().map(|&i| index(labels[i])).collect(),
            }
        };
        let train = instances(&|i| !is_out(&labels[i]) && !tested[i]);
        let test = instances(&|i| is_out(&labels[i]));
        let test_seen = instances(&|i| tested[i]);
        let names = |classes: &[usize]| classes.iter().map(|&class| task.known[class].clone()).collect();
        let part = Task {
            split: format!("fold {number}"),
            views: task.views.clone(),
            train: samples(&train, &known),
            test: samples(&test, held_out),
            test_seen: (!test_seen.is_empty()).then(|| samples(&test_seen, &known)),
            known: names(&known),
            unseen: names(held_out),
            semantics: task.semantics.among(&known, held_out),
            shared: Shared::default(),
        };
        Self { task: part, classes: known.iter().chain(held_out).copied().collect() }
    }
}

fn gathered(features: MatRef<'_, f32>, instances: &[usize]) -> Mat<f32> {
    let mut own = bidilel_math::parallel::zeros(features.nrows(), instances.len());
    let all = Columns::new(features, instances);
    own.par_col_iter_mut().enumerate().for_each(|(i, mut column)| column.copy_from(all.col(i)));
    own
}
