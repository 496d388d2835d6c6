//! `bidilel evaluate DATASET`: fit, recognize, score.

use std::path::Path;

use anyhow::Result;
use bidilel::Experiment;
use bidilel::evaluate::evaluate_with;
use bidilel_math::Observer;
use bidilel_report::{Evaluation, Format, RunData};
use serde::Serialize;

use super::exported::{self, Recognized};
use super::sidecar_ids;
use crate::args::EvaluateArgs;
use crate::confidence::Measured;
use crate::progress::Progress;
use crate::reported::ReportArgs;
use crate::{latent, output, reported, source, terminal};

/// What a result can be written to a file as.
const FILE_FORMATS: [Format; 6] =
    [Format::Text, Format::Json, Format::JsonLines, Format::Csv, Format::Markdown, Format::Latex];

pub(super) fn run(args: &EvaluateArgs, format: Format, progress: &Progress) -> Result<()> {
    let settings = args.method.resolve()?;
    let test_seen_share = args.method.splits.test_seen_share(&settings)?;
    let file = match &args.out {
        Some(path) => {
            let by_ending = output::format_for(Some(path), None, &FILE_FORMATS, "results")?;
            output::check_target(path)?;
            Some((path, by_ending.unwrap_or(Format::Json)))
        }
        None => None,
    };
    args.predictions.iter().try_for_each(|path| exported::check_target(path))?;
    args.latent.iter().try_for_each(|path| latent::check_target(path))?;
    if let Some(path) = &args.run_data {
        output::check_ending(path, &["json"], "run data")?;
        output::check_target(path)?;
    }
    args.report.check()?;
    let dataset = source::open(&args.dataset, args.method.seed, progress)?;
    args.method.note_unused(&settings, progress);
    if args.repeat > 1 && !settings.is_random() {
        progress.note(
            "nothing in this method is random, so all repeats are the same: --init random draws its start",
        );
    }
    args.method.splits.note_left_out(&dataset, progress);
    let exports = args.predictions.is_some() || args.latent.is_some();
    let draws = args.report.is_wanted() || args.run_data.is_some();
    let names = if draws { sidecar_ids::instance_names(&dataset, progress) } else { None };
    if draws {
        progress.keep_steps();
    }
    let (mut recognized, mut data) = (Vec::new(), None);
    let mut measured = Measured::default();
    let experiment = Experiment {
        settings: settings.clone(),
        split: args.method.splits.choice(args.method.seed),
        test_seen_share,
        seed: args.method.seed,
        repeats: args.repeat,
        top: args.top.clone(),
    };
    let evaluated = evaluate_with(dataset, &experiment, progress, |run| -> bidilel::Result<()> {
        args.confidence.measure(&settings, &run, &mut measured, progress)?;
        if draws && data.is_none() {
            data = reported::run_data(&run, &args.top, &args.dataset, names.as_deref(), progress)?;
        }
        if exports {
            recognized.push(Recognized::of(run));
        }
        Ok(())
    })?;
    let confidence = args.confidence.report(&measured, args.method.seed);
    let result = Evaluation { confidence, ..Evaluation::of(evaluated, progress.finish(), progress.checks()) };
    args.predictions.iter().try_for_each(|path| exported::write(path, &recognized))?;
    args.latent.iter().try_for_each(|path| exported::write_latent(path, &recognized))?;
    if draws {
        let data = reported::completed(data, progress);
        draw(&args.report, args.run_data.as_deref(), &result, data, progress)?;
    }
    let Some((path, file_format)) = file else { return print(&result, format) };
    if !output::is_stdout(path) {
        print(&result, format)?;
    }
    output::write_text(path, &rendered(&result, file_format)?)
}

/// The result with the points of its first run.
#[derive(Serialize)]
struct WithData<'a> {
    #[serde(flatten)]
    result: &'a Evaluation,
    run_data: Option<RunData>,
}

/// Writes the page, the charts and the run data that were asked for.
pub(super) fn draw(
    report: &ReportArgs,
    file: Option<&Path>,
    result: &Evaluation,
    run_data: Option<RunData>,
    progress: &Progress,
) -> Result<()> {
    let result = WithData { result, run_data };
    if let Some(path) = file {
        output::write_text(path, &output::json_line(&result)?)?;
    }
    report.write(&result, &[], progress)
}

/// Prints a result in any format.
pub(super) fn print(result: &Evaluation, format: Format) -> Result<()> {
    let text = rendered(result, format)?;
    if format == Format::Text { output::print(&text) } else { output::print_as_is(&text) }
}

fn rendered(result: &Evaluation, format: Format) -> Result<String> {
    Ok(match format {
        Format::Json => output::json(result)?,
        Format::JsonLines => output::json_line(result)?,
        Format::Csv | Format::Parquet => output::rendered(&result.runs_table(), format),
        Format::Markdown | Format::Latex => output::rendered(&result.summary_table(), format),
        Format::Text => result.text(terminal::width()),
    })
}
