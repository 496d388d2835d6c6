//! `bidilel evaluate DATASET`: fit, recognise, score.

use anyhow::{Context, Result};
use bidilel::metrics;
use bidilel::pipeline::{Fitted, Pipeline};
use bidilel::recognize::Recognition;
use bidilel::task::{Choice, Side, Task};
use bidilel::visual::Method;
use bidilel_math::Observer;
use bidilel_report::{Evaluation, Format, Run, Step, Subject, visible};
use serde_json::json;

use super::exported::{self, Recognized};
use crate::args::EvaluateArgs;
use crate::progress::Progress;
use crate::{latent, output, source};

/// What a result can be written to a file as.
const FILE_FORMATS: [Format; 6] =
    [Format::Text, Format::Json, Format::JsonLines, Format::Csv, Format::Markdown, Format::Latex];

pub(super) fn run(args: &EvaluateArgs, format: Format, progress: &Progress) -> Result<()> {
    let settings = args.method.resolve()?;
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
    let seed = args.method.seed;
    let dataset = source::open(&args.dataset, seed, progress)?;
    let choice = settings.choice(&dataset)?;
    args.method.note_unused(&settings, progress);
    if args.repeat > 1 && !settings.is_random() {
        progress.note(
            "nothing in this method is random, so all repeats are the same: --init random draws its start",
        );
    }
    let mut method = serde_json::Value::Null;
    let (mut runs, mut recognized) = (Vec::new(), Vec::new());
    let name = dataset.name.clone();
    let split = match &args.method.split {
        Some(split) => split.clone(),
        None => dataset.split(None)?.name.clone(),
    };
    let trials = dataset.trials(args.method.split.as_deref())?;
    let mut dataset = Some(dataset);
    for (number, trial) in trials.iter().enumerate() {
        let Some(open) = &dataset else { break };
        let task = Task::new(open, trial, &choice, progress)?;
        // A mapped file counts as memory for as long as it is open: the last task needs it no more.
        if number + 1 == trials.len() {
            dataset = None;
        }
        task.require_instances(Side::Unseen)?;
        let mut ground = settings.pipeline(seed).learn(&task, progress)?;
        for repeat in 0..u64::from(args.repeat) {
            let seed = seed.wrapping_add(repeat);
            let pipeline = settings.pipeline(seed);
            // Seeds reach the top-down stage and samples of instances: without one the space is learned once.
            if repeat > 0 && ground.fusion.method == Method::Nystrom {
                ground = pipeline.learn(&task, progress)?;
            }
            let fitted = pipeline.place(ground.clone(), &task, progress)?;
            let (run, recognition) = score(&task, &pipeline, &fitted, seed, &args.top, progress)?;
            runs.push(run);
            if args.predictions.is_some() || args.latent.is_some() {
                recognized.push(Recognized {
                    split: trial.name.clone(),
                    seed,
                    classes: task.unseen.clone(),
                    instances: trial.test.clone(),
                    truth: task.test.labels.clone(),
                    recognition,
                });
            }
            if runs.len() == 1 {
                method = describe(&pipeline.resolved(&task, &fitted), &choice, &fitted)?;
            }
        }
    }
    let subject = Subject {
        dataset: name,
        split,
        visual: choice.visual.iter().map(|view| view.name.clone()).collect(),
        semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
        method,
    };
    let result = Evaluation::new(subject, &runs, progress.finish(), progress.checks());
    args.predictions.iter().try_for_each(|path| exported::write(path, &recognized))?;
    args.latent.iter().try_for_each(|path| exported::write_latent(path, &recognized))?;
    let Some((path, file_format)) = file else { return print(&result, format) };
    if !output::is_stdout(path) {
        print(&result, format)?;
    }
    output::write_text(path, &rendered(&result, file_format)?)
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
        Format::Text => text(result),
    })
}

/// One recognition, scored after every step; and what it was.
pub(super) fn score(
    task: &Task,
    pipeline: &Pipeline,
    fitted: &Fitted,
    seed: u64,
    top: &[usize],
    watch: &dyn Observer,
) -> Result<(Run, Recognition)> {
    watch.stage("recognize");
    let (truth, classes) = (&task.test.labels, task.unseen.len());
    let points = fitted.space.project(task.test.features.as_ref())?;
    let mut steps = Vec::new();
    let recognition = pipeline.recognize_points(fitted, points, |name, recognition| {
        let accuracy = metrics::accuracy(&recognition.labels(), truth, classes);
        steps.push(Step { name: name.to_owned(), accuracy });
    })?;
    // Among as many classes as there are, the right one always is.
    let places = || top.iter().copied().filter(|&k| k == 1 || k < classes);
    let run = Run {
        split: task.split.clone(),
        seed,
        classes: task.unseen.clone(),
        confusion: metrics::confusion(&recognition.labels(), truth, classes),
        steps,
        top: places().map(|k| (k, metrics::top_k(&recognition, truth, k))).collect(),
        hubness: places().map(|k| (k, metrics::hubness(&recognition, k))).collect(),
        stress: fitted.stress,
        converged: fitted.embedding.converged,
    };
    Ok((run, recognition))
}

/// Every setting in force.
pub(super) fn describe(pipeline: &Pipeline, choice: &Choice, fitted: &Fitted) -> Result<serde_json::Value> {
    let mut method = serde_json::to_value(pipeline).context("cannot describe the method")?;
    method["name"] = json!("bidilel");
    method["fusion"] = serde_json::to_value(&fitted.fusion).context("cannot describe the views")?;
    method["normalize"] = json!(choice.normalize);
    method["semantic_weights"] =
        choice.semantic.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
    Ok(method)
}

fn text(result: &Evaluation) -> String {
    let subject = &result.subject;
    let runs = match result.runs.len() {
        1 => String::new(),
        count => format!(
            "  {count} runs: {:.1} ± {:.1} % (standard error), standard deviation {:.1}\n",
            100.0 * result.summary.mean,
            100.0 * result.summary.standard_error,
            100.0 * result.summary.standard_deviation
        ),
    };
    format!(
        "{}, split {}: {} with {}\n{}\n\n{}{runs}\n{}\nstress {:.5}{}, {:.1} s\n",
        visible(&subject.dataset),
        visible(&subject.split),
        visible(&subject.visual.join(" + ")),
        visible(&subject.semantic.join(" + ")),
        output::wrapped(&(method_line(&subject.method) + &fusion_line(&subject.method["fusion"]))),
        output::text_table(&result.steps_table()),
        output::text_table(&result.classes_table()),
        result.stress,
        result.hubness.get(&1).map_or(String::new(), |hubness| format!(", hubness {hubness:.2}")),
        result.timings.get("total").copied().unwrap_or(0.0)
    )
}

/// Where views or kernels were joined, how and why.
fn fusion_line(fusion: &serde_json::Value) -> String {
    let Ok(fusion) = serde_json::from_value::<bidilel::visual::Report>(fusion.clone()) else {
        return String::new();
    };
    match &fusion.views[..] {
        [one] if one.kernel == bidilel::visual::Kernel::Linear && fusion.method == Method::Primal => {
            String::new()
        }
        _ => format!("\n  {}", super::fused(&fusion)),
    }
}

/// `slpp (alpha 10, neighbors 10) > lsm (optimizer lbfgs)`: the settings on one line.
fn method_line(method: &serde_json::Value) -> String {
    let stage = |value: &serde_json::Value| {
        let settings: Vec<String> = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, value)| *name != "kind" && !value.is_null() && !value.is_object())
            .map(|(name, value)| format!("{} {}", name.replace('_', "-"), value.to_string().replace('"', "")))
            .collect();
        let kind = value["kind"].as_str().unwrap_or("?");
        if settings.is_empty() { kind.to_owned() } else { format!("{kind} ({})", settings.join(", ")) }
    };
    let post = method["post"].as_array().into_iter().flatten();
    let stages = [&method["bottom_up"], &method["top_down"]].into_iter().chain(post).map(stage);
    stages.collect::<Vec<_>>().join("\n  then ")
}
