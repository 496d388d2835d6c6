//! Tuning in words: settings on one line, a command line, tables, a page.

use std::cmp::Reverse;

use bidilel::settings::{PostName, Settings};
use bidilel::tune::{Outcome, Scored};
use bidilel_report::{Align, Block, Curve, Table, curves, page};
use serde_json::{Value, json};

use crate::output;

/// Settings in the table for a person.
const SHOWN: usize = 10;

/// `alpha 10.0, dim 100`: the settings that were given.
pub(crate) fn short(settings: &Settings) -> String {
    let entries = settings.effective().entries();
    let part = |(name, value): (&String, &Value)| format!("{} {}", name.replace('_', "-"), plain(value));
    let parts: Vec<String> = entries.iter().map(part).collect();
    if parts.is_empty() { "the defaults".to_owned() } else { parts.join(", ") }
}

/// The command that evaluates these settings on the unseen classes.
pub(crate) fn command(dataset: &str, split: Option<&str>, seed: u64, settings: &Settings) -> String {
    let mut words = vec!["bidilel".to_owned(), "evaluate".to_owned(), quoted(dataset)];
    if let Some(split) = split {
        words.extend(["--split".to_owned(), quoted(split)]);
    }
    for (name, value) in settings.effective().entries() {
        let option = format!("--{}", name.replace('_', "-"));
        match value {
            Value::Bool(true) => words.push(option),
            Value::Bool(false) => {}
            value => words.extend([option, quoted(&plain(&value))]),
        }
    }
    if seed != 0 {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    words.join(" ")
}

/// The outcome with the refiner that tuning found, where held-out classes speak for it.
///
/// The paper's order ends with settings without it and the number of neighbours that suits it. What is saved must be what
/// scored best, or whoever uses the file gets something else.
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

/// The same settings with self-training, where tuning found its neighbours but did not ask for it.
pub(crate) fn with_self_training(settings: &Settings) -> Option<Settings> {
    let found = settings.self_training_neighbors.is_some() && settings.post.is_none();
    found.then(|| Settings { post: Some(vec![PostName::SelfTraining]), ..settings.clone() })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:,+=@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The object that scripts read.
pub(crate) fn object(outcome: &Outcome, commands: &[String], seconds: f64, searched: usize) -> Value {
    let one = |scored: &Scored| {
        let mut object = json!({
            "settings": scored.settings.effective().entries(),
            "mean": scored.mean,
            "standard_error": scored.standard_error,
            "scores": scored.scores,
            "stage": scored.stage.name(),
        });
        if let Some(problem) = &scored.problem {
            (object["mean"], object["standard_error"]) = (Value::Null, Value::Null);
            object["problem"] = json!(problem);
        }
        object
    };
    let chosen = outcome.best.settings.effective().entries();
    let mut best = Value::Object(chosen.clone());
    best["settings"] = Value::Object(chosen);
    best["mean"] = json!(outcome.best.mean);
    best["standard_error"] = json!(outcome.best.standard_error);
    json!({
        "best": best,
        "trials": outcome.scored.iter().map(one).collect::<Vec<_>>(),
        "stopped_by_budget": outcome.stopped,
        "commands": commands,
        "neighbor_lists_searched_again": searched,
        "seconds": seconds,
    })
}

/// All that was tried, best first.
pub(crate) fn table(outcome: &Outcome, most: usize) -> Table {
    let columns = [
        ("accuracy %", Align::Right),
        ("standard error", Align::Right),
        ("trials", Align::Right),
        ("stage", Align::Left),
        ("settings", Align::Left),
    ];
    let mut table = Table::new(&columns);
    // The chosen setting is the first line, whatever a single score of another says.
    let chosen = outcome.best.settings.entries();
    let rank =
        |one: &Scored| (one.problem.is_some(), one.settings.entries() != chosen, Reverse(one.scores.len()));
    let mut order: Vec<&Scored> = outcome.scored.iter().collect();
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.mean.total_cmp(&a.mean)));
    for one in order.into_iter().take(most) {
        let (mean, error) = match &one.problem {
            Some(_) => ("not possible".to_owned(), "-".to_owned()),
            None => (format!("{:.1}", 100.0 * one.mean), error_of(one).unwrap_or("-".to_owned())),
        };
        let trials = one.scores.len().to_string();
        table.push(vec![mean, error, trials, one.stage.name().to_owned(), short(&one.settings)]);
    }
    table
}

/// The standard error in percent; one trial has none.
fn error_of(one: &Scored) -> Option<String> {
    (one.scores.len() > 1).then(|| format!("{:.1}", 100.0 * one.standard_error))
}

/// `50.8 ± 0.9 %`
fn percent(one: &Scored) -> String {
    let error = error_of(one).map_or(String::new(), |error| format!(" ± {error}"));
    format!("{:.1}{error} %", 100.0 * one.mean)
}

/// What a person reads at the end.
pub(crate) fn summary(outcome: &Outcome, commands: &[String], seconds: f64) -> String {
    let Scored { settings, scores, .. } = &outcome.best;
    let best = format!(
        "best: {}\n  {} on held-out known classes ({} trial{}), {} settings tried in {seconds:.1} s{}",
        short(settings),
        percent(&outcome.best),
        scores.len(),
        if scores.len() == 1 { "" } else { "s" },
        outcome.scored.len(),
        if outcome.stopped { "; the budget ended it early" } else { "" },
    );
    // A command to copy is never broken.
    let table = output::text_table(&table(outcome, SHOWN));
    format!("{table}\n{}\n\n{}\n", output::wrapped(&best), commands.join("\n"))
}

/// The curves of an outcome as an SVG.
pub(crate) fn drawing(outcome: &Outcome) -> String {
    let chosen = outcome.best.settings.entries();
    let curve = |curve: &bidilel::tune::Curve| {
        let value =
            |point: &Scored| point.settings.entries().get(&curve.setting).map(plain).unwrap_or_default();
        let best = chosen.get(&curve.setting).map(plain);
        // What cannot be fitted has no accuracy.
        let points: Vec<&Scored> = curve.points.iter().filter(|point| point.problem.is_none()).collect();
        let chosen = points.iter().position(|point| Some(value(point)) == best);
        let points = points.into_iter().map(|point| (value(point), point.mean, point.standard_error));
        Curve { title: curve.setting.replace('_', "-"), points: points.collect(), chosen }
    };
    curves("Accuracy against each setting", &outcome.curves.iter().map(curve).collect::<Vec<_>>())
}

/// One page with everything.
pub(crate) fn html(dataset: &str, outcome: &Outcome, commands: &[String], seconds: f64) -> String {
    let best = format!(
        "{}: {} on held-out known classes, {} settings tried in {seconds:.1} s",
        short(&outcome.best.settings),
        percent(&outcome.best),
        outcome.scored.len()
    );
    let blocks = [
        Block::Heading("Chosen settings".to_owned()),
        Block::Text(best),
        Block::Code(commands.join("\n")),
        Block::Heading("Accuracy against each setting (%, with standard errors)".to_owned()),
        Block::Drawing(drawing(outcome)),
        Block::Heading("Everything that was tried".to_owned()),
        Block::Table(table(outcome, usize::MAX)),
    ];
    page(&format!("Settings for {dataset}"), &blocks)
}
