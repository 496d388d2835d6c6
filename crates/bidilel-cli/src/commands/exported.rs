//! `evaluate --predictions FILE`: what every test instance was taken for.

use std::path::Path;

use anyhow::{Result, bail};
use bidilel::evaluate::Finished;
use bidilel::recognize::Recognition;
use serde_json::json;

use crate::latent::{self, Beside};
use crate::output;

/// The recognition of one run.
pub(super) struct Recognized {
    pub(super) split: String,
    pub(super) seed: u64,
    /// The classes to choose from.
    pub(super) classes: Vec<String>,
    /// The instances, by their places in the dataset.
    pub(super) instances: Vec<usize>,
    /// Their true classes, by their places among `classes`.
    pub(super) truth: Vec<usize>,
    pub(super) recognition: Recognition,
}

enum Style {
    Csv,
    Json,
}

impl Style {
    fn of(path: &Path) -> Result<Self> {
        match path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            _ => bail!("`{}`: predictions of an evaluation are written as .csv or .json", path.display()),
        }
    }
}

/// Fails at once where the file could not be written.
pub(super) fn check_target(path: &Path) -> Result<()> {
    output::check_target(path)?;
    Style::of(path).map(drop)
}

/// Writes the predictions of all runs, with the distance to every class: the smallest is the prediction.
pub(super) fn write(path: &Path, runs: &[Recognized]) -> Result<()> {
    match Style::of(path)? {
        Style::Csv => output::write_to(Some(path), |out| {
            // Trials of a family have classes of their own; a class that was no candidate has no distance.
            let mut classes: Vec<&String> = runs.iter().flat_map(|run| &run.classes).collect();
            classes.sort_unstable();
            classes.dedup();
            let mut csv = csv::Writer::from_writer(out);
            let head = ["split", "seed", "instance", "true", "predicted"].map(str::to_owned);
            csv.write_record(head.into_iter().chain(classes.iter().map(|name| format!("distance:{name}"))))?;
            for run in runs {
                let places: Vec<Option<usize>> =
                    classes.iter().map(|name| run.classes.iter().position(|own| own == *name)).collect();
                for (place, labels) in run.labels().enumerate() {
                    let Labels { instance, truth, predicted } = labels;
                    let fields = [&run.split, &run.seed.to_string(), &instance.to_string(), truth, predicted]
                        .map(Clone::clone);
                    let distance = |class: &Option<usize>| {
                        class.map_or(String::new(), |class| run.distance(class, place).to_string())
                    };
                    csv.write_record(fields.into_iter().chain(places.iter().map(distance)))?;
                }
            }
            Ok(csv.flush()?)
        }),
        Style::Json => {
            let mut list = Vec::new();
            for run in runs {
                for (place, Labels { instance, truth, predicted }) in run.labels().enumerate() {
                    let distances: serde_json::Map<_, _> = (0..run.classes.len())
                        .map(|class| (run.classes[class].clone(), json!(run.distance(class, place))))
                        .collect();
                    list.push(json!({
                        "split": run.split, "seed": run.seed, "instance": instance,
                        "true": truth, "predicted": predicted, "distances": distances,
                    }));
                }
            }
            let text = output::json(&json!({ "predictions": list }))?;
            output::write_to(Some(path), |out| Ok(out.write_all(text.as_bytes())?))
        }
    }
}

/// Writes where the test instances of all runs lie in the latent space, refined as the predictions are.
pub(super) fn write_latent(path: &Path, runs: &[Recognized]) -> Result<()> {
    let points = |run: &Recognized| match &run.recognition.latent {
        Some(latent) => Ok(latent.points.clone()),
        None => bail!("this method has no latent space, so there are no coordinates to write"),
    };
    let points: Vec<_> = runs.iter().map(points).collect::<Result<_>>()?;
    let dims: Vec<usize> = points.iter().map(|points| points.nrows()).collect();
    let dim = dims.first().copied().unwrap_or(0);
    if dims.iter().any(|&other| other != dim) {
        bail!(
            "the latent spaces of the trials have different dimensions: fix them with --dim, or choose one trial"
        );
    }
    let rows: Vec<(&Recognized, Labels<'_>)> =
        runs.iter().flat_map(|run| run.labels().map(move |labels| (run, labels))).collect();
    let cells = |row: usize| {
        let (run, Labels { instance, truth, predicted }) = &rows[row];
        let index = (row.to_string(), instance.to_string());
        vec![
            index.0,
            run.split.clone(),
            run.seed.to_string(),
            index.1,
            (*truth).clone(),
            (*predicted).clone(),
        ]
    };
    let beside =
        Beside { columns: vec!["index", "split", "seed", "instance", "true", "predicted"], cells: &cells };
    latent::write(path, (rows.len(), dim), &beside, &mut |write| {
        points.iter().try_for_each(|points| write(points.as_ref().as_ref()))
    })
}

/// One instance with its classes.
struct Labels<'a> {
    instance: usize,
    truth: &'a String,
    predicted: &'a String,
}

impl Recognized {
    /// What is kept of a run when its task is dropped.
    pub(super) fn of(run: Finished<'_>) -> Self {
        let Finished { trial, task, seed, recognition, .. } = run;
        Self {
            split: trial.name.clone(),
            seed,
            classes: task.unseen.clone(),
            instances: trial.test.clone(),
            truth: task.test.labels.clone(),
            recognition,
        }
    }

    fn labels(&self) -> impl Iterator<Item = Labels<'_>> {
        let predicted = self.recognition.labels();
        self.instances.iter().zip(&self.truth).zip(predicted).map(|((&instance, &truth), predicted)| Labels {
            instance,
            truth: &self.classes[truth],
            predicted: &self.classes[predicted],
        })
    }

    fn distance(&self, class: usize, instance: usize) -> f64 {
        self.recognition.scores.distance(class, instance)
    }
}
