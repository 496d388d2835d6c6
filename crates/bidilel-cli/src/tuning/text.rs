//! What to do with tuned settings: the command line that evaluates them, with the refiner that tuning found.

use bidilel::settings::{PostName, Settings};
use bidilel::tune::Outcome;
use bidilel_report::setting_text;
use serde_json::Value;

use crate::splits::SplitArgs;

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

/// The outcome with the refiner that tuning found, where it scores higher on held-out classes.
///
/// The paper's order ends with a setting without a refiner and with the number of neighbors that suits it. The saved
/// setting must be the one that scored best.
pub(crate) fn with_chosen_refiner(mut outcome: Outcome) -> Outcome {
    if let Some(refined) = with_self_training(&outcome.best.settings)
        && let Some(scored) = outcome.scored.iter().find(|one| one.settings.entries() == refined.entries())
        && scored.scores.len() == outcome.best.scores.len()
        && scored.mean > outcome.best.mean
    {
        outcome.best = scored.clone();
    }
    outcome
}

/// The same settings without the refiner that [`with_chosen_refiner`] may have added.
pub(crate) fn without_refiner(settings: &Settings) -> Settings {
    Settings { post: None, self_training_neighbors: None, ..settings.clone() }
}

/// The same settings with self-training, where tuning found its neighbors but did not ask for it.
pub(crate) fn with_self_training(settings: &Settings) -> Option<Settings> {
    let found = settings.self_training_neighbors.is_some() && settings.post.is_none();
    found.then(|| Settings { post: Some(vec![PostName::SelfTraining]), ..settings.clone() })
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:,+=@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
