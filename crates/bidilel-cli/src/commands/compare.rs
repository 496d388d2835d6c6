//! `bidilel compare DATASET`: several methods on the same trials.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use bidilel::compare::{Contender, Contest};
use bidilel::evaluate::Run;
use bidilel::metrics::class_accuracies;
use bidilel::settings::Settings;
use bidilel::split::Trials;
use bidilel::tune::Holdout;
use bidilel_math::Observer;
use bidilel_report::{Comparison, ComparisonHead, Entry, Format, Measurement, pad};
use serde::{Deserialize, Serialize};

use crate::args::CompareArgs;
use crate::failure::{usage, worded};
use crate::progress::{Progress, Verbosity};
use crate::tuning::args::held_out;
use crate::tuning::host::Console;
use crate::tuning::journal::{Known, Line, Lines, ScoreBook};
use crate::{memory, output, source, terminal};

/// What a result can be written to a file as.
const FILE_FORMATS: [Format; 6] =
    [Format::Text, Format::Json, Format::JsonLines, Format::Csv, Format::Markdown, Format::Latex];

pub(super) fn run(args: &CompareArgs, format: Format, progress: &Progress) -> Result<()> {
    let started = Instant::now();
    let base = args.method.resolve()?;
    if base.method.is_some() {
        return Err(usage("--method names one method: list those to compare in --methods"));
    }
    let contenders = contenders(&args.methods, &base)?;
    let file = match &args.out {
        Some(path) => {
            let by_ending = output::format_for(Some(path), None, &FILE_FORMATS, "results")?;
            output::check_target(path)?;
            Some((path, by_ending.unwrap_or(Format::Json)))
        }
        None => None,
    };
    args.plot.iter().try_for_each(|path| output::check_ending(path, &["svg"], "a drawing"))?;
    args.journal.iter().try_for_each(|path| output::need_name(path, "a journal"))?;
    args.plot.iter().chain(&args.journal).try_for_each(|path| output::check_target(path))?;
    args.report.check()?;

    let seed = args.method.seed;
    let dataset = Arc::new(source::open(&args.dataset, seed, progress)?);
    args.method.splits.note_left_out(&dataset, progress);
    let Trials { split, trials, drawn } = args.method.splits.trials(&dataset, &base, seed)?;
    let choice = base.choice(&dataset)?;
    let holdout = held_out(args.holdout, args.trials, seed)?;
    let mut race = Race { args, progress, holdout, journal: None, live: Live::new(&contenders, progress) };
    let mut entries: Vec<Entry> = contenders
        .iter()
        .map(|contender| Entry {
            method: contender.name.clone(),
            kind: contender.kind(),
            settings: contender.settings.clone(),
            runs: Vec::new(),
            error: None,
        })
        .collect();
    for trial in trials {
        let mut contest = Contest::new(Arc::clone(&dataset), trial, &base, seed, progress)?;
        if let (Some(path), None) = (&args.journal, &race.journal) {
            // More trials of the same draw go on from fewer.
            let drawn = drawn.map_or(String::new(), |drawn| format!(" {} {}", drawn.seed, drawn.unseen));
            let generalized = if base.generalized == Some(true) { " generalized" } else { "" };
            let plan = format!("{split}{drawn}{generalized} {holdout:?} {} {:?}", args.tune, args.budget);
            let journal = Journal::open(path, &format!("{} {plan}", contest.fingerprint()), args.resume)?;
            if args.resume {
                let (scores, rows) = (journal.scores.len(), journal.measured.len());
                progress.note(&format!("{rows} results and {scores} evaluations are in the journal"));
            }
            race.journal = Some(journal);
        }
        for (contender, entry) in
            contenders.iter().zip(&mut entries).filter(|(_, entry)| entry.error.is_none())
        {
            match race.measured(&mut contest, contender)? {
                Ok(measurement) => entry.runs.push(measurement),
                Err(failure) => entry.error = Some(failure),
            }
        }
    }
    progress.finish();
    if entries.iter().all(|entry| entry.error.is_some()) {
        let first = entries.first().and_then(|entry| entry.error.clone()).unwrap_or_default();
        bail!("no method could be run; the first says: {first}");
    }
    let head = ComparisonHead {
        dataset: dataset.name.clone(),
        split,
        random_splits: drawn,
        visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
        semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
        tuned: args.tune,
        seconds: started.elapsed().as_secs_f64(),
    };
    let result = Comparison::of(head, entries);
    // Hours of work are on the screen before a full disk can spoil them.
    if file.as_ref().is_none_or(|(path, _)| !output::is_stdout(path)) {
        let text = rendered(&result, format)?;
        if format == Format::Text { output::print(&text)? } else { output::print_as_is(&text)? }
    }
    let mut written = Vec::new();
    if let Some((path, format)) = file {
        written.push(output::write_text(path, &rendered(&result, format)?));
    }
    if let Some(path) = &args.plot {
        written.push(output::write_text(path, &result.drawing()));
    }
    written.push(args.report.write(&result, &[], progress));
    written.into_iter().collect()
}

/// What is to be compared: each once.
fn contenders(names: &[String], base: &Settings) -> Result<Vec<Contender>> {
    let mut all: Vec<Contender> = Vec::new();
    for name in names {
        let some = Contender::parse(name, base).map_err(|error| match &error {
            bidilel::Error::NoSuchMethod { name, available } => {
                let near = bidilel_data::closest(name, available);
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                usage(format!("{error}{hint}"))
            }
            other => usage(format!("`{name}`: {}", worded(other))),
        })?;
        for one in some {
            if all.iter().all(|other| other.name != one.name) {
                all.push(one);
            }
        }
    }
    Ok(all)
}

fn rendered(result: &Comparison, format: Format) -> Result<String> {
    Ok(match format {
        Format::Json => output::json(result)?,
        Format::JsonLines => output::json_line(result)?,
        Format::Csv | Format::Parquet => output::rendered(&result.csv_table(), format),
        Format::Markdown | Format::Latex => output::rendered(&result.table(None), format),
        Format::Text => result.text(terminal::width()),
    })
}

/// Runs contenders, keeps what they cost, and shows them as they finish.
struct Race<'a> {
    args: &'a CompareArgs,
    progress: &'a Progress,
    holdout: Holdout,
    journal: Option<Journal>,
    live: Live,
}

impl Race<'_> {
    /// One contender on one trial: from the journal, or now; a failure of the method is not one of the comparison.
    ///
    /// # Errors
    /// What ends the whole comparison: a journal that cannot be written.
    fn measured(
        &mut self,
        contest: &mut Contest,
        contender: &Contender,
    ) -> Result<Result<Measurement, String>> {
        let key = Key { method: contender.name.clone(), split: contest.trial().to_owned() };
        if let Some(known) = self.journal.as_ref().and_then(|journal| journal.measured.get(&key)) {
            self.live.row(self.progress, &key, Ok(known), true);
            return Ok(Ok(known.clone()));
        }
        let found = self.measure(contest, contender, &key);
        let found = match found {
            Ok(measurement) => {
                if let Some(journal) = &self.journal {
                    let line = Entered::Row { row: key.clone(), measurement: Box::new(measurement.clone()) };
                    journal.lines.append(&line).map_err(|source| bidilel::Error::Journal { source })?;
                }
                Ok(measurement)
            }
            // What stops the program, or the journal, stops the comparison.
            Err(error @ (bidilel::Error::Cancelled | bidilel::Error::Journal { .. })) => {
                return Err(error.into());
            }
            Err(error) => Err(worded(&error)),
        };
        self.live.row(self.progress, &key, found.as_ref().map_err(String::as_str), false);
        Ok(found)
    }

    fn measure(
        &self,
        contest: &mut Contest,
        contender: &Contender,
        key: &Key,
    ) -> bidilel::Result<Measurement> {
        let (args, progress, seed) = (self.args, self.progress, self.args.method.seed);
        let began = Instant::now();
        let tuned = args.tune || contender.auto;
        let settings = if tuned {
            // Scores are known by the number of their fold, and a choice among pipelines has folds of its own.
            let split =
                if contender.auto { format!("{} among pipelines", key.split) } else { key.split.clone() };
            let book = self.journal.as_ref().map(|journal| Scores { journal, split: &split });
            let book = book.as_ref().map(|book| book as &dyn ScoreBook);
            let console = Console::new(book, args.budget, progress);
            let chosen = contest.tune(contender, self.holdout, &console, &console);
            console.clear();
            chosen?
        } else {
            contender.settings.clone()
        };
        let tuning_seconds = tuned.then(|| began.elapsed().as_secs_f64());
        let counts = memory::forget_peak();
        let began = Instant::now();
        let run = contest.run(&settings, seed, &[1], progress)?;
        Ok(Measurement {
            split: key.split.clone(),
            seed,
            per_class: run.accuracy().per_class,
            per_image: run.accuracy().per_image,
            generalized: run.generalized,
            classes: accuracies(&run),
            candidates: Some(run.classes.len()),
            seconds: began.elapsed().as_secs_f64(),
            tuning_seconds,
            peak_memory: memory::peak().filter(|_| counts),
            settings: settings.effective(),
        })
    }
}

/// The accuracy of every unseen class that has instances.
fn accuracies(run: &Run) -> std::collections::BTreeMap<String, f64> {
    let all = run.classes.iter().cloned().zip(class_accuracies(&run.confusion)).skip(run.known);
    all.filter_map(|(name, accuracy)| Some((name, accuracy?))).collect()
}

/// A contender on a trial.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Key {
    method: String,
    split: String,
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entered {
    /// A finished row.
    Row { row: Key, measurement: Box<Measurement> },
    /// The score of a setting on a fold of a trial.
    Score { split: String, score: Line },
}

/// The journal of a comparison: rows that are finished, and scores of rows that are being tuned.
struct Journal {
    lines: Lines,
    measured: HashMap<Key, Measurement>,
    scores: HashMap<String, Known>,
}

impl Journal {
    fn open(path: &Path, fingerprint: &str, resume: bool) -> Result<Self> {
        let (lines, entered) = Lines::of_this_version::<Entered>(path, "compare", fingerprint, resume)?;
        let mut journal = Self { lines, measured: HashMap::new(), scores: HashMap::new() };
        for line in entered {
            match line {
                Entered::Row { row, measurement } => {
                    journal.measured.insert(row, *measurement);
                }
                Entered::Score { split, score } => {
                    journal.scores.entry(split).or_default().extend([score.entry()]);
                }
            }
        }
        Ok(journal)
    }
}

/// The scores of one trial in a journal.
struct Scores<'a> {
    journal: &'a Journal,
    split: &'a str,
}

impl ScoreBook for Scores<'_> {
    fn recall(&self, key: &str, fold: usize) -> Option<f64> {
        self.journal.scores.get(self.split)?.get(&(key.to_owned(), fold)).copied()
    }

    fn record(&self, key: &str, fold: usize, score: f64) -> std::io::Result<()> {
        let score = Line::new(key, fold, score)?;
        self.journal.lines.append(&Entered::Score { split: self.split.to_owned(), score })
    }
}

/// The rows that are finished, on stderr, as they come: for a person who waits.
struct Live {
    shown: bool,
    width: usize,
}

impl Live {
    fn new(contenders: &[Contender], progress: &Progress) -> Self {
        let widest = contenders.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
        let shown = match progress.verbosity() {
            Verbosity::Quiet => false,
            Verbosity::Normal => std::io::stderr().is_terminal(),
            Verbosity::Verbose => true,
        };
        Self { shown, width: widest }
    }

    fn row(&self, progress: &Progress, key: &Key, result: Result<&Measurement, &str>, recalled: bool) {
        if !self.shown {
            return;
        }
        let name = pad(&key.method, self.width);
        let text = match result {
            Ok(found) => {
                let source = if recalled { "  from the journal" } else { "" };
                let (figure, seconds) = (100.0 * found.figure(), found.seconds);
                format!("{name}  {figure:5.1} %  {seconds:7.1} s  {}{source}", key.split)
            }
            Err(failure) => format!("{name}   failed: {failure}"),
        };
        progress.line(&text);
    }
}
