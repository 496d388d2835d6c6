//! Which classes are unseen: one standard division over all groups, and a family of random ones.

use rand::seq::SliceRandom;

use crate::dataset::{Split, SplitKind};

use super::classes::Classes;
use super::random::{Part, stream};
use super::{ORIGIN, Synthetic};

/// The `standard` split, and `random` if any trials are asked for.
pub(super) fn draw(settings: &Synthetic, classes: &Classes, seed: u64) -> Vec<Split> {
    let mut rng = stream(seed, Part::Splits);
    let unseen: Vec<usize> = classes.ids().filter(|&class| classes.unseen[class]).collect();
    let mut known: Vec<usize> = classes.ids().filter(|&class| !classes.unseen[class]).collect();
    known.shuffle(&mut rng);
    let validation = first_sorted(&known, settings.validation);
    let mut splits = vec![split("standard", SplitKind::Classes { unseen, validation })];

    let mut all: Vec<usize> = classes.ids().collect();
    let trials = (0..settings.trials)
        .map(|_| {
            all.shuffle(&mut rng);
            first_sorted(&all, settings.unseen)
        })
        .collect::<Vec<_>>();
    if !trials.is_empty() {
        splits.push(split("random", SplitKind::Family { trials }));
    }
    splits
}

fn split(name: &str, kind: SplitKind) -> Split {
    Split { name: name.to_owned(), origin: ORIGIN.to_owned(), kind }
}

fn first_sorted(classes: &[usize], count: usize) -> Vec<usize> {
    let mut chosen = classes[..count].to_vec();
    chosen.sort_unstable();
    chosen
}
