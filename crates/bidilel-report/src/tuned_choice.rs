//! How sure the choice of `tune` is: the chosen settings against the defaults.

use bidilel::settings::Settings;
use bidilel::tune::{Paired, STANDARD_ERRORS, Scored, Unit, Verdict};
use serde::Serialize;

use crate::settings_line;

/// The chosen settings, or the best others, against the defaults, on held-out known classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedChoice {
    /// Whether the defaults were kept.
    pub kept_defaults: bool,
    /// Why, in a sentence.
    pub reason: String,
    /// The defaults, with what was fixed.
    pub default: Settings,
    /// Their mean per-class accuracy; none where they cannot be fitted.
    pub default_mean: Option<f64>,
    /// What was compared with them: the chosen settings or, if the defaults were kept, the best of the others; none
    /// where no others scored higher.
    pub compared: Option<Settings>,
    /// The mean difference of `compared` from the defaults.
    pub difference: Option<f64>,
    /// The standard error of the difference.
    pub standard_error: Option<f64>,
    /// What the difference is paired over: `folds` or, with a single fold, its held-out `classes`.
    pub paired_over: Option<&'static str>,
    /// The difference per fold or class.
    pub differences: Vec<f64>,
    /// On how many of them `compared` is better than the defaults.
    pub won: usize,
    /// On how many it is worse.
    pub lost: usize,
    /// By how many standard errors the defaults must be beaten.
    pub required_standard_errors: f64,
}

impl TunedChoice {
    /// What a verdict says.
    pub fn of(verdict: &Verdict) -> Self {
        let Verdict { default, challenger, paired, kept } = verdict;
        let paired = paired.as_ref();
        Self {
            kept_defaults: *kept,
            reason: reason(verdict),
            default: default.settings.effective(),
            default_mean: default.problem.is_none().then_some(default.mean),
            compared: challenger.as_ref().map(|one| one.settings.effective()),
            difference: paired.map(|paired| paired.mean),
            standard_error: paired.map(|paired| paired.standard_error),
            paired_over: paired.map(|paired| unit(paired.unit)),
            differences: paired.map_or(Vec::new(), |paired| paired.differences.clone()),
            won: paired.map_or(0, Paired::won),
            lost: paired.map_or(0, Paired::lost),
            required_standard_errors: STANDARD_ERRORS,
        }
    }
}

fn reason(Verdict { default, challenger, paired, kept }: &Verdict) -> String {
    let mean = |scored: &Scored| format!("{:.1} %", 100.0 * scored.mean);
    match (kept, challenger, paired) {
        (false, _, Some(paired)) => {
            let noise = paired.differences.len() > 1 && !paired.convinces();
            let doubt = if noise {
                format!("; less than {STANDARD_ERRORS} standard errors may be noise")
            } else {
                String::new()
            };
            format!("better than the defaults ({}) by {}{doubt}", mean(default), by(paired))
        }
        (false, ..) => {
            let problem = default.problem.as_deref().unwrap_or("there was no time to score them");
            format!("the defaults cannot be compared: {problem}")
        }
        (true, Some(best), Some(paired)) => format!(
            "the defaults were kept, because the best other settings ({}) are better by no more than noise: {}; \
             more than {STANDARD_ERRORS} standard errors are required",
            settings_line(&best.settings),
            by(paired)
        ),
        (true, ..) => "the defaults were kept, because no other settings scored higher".to_owned(),
    }
}

/// `3.2 ± 0.8 points, on 5 of 5 folds`
fn by(paired: &Paired) -> String {
    let Paired { unit: over, differences, mean, standard_error } = paired;
    let over = match (over, differences.len()) {
        (Unit::Folds, 1) => "fold, which cannot show how much of it is noise",
        (Unit::Folds, _) => "folds",
        (Unit::Classes, _) => "held-out classes",
    };
    let error =
        if differences.len() > 1 { format!(" ± {:.1}", 100.0 * standard_error) } else { String::new() };
    format!("{:.1}{error} points, on {} of {} {over}", 100.0 * mean, paired.won(), differences.len())
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Folds => "folds",
        Unit::Classes => "classes",
    }
}

#[cfg(test)]
mod tests {
    use bidilel::tune::Stage;

    use super::*;

    fn scored(alpha: f64, mean: f64) -> Scored {
        Scored {
            stage: Stage::Grid,
            settings: Settings { alpha: Some(alpha), ..Settings::default() },
            scores: vec![mean; 4],
            mean,
            standard_error: 0.0,
            problem: None,
        }
    }

    #[test]
    fn the_reason_says_how_sure_the_choice_is() {
        let paired =
            |differences: &[f64]| Paired::of(Unit::Folds, differences, &vec![0.0; differences.len()], 0.0);
        let verdict = |kept, differences: &[f64]| Verdict {
            default: scored(10.0, 0.5),
            challenger: Some(scored(1000.0, 0.53)),
            paired: Some(paired(differences)),
            kept,
        };
        let text = |verdict: &Verdict| TunedChoice::of(verdict).reason;
        assert_eq!(
            text(&verdict(false, &[0.02, 0.03, 0.03, 0.04])),
            "better than the defaults (50.0 %) by 3.0 ± 0.4 points, on 4 of 4 folds"
        );
        // The highest mean may win without being surely better.
        assert_eq!(
            text(&verdict(false, &[0.2, -0.04, -0.02, -0.02])),
            "better than the defaults (50.0 %) by 3.0 ± 5.7 points, on 1 of 4 folds; less than 2 standard errors may be \
             noise"
        );
        assert_eq!(
            text(&verdict(true, &[0.2, -0.04, -0.02, -0.02])),
            "the defaults were kept, because the best other settings (alpha 1000.0) are better by no more than noise: \
             3.0 ± 5.7 points, on 1 of 4 folds; more than 2 standard errors are required"
        );
        assert!(text(&verdict(true, &[0.03])).contains("on 1 of 1 fold, which cannot show"));
        let alone = Verdict { challenger: None, paired: None, ..verdict(true, &[0.0]) };
        assert!(text(&alone).ends_with("because no other settings scored higher"));
        let object =
            serde_json::to_value(TunedChoice::of(&verdict(false, &[0.02, 0.04]))).expect("serializable");
        assert_eq!((&object["won"], &object["kept_defaults"]), (&2.into(), &false.into()));
        assert_eq!((&object["paired_over"], &object["default"]["alpha"]), (&"folds".into(), &10.0.into()));
    }
}
