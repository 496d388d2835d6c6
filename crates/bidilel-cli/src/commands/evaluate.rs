//! `bidilel evaluate DATASET`: fit, recognise, score.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use bidilel::metrics;
use bidilel::pipeline::Pipeline;
use bidilel::post::Refiner;
use bidilel::recognize::Recognition;
use bidilel::task::{Choice, Task};
use bidilel_math::Observer;
use bidilel_report::{Evaluation, Format, Run, Step, Subject};
use serde_json::json;

use crate::args::EvaluateArgs;
use crate::progress::Progress;
use crate::{output, source};

pub(super) fn run(args: &EvaluateArgs, format: Format, progress: &Progress) -> Result<()> {
    let seed = args.method.seed;
    let dataset = source::open(&args.dataset, seed, progress)?;
    let settings = args.method.resolve()?;
    let choice = settings.choice(&dataset)?;
    args.method.note_unused(&settings, progress);
    let trials = dataset.trials(args.method.split.as_deref())?;
    let mut runs = Vec::new();
    for trial in &trials {
        let task = Task::new(&dataset, trial, &choice, progress)?;
        task.require_instances("unseen")?;
        for seed in (seed..).take(usize::from(args.repeat)) {
            let pipeline = settings.pipeline(seed);
            runs.push(evaluate(&task, &pipeline, seed, &args.top, progress)?);
        }
    }
    let subject = Subject {
        dataset: dataset.name.clone(),
        split: dataset_split(args, &dataset.splits[0].name),
        visual: vec![dataset.visual(choice.visual.as_deref())?.name.clone()],
        semantic: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
        method: describe(&settings.pipeline(seed), &choice)?,
    };
    let result = Evaluation::new(subject, &runs, progress.finish());
    if let Some(path) = &args.out {
        output::write_to(Some(path), |out| Ok(serde_json::to_writer_pretty(out, &result)?))?;
    }
    match format {
        Format::Json => output::print_json(&result),
        Format::Csv => output::print(&result.runs_table().render(format)),
        Format::Markdown | Format::Latex => output::print(&result.summary_table().render(format)),
        Format::Text => output::print(&text(&result)),
    }
}

/// One fit and recognition, scored after every step.
fn evaluate(task: &Task, pipeline: &Pipeline, seed: u64, top: &[usize], watch: &dyn Observer) -> Result<Run> {
    let fitted = pipeline.fit(task, watch)?;
    let plain = Pipeline { post: Vec::new(), ..pipeline.clone() };
    let mut recognition = plain.recognize(&fitted, task.test.features.as_ref(), watch)?;
    let score = |name: &str, recognition: &Recognition| Step {
        name: name.to_owned(),
        accuracy: metrics::accuracy(&recognition.labels(), &task.test.labels, task.unseen.len()),
    };
    let mut steps = vec![score("inductive", &recognition)];
    for post in &pipeline.post {
        recognition = post.refine(recognition)?;
        steps.push(score(post.name(), &recognition));
    }
    let places = top.iter().copied().filter(|&k| (1..=task.unseen.len()).contains(&k));
    let top = places.map(|k| (k, metrics::top_k(&recognition, &task.test.labels, k)));
    Ok(Run {
        split: task.split.clone(),
        seed,
        classes: task.unseen.clone(),
        confusion: metrics::confusion(&recognition.labels(), &task.test.labels, task.unseen.len()),
        steps,
        top: top.collect::<BTreeMap<_, _>>(),
        hubness: metrics::hubness(&recognition, 1),
        stress: fitted.stress,
    })
}

/// Every setting in force.
pub(super) fn describe(pipeline: &Pipeline, choice: &Choice) -> Result<serde_json::Value> {
    let mut method = serde_json::to_value(pipeline).context("cannot describe the method")?;
    method["name"] = json!("bidilel");
    method["normalize"] = json!(choice.normalize);
    method["semantic_weights"] =
        choice.semantic.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
    Ok(method)
}

fn dataset_split(args: &EvaluateArgs, first: &str) -> String {
    args.method.split.clone().unwrap_or_else(|| first.to_owned())
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
        "{}, split {}: {} with {}\n{}\n\n{}{runs}\n{}\nstress {:.5}, hubness {:.2}, {:.1} s\n",
        subject.dataset,
        subject.split,
        subject.visual.join(" + "),
        subject.semantic.join(" + "),
        method_line(&subject.method),
        result.steps_table().render(Format::Text),
        result.classes_table().render(Format::Text),
        result.stress,
        result.hubness,
        result.timings.get("total").copied().unwrap_or(0.0)
    )
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
