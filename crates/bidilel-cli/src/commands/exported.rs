//! `evaluate --predictions FILE`: what every test instance was taken for.

use std::path::Path;

use anyhow::{Result, bail};
use bidilel::Candidates;
use bidilel::evaluate::Finished;
use bidilel::recognize::Recognition;
use bidilel_data::{Cells, ColumnType, TableWriter};
use bidilel_report::{RunPrediction, RunPredictions};

use crate::failure::left_out;
use crate::latent::{self, RowLabels};
use crate::output;

/// What stands before the distances.
const COLUMNS: [(&str, ColumnType); 5] = [
    ("split", ColumnType::Text),
    ("seed", ColumnType::Integer),
    ("instance", ColumnType::Integer),
    ("true", ColumnType::Text),
    ("predicted", ColumnType::Text),
];

/// The recognition of one run.
pub(super) struct Recognized {
    pub(super) split: String,
    pub(super) seed: u64,
    /// The classes to choose from.
    pub(super) classes: Vec<String>,
    /// The instances, by their indices in the dataset.
    pub(super) instances: Vec<usize>,
    /// Their true classes, by their indices in `classes`.
    pub(super) truth: Vec<usize>,
    pub(super) recognition: Recognition,
}

enum Style {
    Csv,
    Json,
    Parquet,
}

impl Style {
    fn of(path: &Path) -> Result<Self> {
        match path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("parquet") if cfg!(feature = "parquet") => Ok(Self::Parquet),
            Some("parquet") => Err(left_out("Parquet tables", "parquet")),
            _ => bail!(
                "`{}`: predictions of an evaluation are written as .csv, .json or .parquet",
                path.display()
            ),
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
            let classes = all_classes(runs);
            let mut csv = csv::Writer::from_writer(out);
            let head = COLUMNS.map(|(name, _)| name.to_owned());
            csv.write_record(head.into_iter().chain(classes.iter().map(|name| format!("distance:{name}"))))?;
            for row in runs.iter().flat_map(Recognized::rows) {
                let RunPrediction { split, seed, instance, truth, predicted, distances } = row;
                let fields = [split, &seed.to_string(), &instance.to_string(), truth, predicted];
                let distance =
                    |name: &&String| distances.get(name.as_str()).map_or(String::new(), f64::to_string);
                let fields = fields.map(str::to_owned).into_iter();
                csv.write_record(fields.chain(classes.iter().map(distance)))?;
            }
            Ok(csv.flush()?)
        }),
        Style::Json => {
            let predictions = runs.iter().flat_map(Recognized::rows).collect();
            output::write_text(path, &output::json(&RunPredictions { predictions })?)
        }
        Style::Parquet => output::write_to(Some(path), |out| {
            let classes = all_classes(runs);
            let names: Vec<String> = classes.iter().map(|name| format!("distance:{name}")).collect();
            let distances = names.iter().map(|name| (name.as_str(), ColumnType::OptionalFloat));
            let mut table = TableWriter::new(COLUMNS.into_iter().chain(distances))?;
            for run in runs {
                table.write(&run.cells(&classes)?, out)?;
            }
            Ok(table.finish(out)?)
        }),
    }
}

/// The candidates of any run. Trials of a family have classes of their own; a class that was no candidate has no distance.
fn all_classes(runs: &[Recognized]) -> Vec<&String> {
    let mut classes: Vec<&String> = runs.iter().flat_map(|run| &run.classes).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
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
    let columns = vec!["index", "split", "seed", "instance", "true", "predicted"];
    latent::write(path, (rows.len(), dim), &RowLabels { columns, cells: &cells }, &mut |write| {
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
        let candidates = task.candidates();
        let seen = if candidates == Candidates::All { &trial.test_seen[..] } else { &[] };
        Self {
            split: trial.name.clone(),
            seed,
            classes: task.names(candidates),
            instances: [seen, &trial.test].concat(),
            truth: task.truth(candidates),
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

    /// One row per instance, with the distance to every class.
    fn rows(&self) -> impl Iterator<Item = RunPrediction<'_>> {
        self.labels().enumerate().map(|(row, Labels { instance, truth, predicted })| {
            let classes = self.classes.iter().enumerate();
            let distances = classes.map(|(class, name)| (name.as_str(), self.distance(class, row))).collect();
            RunPrediction { split: &self.split, seed: self.seed, instance, truth, predicted, distances }
        })
    }

    /// The rows of this run, column by column.
    fn cells(&self, classes: &[&String]) -> Result<Vec<Cells<'_>>> {
        let count = self.instances.len();
        let instances: Result<Vec<i64>, _> = self.instances.iter().map(|&one| i64::try_from(one)).collect();
        let mut cells = vec![
            Cells::Texts(vec![self.split.as_str(); count]),
            Cells::Integers(vec![i64::try_from(self.seed)?; count]),
            Cells::Integers(instances?),
            Cells::Texts(self.labels().map(|labels| labels.truth.as_str()).collect()),
            Cells::Texts(self.labels().map(|labels| labels.predicted.as_str()).collect()),
        ];
        cells.extend(classes.iter().map(|name| {
            let class = self.classes.iter().position(|own| own == *name);
            let distance = |instance| class.map(|class| self.distance(class, instance));
            Cells::OptionalFloats((0..count).map(distance).collect())
        }));
        Ok(cells)
    }

    fn distance(&self, class: usize, instance: usize) -> f64 {
        self.recognition.scores.distance(class, instance)
    }
}
