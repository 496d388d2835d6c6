//! `bidilel demo`, and `bidilel` alone: the main job on pictures that are inside the program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bidilel::evaluate::score;
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
use crate::{output, source};

/// The default file of the page.
const PAGE: &str = "bidilel-demo.html";
const DATASET: &str = "emoji";
const SPLIT: &str = "standard";

pub(super) fn run(args: &DemoArgs, format: Format, progress: &Progress) -> Result<()> {
    if let Some(path) = &args.page {
        output::check_ending(path, &["html", "htm"], "a page")?;
        output::check_target(path)?;
        if page::is_foreign(path) {
            bail!(
                "`{}`: there is a file that bidilel did not write; name another for the page",
                path.display()
            );
        }
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
    if format != Format::Text {
        let (run, _) = score(&method, &task, &fitted, 0, &[1, 3, 5], progress)?;
        let subject = Subject {
            dataset: dataset.name.clone(),
            split: SPLIT.to_owned(),
            visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
            semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
            method: MethodReport::new(&method, &choice, &task, &fitted),
        };
        evaluate::print(&Evaluation::new(subject, &[run], progress.finish(), progress.checks()), format)?;
        if args.page.is_none() {
            return Ok(());
        }
    }
    progress.stage("recognize");
    let latent = fitted.latent().context("the demonstration's method has a latent space")?;
    let story = Story::new(&animals, trial, &task, &settings, &choice, latent)?;
    let page = write_page(args, &story)?;
    let seconds = progress.finish().get("total").copied().unwrap_or(0.0);
    match format {
        Format::Text => output::print(&text::render(&story, Style::choose(args), &page, seconds)),
        _ => Ok(()),
    }
}

/// Writes the page and says where, or why not.
///
/// A page that was asked for must be written; failing to write the default one is only noted.
fn write_page(args: &DemoArgs, story: &Story<'_>) -> Result<String> {
    if args.no_page {
        return Ok("No page was written.".to_owned());
    }
    let write = |path: &Path| -> Result<String> {
        let page = page::render(story)?;
        output::write_to(Some(path), |out| Ok(out.write_all(page.as_bytes())?))?;
        Ok(format!("All pictures, with their guesses: {}", absolute(path).display()))
    };
    if let Some(path) = &args.page {
        return write(path);
    }
    let path = Path::new(PAGE);
    if page::is_foreign(path) {
        let path = absolute(path);
        return Ok(format!(
            "No page: {} is there, and bidilel did not write it. --page FILE names another.",
            path.display()
        ));
    }
    Ok(write(path).unwrap_or_else(|error| format!("No page: {error:#}. --page FILE names another place.")))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
