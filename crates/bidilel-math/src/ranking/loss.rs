//! Ranking losses of one instance, with their derivatives by the scores.

/// A loss over the scores of all classes. A class *violates* where its score plus the margin of 1 exceeds the score of
/// the right class: its hinge is `$h_c = [1 + f_c - f_y]_+$`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// `$\frac{1}{C-1} \sum_c h_c$`: all violators alike. The factor keeps steps comparable with those of other losses.
    All,
    /// `$\frac{1}{r} \left( \sum_{i \le r} \frac{1}{i} \right) \sum_c h_c$` with the number $r$ of violators: violators
    /// at the top of the ranking weigh more. $r$ counts as a constant.
    Ranked,
    /// `$\max_c h_c$`: the worst violator.
    Worst,
    /// The hinge of a violator that is drawn at random.
    Drawn,
}

impl Loss {
    /// The loss of an instance, and its derivative by every score in place of the scores; `draw` in $[0, 1)$ chooses
    /// among violators.
    pub(super) fn differentiate(self, scores: &mut [f64], label: usize, draw: f64) -> f64 {
        let threshold = scores[label] - 1.0;
        let wrong = scores.len() - 1;
        let violates = |(class, score): (usize, &f64)| class != label && *score > threshold;
        let violators = scores.iter().enumerate().filter(|&pair| violates(pair)).count();
        if violators == 0 {
            scores.fill(0.0);
            return 0.0;
        }
        let single = match self {
            Self::All | Self::Ranked => None,
            Self::Worst => {
                let others = scores.iter().enumerate().filter(|&pair| violates(pair));
                others.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))).map(|(class, _)| class)
            }
            Self::Drawn => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is below the count"
                )]
                let index = ((draw * violators as f64) as usize).min(violators - 1);
                scores.iter().enumerate().filter(|&pair| violates(pair)).nth(index).map(|(class, _)| class)
            }
        };
        if let Some(class) = single {
            let loss = scores[class] - threshold;
            scores.fill(0.0);
            (scores[class], scores[label]) = (1.0, -1.0);
            return loss;
        }
        let weight = match self {
            Self::Ranked => (1..=violators).map(|rank| 1.0 / rank as f64).sum::<f64>() / violators as f64,
            _ => 1.0 / wrong as f64,
        };
        let mut loss = 0.0;
        for (class, score) in scores.iter_mut().enumerate() {
            if class != label && *score > threshold {
                loss += weight * (*score - threshold);
                *score = weight;
            } else {
                *score = 0.0;
            }
        }
        scores[label] = -weight * violators as f64;
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 5] = [0.3, 1.1, 0.9, -0.5, 0.2];

    fn loss(loss: Loss, scores: &[f64]) -> (f64, Vec<f64>) {
        let mut derivative = scores.to_vec();
        (loss.differentiate(&mut derivative, 2, 0.5), derivative)
    }

    #[test]
    fn losses_are_those_of_their_formulas() {
        // Violators of class 2 at 0.9: classes 0 (0.4), 1 (1.2) and 4 (0.3).
        let harmonic = (1.0 + 0.5 + 1.0 / 3.0) / 3.0;
        for (kind, expected) in
            [(Loss::All, 1.9 / 4.0), (Loss::Ranked, 1.9 * harmonic), (Loss::Worst, 1.2), (Loss::Drawn, 1.2)]
        {
            assert!((loss(kind, &SCORES).0 - expected).abs() < 1e-12, "{kind:?}");
        }
        for (draw, class) in [(0.0, 0), (0.2, 0), (0.5, 1), (0.7, 4), (0.999_999, 4)] {
            let mut scores = SCORES;
            Loss::Drawn.differentiate(&mut scores, 2, draw);
            assert_eq!(scores.iter().position(|&one| one > 0.0), Some(class));
        }
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        for kind in [Loss::All, Loss::Ranked, Loss::Worst, Loss::Drawn] {
            let (_, derivative) = loss(kind, &SCORES);
            for class in 0..SCORES.len() {
                let moved = |by: f64| {
                    let mut scores = SCORES;
                    scores[class] += by;
                    loss(kind, &scores).0
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((difference - derivative[class]).abs() < 1e-8, "{kind:?} {class}");
            }
        }
    }

    #[test]
    fn a_ranking_without_violators_costs_nothing() {
        for kind in [Loss::All, Loss::Ranked, Loss::Worst, Loss::Drawn] {
            assert_eq!(loss(kind, &[0.0, 1.0, 2.5, 1.4, -3.0]), (0.0, vec![0.0; 5]));
        }
    }
}
