//! `bidilel tune DATASET`: choose settings on known classes only.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use bidilel::settings::Settings;
use bidilel::tune::{Evaluator, folds};
use bidilel_math::Observer;
use bidilel_report::Format;

use crate::progress::Progress;
use crate::tuning::args::TuneArgs;
use crate::tuning::host::Desk;
use crate::tuning::journal::Journal;
use crate::tuning::text;
use crate::{output, source};

pub(super) fn run(args: &TuneArgs, format: Format, progress: &Progress) -> Result<()> {
    let started = Instant::now();
    let seed = args.values.seed;
    let plan = args.plan()?;
    let dataset = source::open(&args.dataset, seed, progress)?;
    let split = args.values.split.as_deref();
    let trials = dataset.trials(split)?;
    let [trial] = &trials[..] else {
        let name = split.unwrap_or(&dataset.splits[0].name);
        bail!("split `{name}` has {} trials: name one, as in --split {name}:0", trials.len());
    };
    let choice = plan.base.choice(&dataset)?;
    let folds = folds(&dataset, trial, args.held_out())?;
    let mut evaluator = Evaluator::new(&dataset, trial, folds, &choice, seed, progress)?;
    let journal = match &args.journal {
        None => None,
        Some(path) => {
            let fingerprint = format!("{}{}", evaluator.fingerprint(), plan.fingerprint());
            let journal = Journal::open(path, &fingerprint, args.resume)?;
            if args.resume {
                progress.note(&format!("{} evaluations are in the journal", journal.len()));
            }
            Some(journal)
        }
    };
    progress.finish();
    let desk = Desk::new(journal, args.budget, progress);
    let outcome = plan.run(&mut evaluator, &desk, &desk);
    desk.clear();
    let outcome = outcome?;
    let best = &outcome.best.settings;
    let line = |settings: &Settings| text::command(&args.dataset, split, seed, settings);
    let commands: Vec<String> =
        std::iter::once(best.clone()).chain(text::with_self_training(best)).map(|one| line(&one)).collect();
    let seconds = started.elapsed().as_secs_f64();
    let write =
        |path: &Path, text: &str| output::write_to(Some(path), |out| Ok(out.write_all(text.as_bytes())?));
    if let Some(path) = &args.out {
        write(path, &settings_file(path, best)?)?;
    }
    if let Some(path) = &args.curves {
        write(path, &text::drawing(&outcome))?;
    }
    if let Some(path) = &args.report {
        write(path, &text::html(&dataset.name, &outcome, &commands, seconds))?;
    }
    match format {
        Format::Json => output::print_json(&text::object(&outcome, &commands, seconds, evaluator.searched())),
        Format::Text => output::print(&text::summary(&outcome, &commands, seconds)),
        other => output::print(&text::table(&outcome, usize::MAX).render(other)),
    }
}

/// Settings as the file's ending asks for.
fn settings_file(path: &Path, settings: &Settings) -> Result<String> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return Ok(serde_json::to_string_pretty(settings)? + "\n");
    }
    toml::to_string(settings).context("cannot write the settings as TOML")
}
