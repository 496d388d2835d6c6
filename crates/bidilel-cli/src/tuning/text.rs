//! What to do with tuned settings: the command line that evaluates them, with the refiner that tuning found.

use bidilel::dataset::Dataset;
use bidilel::settings::{PostName, Settings};
use bidilel::split::Trial;
use bidilel::tune::{Nearness, Outcome};
use bidilel_math::Observer;
use bidilel_report::setting_text;
use serde_json::Value;

use crate::progress::{Progress, Verbosity};
use crate::splits::SplitArgs;

/// Relative difference of two mean semantic distances that is worth a warning.
const UNLIKE: f64 = 0.2;

/// The command that evaluates these settings on the unseen classes.
pub(crate) fn command(dataset: &str, splits: &SplitArgs, seed: u64, settings: &Settings) -> String {
    let mut words = vec!["bidilel".to_owned(), "evaluate".to_owned(), quoted(dataset)];
    words.extend(splits.words().iter().map(|word| quoted(word)));
    for (name, value) in settings.effective().entries() {
        let option = format!("--{}", name.replace('_', "-"));
        match value {
            Value::Bool(true) => words.push(option),
            Value::Bool(false) => {}
            value => words.extend([option, quoted(&setting_text(&value))]),
        }
    }
    if seed != 0 {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    words.join(" ")
}

/// Gives the outcome the refiner that tuning found, where it scores higher on held-out classes.
///
/// The paper's order ends with a setting without a refiner and with the number of neighbors that suits it. The saved
/// setting must be the one that scored best.
pub(crate) fn add_chosen_refiner(outcome: &mut Outcome) {
    if let Some(refined) = with_self_training(&outcome.best.settings)
        && let Some(scored) = outcome.scored.iter().find(|one| one.settings.entries() == refined.entries())
        && scored.scores.len() == outcome.best.scores.len()
        && scored.mean > outcome.best.mean
    {
        outcome.inductive = Some(std::mem::replace(&mut outcome.best, scored.clone()).settings);
    }
}

/// Says how far held-out classes are from the others, and warns where the unseen ones are not as far.
pub(crate) fn note_folds(dataset: &Dataset, trial: &Trial, folds: &[Trial], progress: &Progress) {
    let Some(nearness) = Nearness::new(dataset, trial) else { return };
    let mean = |fold: &Trial| nearness.of(&fold.unseen);
    if progress.verbosity() == Verbosity::Verbose {
        for fold in folds {
            let (count, mean, unseen) = (fold.unseen.len(), mean(fold), nearness.unseen);
            progress.note(&format!(
                "{}: {count} classes are held out, on average {mean:.3} from the nearest class that is not; the \
                 unseen classes are {unseen:.3} from the nearest known one",
                fold.name
            ));
        }
    }
    let unlike = |fold: &&Trial| (mean(fold) / nearness.unseen - 1.0).abs() > UNLIKE;
    if let [only] = folds
        && let Some(fold) = Some(only).filter(unlike)
    {
        progress.note(&format!(
            "the classes that are held out are on average {:.2} from the nearest other known class, the unseen ones \
             {:.2}: what suits the former may not suit the latter; several random folds are safer (--trials 5)",
            mean(fold),
            nearness.unseen
        ));
    }
}

/// The same settings without the refiner that [`add_chosen_refiner`] may have added.
pub(crate) fn without_refiner(settings: &Settings) -> Settings {
    Settings { post: None, self_training_neighbors: None, ..settings.clone() }
}

/// The same settings with self-training, where tuning found its neighbors but did not ask for it.
pub(crate) fn with_self_training(settings: &Settings) -> Option<Settings> {
    let found = settings.self_training_neighbors.is_some() && settings.post.is_none();
    found.then(|| Settings { post: Some(vec![PostName::SelfTraining]), ..settings.clone() })
}

/// A word quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:,+=@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
