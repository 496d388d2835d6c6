//! `bidilel demo`, and `bidilel` alone: the main job on pictures that are inside the program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bidilel::evaluate::{Finished, score};
use bidilel::method::MethodReport;
use bidilel::settings::Settings;
use bidilel::task::Task;
use bidilel::{Method, ZeroShotMethod};
use bidilel_math::Observer;
use bidilel_report::{Evaluation, Format, Subject};

use super::evaluate;
use crate::args::DemoArgs;
use crate::demonstration::page;
use crate::demonstration::story::Story;
use crate::demonstration::text;
use crate::progress::Progress;
use crate::terminal::Style;
use crate::{output, reported, source};

/// The default file of the page.
const PAGE: &str = "bidilel-demo.html";
/// Approximate size of the page.
const PAGE_BYTES: usize = 1 << 20;
const DATASET: &str = "emoji";
const SPLIT: &str = "standard";
/// The right class is counted among so many nearest ones.
const TOP: &[usize] = &[1, 3, 5];

pub(super) fn run(args: &DemoArgs, format: Format, progress: &Progress) -> Result<()> {
    let page = Page::plan(args, format)?;
    args.report.check()?;
    if let Page::Unwritable(problem) = &page {
        progress.note(&format!("no page will be written: {problem}"));
    }
    if args.report.is_wanted() {
        progress.keep_steps();
    }
    progress.stage("open");
    let animals = source::collection(DATASET)?;
    let dataset = &animals.dataset;
    let settings: Settings =
        toml::from_str(bidilel_emoji::DEMO_SETTINGS).context("the settings inside the program")?;
    let choice = settings.choice(dataset)?;
    let trials = dataset.trials(Some(SPLIT))?;
    let trial = trials.first().context("the split inside the program has a trial")?;
    let task = Task::new(dataset, trial, &choice, progress)?;
    let method = Method::from_settings(&settings, 0);
    let fitted = method.fit(&task, progress)?;
    if format != Format::Text || args.report.is_wanted() {
        let (run, recognition) = score(&method, &task, &fitted, 0, TOP, progress)?;
        let subject = Subject {
            dataset: dataset.name.clone(),
            split: SPLIT.to_owned(),
            random_splits: None,
            test_seen_share: None,
            visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
            semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
            method: MethodReport::new(&method, &choice, &task, &fitted),
        };
        let result = Evaluation::new(subject, &[run], progress.finish(), progress.checks());
        if args.report.is_wanted() {
            let run = Finished { trial, task: &task, seed: 0, fitted: &fitted, recognition };
            let data = reported::run_data(&run, TOP, &format!("builtin:{DATASET}"), None, progress)?;
            evaluate::draw(&args.report, None, &result, reported::completed(data, progress), progress)?;
        }
        if format != Format::Text {
            evaluate::print(&result, format)?;
            if args.page.is_none() {
                return Ok(());
            }
        }
    }
    progress.stage("recognize");
    let latent = fitted.latent().context("the demonstration's method has a latent space")?;
    let story = Story::new(&animals, trial, &task, &settings, &choice, latent)?;
    let page = page.write(&story)?;
    let seconds = progress.finish().get("total").copied().unwrap_or(0.0);
    match format {
        Format::Text => output::print(&text::render(
            &story,
            Style::choose(args),
            &page,
            seconds,
            crate::terminal::width(),
        )),
        _ => Ok(()),
    }
}

/// Whether and where the page is written; decided before the work begins.
///
/// A page that was asked for must be written; failing to write the default one is only noted.
enum Page {
    Unwanted,
    Asked(PathBuf),
    Unasked(PathBuf),
    /// Nobody asked for it, and it cannot be written.
    Unwritable(String),
}

impl Page {
    fn plan(args: &DemoArgs, format: Format) -> Result<Self> {
        if let Some(path) = &args.page {
            output::check_ending(path, &["html", "htm"], "a page")?;
            output::check_room(path, PAGE_BYTES)?;
            if page::is_foreign(path) {
                bail!(
                    "`{}`: there is a file that bidilel did not write; name another for the page",
                    path.display()
                );
            }
            return Ok(Self::Asked(path.clone()));
        }
        if args.no_page || format != Format::Text {
            return Ok(Self::Unwanted);
        }
        let path = Path::new(PAGE);
        if page::is_foreign(path) {
            let path = absolute(path);
            let problem = format!("{} is there, and bidilel did not write it", path.display());
            return Ok(Self::Unwritable(problem));
        }
        Ok(match output::check_room(path, PAGE_BYTES) {
            Ok(()) => Self::Unasked(path.to_owned()),
            Err(error) => Self::Unwritable(format!("{error:#}")),
        })
    }

    /// Writes the page and says where, or why not.
    fn write(&self, story: &Story<'_>) -> Result<String> {
        let write = |path: &Path| -> Result<String> {
            let page = page::render(story)?;
            output::write_to(Some(path), |out| Ok(out.write_all(page.as_bytes())?))?;
            Ok(format!("All pictures, with their guesses: {}", absolute(path).display()))
        };
        let no_page = |problem: &str| format!("No page: {problem}. --page FILE names another place.");
        match self {
            Self::Unwanted => Ok("No page was written.".to_owned()),
            Self::Asked(path) => write(path),
            Self::Unasked(path) => Ok(write(path).unwrap_or_else(|error| no_page(&format!("{error:#}")))),
            Self::Unwritable(problem) => Ok(no_page(problem)),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
