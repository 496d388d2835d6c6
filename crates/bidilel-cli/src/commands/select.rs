//! `bidilel select DATASET --visual a,b,c`: which views to use together (Algorithm 2 of the paper).
//!
//! Only known classes are looked at. With several trials each has an order of its own. `--evaluate` then recognises the
//! unseen classes with the first view, the first two, and so on; nothing is chosen by that.

use std::sync::Arc;

use anyhow::{Result, bail};
use bidilel::dataset::Dataset;
use bidilel::evaluate::score;
use bidilel::metrics;
use bidilel::settings::Settings;
use bidilel::split::Trial;
use bidilel::task::{Side, Task};
use bidilel::tune::{ChosenViews, choose_views, folds};
use bidilel::visual::Until;
use bidilel::{Method, ZeroShotMethod};
use bidilel_math::statistics::Summary;
use bidilel_report::{Align, Block, Curve, Format, Table, curves, page};
use serde_json::{Value, json};

use crate::args::SelectArgs;
use crate::failure::usage;
use crate::progress::Progress;
use crate::tuning::args::held_out;
use crate::{output, source};

/// One trial: its order, and the accuracy after each addition where that was asked for.
struct Outcome {
    split: String,
    chosen: ChosenViews,
    accuracy: Vec<metrics::Accuracy>,
}

pub(super) fn run(args: &SelectArgs, format: Format, progress: &Progress) -> Result<()> {
    args.plot.iter().try_for_each(|path| output::check_ending(path, &["svg"], "a drawing"))?;
    args.report.iter().try_for_each(|path| output::check_ending(path, &["html", "htm"], "a page"))?;
    let mut settings = args.method.resolve()?;
    if settings.view_weights.is_some() {
        return Err(usage("select weighs all views the same: leave the weights out"));
    }
    for path in args.plot.iter().chain(&args.report) {
        output::check_target(path)?;
    }
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
    let mut all = Vec::new();
    for trial in &dataset.trials(args.method.split.as_deref())? {
        let folds = folds(&dataset, trial, held_out(args.holdout, args.trials, seed))?;
        let until = (neighbors, Until { most: args.most, threshold: args.threshold });
        let chosen = choose_views(&dataset, trial, &folds, &settings, until, seed, progress)?;
        let mut accuracy = Vec::new();
        if args.evaluate {
            for count in 1..=chosen.selection.order.len() {
                let views: Vec<String> =
                    chosen.selection.order[..count].iter().map(|&view| names[view].clone()).collect();
                accuracy.push(recognized(&dataset, trial, &settings.with_views(&views), seed, progress)?);
            }
        }
        all.push(Outcome { split: trial.name.clone(), chosen, accuracy });
    }
    progress.finish();
    let drawing = drawing(&names, &all);
    if let Some(path) = &args.plot {
        output::write_text(path, &drawing)?;
    }
    if let Some(path) = &args.report {
        let blocks = [
            Block::Heading("Order".to_owned()),
            Block::Table(order_table(&names, &all)),
            Block::Drawing(drawing),
            Block::Heading("Complementarity of any two views".to_owned()),
            Block::Table(matrix_table(&names, &all[0])),
        ];
        output::write_text(path, &page(&format!("Views of {}", dataset.name), &blocks))?;
    }
    match format {
        Format::Json => output::print_json(&object(&names, neighbors, &all)),
        Format::Text => output::print(&format!(
            "{}\n{}{}",
            output::text_table(&order_table(&names, &all)),
            output::text_table(&matrix_table(&names, &all[0])),
            other_orders(&names, &all)
        )),
        other => output::print_table(&order_table(&names, &all), other),
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

/// Per-class accuracy with so many views, over the trials that have so many.
fn after(all: &[Outcome], count: usize) -> Option<Summary> {
    let values: Vec<f64> =
        all.iter().filter_map(|one| one.accuracy.get(count - 1)).map(|accuracy| accuracy.per_class).collect();
    (!values.is_empty()).then(|| Summary::of(&values))
}

/// The object that scripts read: the first trial's order at the top, all trials below it.
fn object(names: &[String], neighbors: usize, all: &[Outcome]) -> Value {
    let named = |order: &[usize]| order.iter().map(|&view| names[view].as_str()).collect::<Vec<_>>();
    let first = &all[0].chosen.selection;
    let trial = |one: &Outcome| {
        let validation = names.iter().zip(&one.chosen.validation).map(|(name, scores)| {
            let Summary { mean, standard_error, .. } = Summary::of(scores);
            json!({"view": name, "mean": mean, "standard_error": standard_error, "scores": scores})
        });
        json!({
            "split": one.split,
            "order": named(&one.chosen.selection.order),
            "complementarity": one.chosen.selection.complementarity,
            "matrix": one.chosen.selection.matrix,
            "pairs": one.chosen.pairs,
            "validation": validation.collect::<Vec<_>>(),
            "accuracy": one.accuracy,
        })
    };
    let mut object = json!({
        "order": named(&first.order),
        "complementarity": first.complementarity,
        "matrix": first.matrix,
        "visual": names,
        "neighbors": neighbors,
        "trials": all.iter().map(trial).collect::<Vec<_>>(),
    });
    let steps = (1..=first.order.len()).filter_map(|count| {
        let Summary { mean, standard_error, .. } = after(all, count)?;
        let views = named(&first.order[..count]);
        Some(json!({"visual": views, "per_class": mean, "standard_error": standard_error}))
    });
    let steps: Vec<Value> = steps.collect();
    if !steps.is_empty() {
        object["evaluation"] = steps.into();
    }
    object
}

fn order_table(names: &[String], all: &[Outcome]) -> Table {
    let first = &all[0].chosen;
    let mut columns = vec![
        ("", Align::Right),
        ("view", Align::Left),
        ("complementarity", Align::Right),
        ("alone, known classes %", Align::Right),
    ];
    let evaluated = after(all, 1).is_some();
    if evaluated {
        columns.push(("with those before, unseen classes %", Align::Right));
    }
    let percent = |Summary { mean, standard_error, .. }: Summary| {
        let error =
            if standard_error > 0.0 { format!(" ± {:.1}", 100.0 * standard_error) } else { String::new() };
        format!("{:.1}{error}", 100.0 * mean)
    };
    let mut table = Table::new(&columns);
    for (place, (&view, value)) in
        first.selection.order.iter().zip(&first.selection.complementarity).enumerate()
    {
        let mut cells = vec![
            (place + 1).to_string(),
            names[view].clone(),
            value.map_or("-".to_owned(), |value| format!("{value:.4}")),
            percent(Summary::of(&first.validation[view])),
        ];
        if evaluated {
            cells.push(after(all, place + 1).map_or("-".to_owned(), percent));
        }
        table.push(cells);
    }
    table
}

fn matrix_table(names: &[String], one: &Outcome) -> Table {
    let columns: Vec<(&str, Align)> = std::iter::once(("complementarity", Align::Left))
        .chain(names.iter().map(|name| (name.as_str(), Align::Right)))
        .collect();
    let mut table = Table::new(&columns);
    for (name, row) in names.iter().zip(&one.chosen.selection.matrix) {
        let values = row.iter().map(|value| format!("{value:.4}"));
        table.push(std::iter::once(name.clone()).chain(values).collect());
    }
    table
}

/// The orders of trials that differ from the first.
fn other_orders(names: &[String], all: &[Outcome]) -> String {
    let order = |one: &Outcome| {
        let views = one.chosen.selection.order.iter().map(|&view| names[view].as_str());
        views.collect::<Vec<_>>().join(", ")
    };
    let differ = all.iter().skip(1).filter(|one| order(one) != order(&all[0]));
    let lines: Vec<String> = differ.map(|one| format!("  {}: {}\n", one.split, order(one))).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nthe table's order is that of {}; others are\n{}", all[0].split, lines.concat())
}

/// Complementarity and, where it is known, accuracy after each addition.
fn drawing(names: &[String], all: &[Outcome]) -> String {
    let first = &all[0].chosen.selection;
    let label = |place: usize| match place {
        0 => names[first.order[0]].clone(),
        _ => format!("+ {}", names[first.order[place]]),
    };
    let added = first.complementarity.iter().enumerate();
    let added = added.filter_map(|(place, value)| Some((label(place), (*value)?, 0.0)));
    let mut panels = vec![Curve {
        title: "complementarity to those before (x 100)".to_owned(),
        points: added.collect(),
        chosen: None,
    }];
    let steps = (1..=first.order.len()).filter_map(|count| Some((label(count - 1), after(all, count)?)));
    let steps: Vec<_> = steps.map(|(label, found)| (label, found.mean, found.standard_error)).collect();
    if !steps.is_empty() {
        panels.push(Curve {
            title: "accuracy on unseen classes (%)".to_owned(),
            points: steps,
            chosen: None,
        });
    }
    curves("What each view adds", &panels)
}
