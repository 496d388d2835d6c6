//! Which known classes each fold holds out.

use std::collections::BTreeSet;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::HoldOut;
use crate::error::{Error, Result};
use crate::split::check_share;

/// Fewer classes on either side make every accuracy 1, or leave nothing to learn from.
const MIN_CLASSES: usize = 2;

/// The held-out classes of every fold, ascending, as indices into the known classes.
///
/// Classes are dealt from a shuffled deck, so that none is held out a second time before all others were.
pub(super) fn draw_classes(
    known: usize,
    hold_out: &HoldOut,
    random: &mut ChaCha8Rng,
) -> Result<Vec<Vec<usize>>> {
    check_share("class-share", hold_out.class_share)?;
    if hold_out.folds == 0 {
        let expected = "at least 1".into();
        return Err(Error::Setting { setting: "folds", expected, found: "0".to_owned() });
    }
    if known < 2 * MIN_CLASSES {
        return Err(Error::Setting {
            setting: "the number of known classes",
            expected: format!("at least {}, of which some are held out", 2 * MIN_CLASSES).into(),
            found: known.to_string(),
        });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let count = (known as f64 * hold_out.class_share).round() as usize;
    let count = count.clamp(MIN_CLASSES, known - MIN_CLASSES);
    let mut deck = Vec::new();
    let fold = |_| {
        let mut dealt = BTreeSet::new();
        while dealt.len() < count {
            if deck.is_empty() {
                deck.extend(0..known);
                deck.shuffle(random);
            }
            dealt.extend(deck.pop());
        }
        dealt.into_iter().collect()
    };
    Ok((0..hold_out.folds).map(fold).collect())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::task::Candidates;

    fn drawn(known: usize, folds: usize, class_share: f64) -> Result<Vec<Vec<usize>>> {
        let hold_out =
            HoldOut { folds, class_share, instance_share: 0.2, seed: 0, candidates: Candidates::All };
        draw_classes(known, &hold_out, &mut ChaCha8Rng::seed_from_u64(3))
    }

    #[test]
    fn no_class_is_held_out_again_before_all_others_were() {
        let folds = drawn(20, 5, 0.2).expect("folds");
        let mut all = folds.concat();
        assert!(folds.iter().all(|fold| fold.len() == 4 && fold.is_sorted()));
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        // More folds than classes: still different classes in each.
        let folds = drawn(5, 7, 0.4).expect("folds");
        assert!(folds.iter().all(|fold| fold.len() == 2 && fold[0] < fold[1]));
    }

    #[test]
    fn both_sides_have_two_classes_and_less_is_an_error() {
        assert!(drawn(4, 3, 0.9).expect("folds").iter().all(|fold| fold.len() == 2));
        assert!(drawn(100, 3, 0.001).expect("folds").iter().all(|fold| fold.len() == 2));
        let error = drawn(3, 3, 0.5).expect_err("three classes").to_string();
        assert!(error.contains("at least 4"), "{error}");
        assert!(drawn(10, 0, 0.5).is_err() && drawn(10, 2, 1.0).is_err());
    }
}
