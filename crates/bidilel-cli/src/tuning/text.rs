//! Tuning in words: settings on one line, a command line, tables, a page.

use bidilel::settings::{PostName, Settings};
use bidilel::tune::{Outcome, Scored};
use bidilel_report::{Align, Block, Curve, Table, curves, page};
use serde_json::{Value, json};

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
        json!({
            "settings": scored.settings.entries(),
            "mean": scored.mean,
            "standard_error": scored.standard_error,
            "scores": scored.scores,
            "stage": scored.stage,
        })
    };
    let mut best = Value::Object(outcome.best.settings.entries());
    best["settings"] = Value::Object(outcome.best.settings.entries());
    best["mean"] = json!(outcome.best.mean);
    best["standard_error"] = json!(outcome.best.standard_error);
    json!({
        "best": best,
        "trials": outcome.trials.iter().map(one).collect::<Vec<_>>(),
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
    let mut order: Vec<&Scored> = outcome.trials.iter().collect();
    order.sort_by(|a, b| b.scores.len().cmp(&a.scores.len()).then(b.mean.total_cmp(&a.mean)));
    for one in order.into_iter().take(most) {
        table.push(vec![
            format!("{:.1}", 100.0 * one.mean),
            format!("{:.1}", 100.0 * one.standard_error),
            one.scores.len().to_string(),
            one.stage.to_owned(),
            short(&one.settings),
        ]);
    }
    table
}

/// What a person reads at the end.
pub(crate) fn summary(outcome: &Outcome, commands: &[String], seconds: f64) -> String {
    let Scored { settings, mean, standard_error, scores, .. } = &outcome.best;
    format!(
        "{}\nbest: {}\n  {:.1} ± {:.1} % on held-out known classes ({} trial{}), {} settings tried in {seconds:.1} s{}\n\n{}\n",
        table(outcome, SHOWN).render(bidilel_report::Format::Text),
        short(settings),
        100.0 * mean,
        100.0 * standard_error,
        scores.len(),
        if scores.len() == 1 { "" } else { "s" },
        outcome.trials.len(),
        if outcome.stopped { "; the budget ended it early" } else { "" },
        commands.join("\n")
    )
}

/// The curves of an outcome as an SVG.
pub(crate) fn drawing(outcome: &Outcome) -> String {
    let chosen = outcome.best.settings.entries();
    let curve = |curve: &bidilel::tune::Curve| {
        let value =
            |point: &Scored| point.settings.entries().get(&curve.setting).map(plain).unwrap_or_default();
        let best = chosen.get(&curve.setting).map(plain);
        let points = curve.points.iter().map(|point| (value(point), point.mean, point.standard_error));
        Curve {
            title: curve.setting.replace('_', "-"),
            points: points.collect(),
            chosen: curve.points.iter().position(|point| Some(value(point)) == best),
        }
    };
    curves("Accuracy against each setting", &outcome.curves.iter().map(curve).collect::<Vec<_>>())
}

/// One page with everything.
pub(crate) fn html(dataset: &str, outcome: &Outcome, commands: &[String], seconds: f64) -> String {
    let Scored { settings, mean, standard_error, .. } = &outcome.best;
    let best = format!(
        "{}: {:.1} ± {:.1} % on held-out known classes, {} settings tried in {seconds:.1} s",
        short(settings),
        100.0 * mean,
        100.0 * standard_error,
        outcome.trials.len()
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
