//! Classes that join a model: how long that takes, and how well they are recognized compared with having been there from
//! the start.
//!
//! Ten unseen classes, at equal steps through the list, are left out in turn. The model without the class is fitted and
//! written, read back, and the class is added; all test instances are then recognized among all unseen classes, inductively.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use bidilel::dataset::Dataset;
use bidilel::settings::Settings;
use bidilel::{Candidates, FittedMethod, Method, Model, NewClass, Task, Trial, ZeroShotMethod, metrics};
use bidilel_math::Silent;

use crate::say;

/// Classes that are left out in turn.
const CLASSES: usize = 10;

pub(crate) fn run(folder: &str, settings: &str) -> Result<()> {
    let given = serde_json::from_str(settings).context("settings are a JSON object")?;
    let settings = Settings::default().with(&given)?;
    let dataset = bidilel_data::open(Path::new(folder))?.dataset;
    let trial = dataset.trials(None)?.remove(0);
    let (whole, task) = fitted(&dataset, &trial, &settings)?;
    let names = &whole.unseen;
    let from_start = per_class(&whole, &task, names)?;
    say(&format!(
        "living/{}: {} + {} classes, {}",
        dataset.name,
        whole.known.len(),
        names.len(),
        serde_json::to_string(&settings)?
    ));
    say("  class                              add [ms]  with it from the start  added   difference");
    let (mut slowest, mut sum) = (0.0_f64, 0.0);
    for step in 0..CLASSES {
        let left_out = step * names.len() / CLASSES;
        let class = description(&whole, left_out);
        let without = Trial {
            unseen: trial
                .unseen
                .iter()
                .copied()
                .filter(|&other| dataset.classes[other] != class.name)
                .collect(),
            test: trial
                .test
                .iter()
                .copied()
                .filter(|&i| dataset.classes[dataset.labels[i]] != class.name)
                .collect(),
            ..trial.clone()
        };
        let (model, _) = fitted(&dataset, &without, &settings)?;
        let mut model = Model::from_bytes(&model.to_bytes()?)?;
        let started = Instant::now();
        model.add_classes(std::slice::from_ref(&class), &Silent)?;
        let milliseconds = 1e3 * started.elapsed().as_secs_f64();
        let added = per_class(&model, &task, names)?;
        let difference = added - from_start;
        say(&format!(
            "  {:34} {milliseconds:8.2}  {:22.2}  {:5.2}  {:+11.2}",
            class.name,
            100.0 * from_start,
            100.0 * added,
            100.0 * difference
        ));
        slowest = slowest.max(milliseconds);
        sum += difference;
    }
    say(&format!("  slowest {slowest:.2} ms, mean difference {:+.3} points", 100.0 * sum / CLASSES as f64));
    Ok(())
}

fn fitted(dataset: &Dataset, trial: &Trial, settings: &Settings) -> Result<(Model, Task)> {
    let choice = settings.choice(dataset)?;
    let task = Task::new(dataset, trial, &choice, &Silent)?;
    let method = Method::from_settings(settings, 0);
    let fitted = method.fit(&task, &Silent)?;
    Ok((Model::new(&dataset.name, choice.normalize, &task, &method, fitted), task))
}

fn description(model: &Model, unseen: usize) -> NewClass {
    let class = model.known.len() + unseen;
    let vectors = model.semantics.representations.iter();
    let semantics: BTreeMap<String, Vec<f64>> =
        vectors.map(|one| (one.name.clone(), one.raw.col_as_slice(class).to_vec())).collect();
    NewClass { name: model.unseen[unseen].clone(), semantics }
}

/// Per-class accuracy over the test instances of all unseen classes, which a model may have in another order.
fn per_class(model: &Model, task: &Task, names: &[String]) -> Result<f64> {
    let found = model.fitted.recognize(task.test.prepared(), Candidates::Unseen)?.labels();
    let place = |class: usize| names.iter().position(|name| *name == model.unseen[class]).context("a class");
    let labels = found.into_iter().map(place).collect::<Result<Vec<_>>>()?;
    Ok(metrics::accuracy(&labels, &task.test.labels, names.len()).per_class)
}
