//! `bidilel tune DATASET`: choose settings on known classes only.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use bidilel::Candidates;
use bidilel::settings::Settings;
use bidilel::tune::{Evaluator, Rule, folds};
use bidilel_math::Observer;
use bidilel_report::{Format, Tuning};

use crate::progress::Progress;
use crate::tuning::args::TuneArgs;
use crate::tuning::host::Console;
use crate::tuning::journal::{Journal, ScoreBook};
use crate::tuning::text;
use crate::{output, source, terminal};

/// More than any of the files takes: settings, curves, a page, a journal of a thousand evaluations.
const OUTPUT_BYTES: usize = 1 << 20;

pub(super) fn run(args: &TuneArgs, format: Format, progress: &Progress) -> Result<()> {
    let started = Instant::now();
    let seed = args.values.seed;
    let plan = args.plan()?;
    args.values.splits.require_one("tune")?;
    args.out.iter().try_for_each(|path| output::check_ending(path, &["toml", "json"], "a settings file"))?;
    args.curves.iter().try_for_each(|path| output::check_ending(path, &["svg"], "a drawing"))?;
    args.journal.iter().try_for_each(|path| output::need_name(path, "a journal"))?;
    let targets = args.out.iter().chain(&args.curves).chain(&args.journal);
    targets.into_iter().try_for_each(|path| output::check_room(path, OUTPUT_BYTES))?;
    args.report.check()?;
    let dataset = Arc::new(source::open(&args.dataset, seed, progress)?);
    let (trial, drawn) = args.values.splits.one_trial(&dataset, &plan.base, seed)?;
    args.values.splits.note_left_out(&dataset, progress);
    let choice = plan.base.choice(&dataset)?;
    if choice.candidates == Candidates::All && trial.test_seen.is_empty() {
        progress.note(
            "all instances of known classes are used: for a later `evaluate --generalized`, give the same --test-seen-share to both",
        );
    }
    let folds = folds(&dataset, &trial, args.held_out(trial.known.len())?)?;
    text::note_folds(&dataset, &trial, &folds, progress);
    let mut evaluator = Evaluator::new(Arc::clone(&dataset), &trial, folds, &choice, seed, progress)?;
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
    let journal = journal.as_ref().map(|journal| journal as &dyn ScoreBook);
    let console = Console::new(journal, args.budget, progress);
    let outcome = plan.run(&mut evaluator, &console, &console);
    console.clear();
    let mut outcome = outcome?;
    if plan.rule == Rule::Highest {
        text::add_chosen_refiner(&mut outcome);
    }
    let best = &outcome.best.settings;
    let line = |settings: &Settings| text::command(&args.dataset, &args.values.splits, seed, settings);
    // The other one, too, where refining was not asked for: it needs all test instances at once.
    let other = match &outcome.inductive {
        Some(inductive) => Some(text::without_refiner(inductive)),
        None => text::with_self_training(best),
    };
    let commands: Vec<String> = std::iter::once(best.clone()).chain(other).map(|one| line(&one)).collect();
    let seconds = started.elapsed().as_secs_f64();
    let tuning = Tuning {
        random_splits: drawn,
        ..Tuning::of(&outcome, &trial.name, commands, seconds, evaluator.searched())
    };
    // Hours of work are on the screen before a full disk can spoil them.
    match format {
        Format::Json => output::print_json_about(&dataset.name, &tuning)?,
        Format::Text => output::print(&tuning.text(terminal::width()))?,
        other => output::print_table(&tuning.table(usize::MAX), other)?,
    }
    let mut files = Vec::new();
    if let Some(path) = &args.out {
        // What makes no difference to the method that was chosen was not chosen.
        files.push((path, settings_file(path, &best.effective())?));
    }
    if let Some(path) = &args.curves {
        files.push((path, tuning.drawing()));
    }
    // One that cannot be written is no reason to leave out the others.
    let mut written: Vec<Result<()>> =
        files.iter().map(|(path, text)| output::write_text(path, text)).collect();
    written.push(args.report.write(&tuning, &[("dataset", dataset.name.as_str().into())], progress));
    written.into_iter().collect()
}

/// Settings as the file's ending asks for.
fn settings_file(path: &Path, settings: &Settings) -> Result<String> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return Ok(serde_json::to_string_pretty(settings)? + "\n");
    }
    toml::to_string(settings).context("cannot write the settings as TOML")
}
