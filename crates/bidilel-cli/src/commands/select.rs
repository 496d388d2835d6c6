//! `bidilel select DATASET --visual a,b,c`: which views to use together (Algorithm 2 of the paper).
//!
//! Only known classes are used. Every trial has its own order. `--evaluate` then scores recognition of the unseen
//! classes with the first view, the first two, and so on; nothing is chosen by these scores.

use std::sync::Arc;

use anyhow::{Result, bail};
use bidilel::dataset::Dataset;
use bidilel::evaluate::score;
use bidilel::metrics;
use bidilel::settings::Settings;
use bidilel::split::{Trial, Trials};
use bidilel::task::{Side, Task};
use bidilel::tune::{choose_views, folds};
use bidilel::visual::Until;
use bidilel::{Candidates, Method, ZeroShotMethod};
use bidilel_report::{Format, Selection, TrialSelection};

use crate::args::SelectArgs;
use crate::failure::usage;
use crate::progress::Progress;
use crate::tuning::args::held_out;
use crate::{output, source, terminal};

pub(super) fn run(args: &SelectArgs, format: Format, progress: &Progress) -> Result<()> {
    args.plot.iter().try_for_each(|path| output::check_ending(path, &["svg"], "a drawing"))?;
    let mut settings = args.method.resolve()?;
    if settings.view_weights.is_some() {
        return Err(usage("select weighs all views the same: leave the weights out"));
    }
    if settings.candidates() == Candidates::All {
        return Err(usage(
            "select orders views by known classes alone: leave out --generalized, and give it to evaluate",
        ));
    }
    args.plot.iter().try_for_each(|path| output::check_target(path))?;
    args.report.check()?;
    let seed = args.method.seed;
    let dataset = Arc::new(source::open(&args.dataset, seed, progress)?);
    let names = settings
        .visual
        .get_or_insert_with(|| dataset.visual.iter().map(|visual| visual.name.clone()).collect())
        .clone();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        bail!("visual representations must be different from each other, found `{}` twice", twice.1);
    }
    args.method.note_unused(&settings, progress);
    let neighbors = settings.neighbors.unwrap_or(bidilel::bottom_up::Locality::default().neighbors);
    if neighbors == 0 {
        bail!("neighbors must be at least 1, found 0");
    }
    args.method.splits.note_left_out(&dataset, progress);
    let Trials { trials, drawn, .. } = args.method.splits.trials(&dataset, &settings, seed)?;
    let mut selections = Vec::new();
    for trial in &trials {
        let folds = folds(&dataset, trial, held_out(args.holdout, args.trials, seed)?)?;
        let until = (neighbors, Until { most: args.most, threshold: args.threshold });
        let bases = std::slice::from_ref(&settings);
        let chosen = choose_views(&dataset, trial, &folds, bases, until, seed, progress)?.swap_remove(0);
        let mut accuracy = Vec::new();
        if args.evaluate {
            for count in 1..=chosen.selection.order.len() {
                let views: Vec<String> =
                    chosen.selection.order[..count].iter().map(|&view| names[view].clone()).collect();
                accuracy.push(recognized(&dataset, trial, &settings.with_views(&views), seed, progress)?);
            }
        }
        selections.push(TrialSelection::new(&trial.name, &names, chosen, accuracy));
    }
    progress.finish();
    let result = Selection { random_splits: drawn, settings, ..Selection::new(names, neighbors, selections) };
    if let Some(path) = &args.plot {
        output::write_text(path, &result.drawing())?;
    }
    args.report.write(&result, &[("dataset", dataset.name.as_str().into())], progress)?;
    match format {
        Format::Json => output::print_json_about(&dataset.name, &result),
        Format::Text => output::print(&result.text(terminal::width())),
        other => output::print_table(&result.order_table(), other),
    }
}

fn recognized(
    dataset: &Dataset,
    trial: &Trial,
    settings: &Settings,
    seed: u64,
    progress: &Progress,
) -> Result<metrics::Accuracy> {
    let task = Task::new(dataset, trial, &settings.choice(dataset)?, progress)?;
    task.require_instances(Side::Unseen)?;
    let method = Method::from_settings(settings, seed);
    let fitted = method.fit(&task, progress)?;
    let (run, _) = score(&method, &task, &fitted, seed, &[], progress)?;
    Ok(run.accuracy())
}
