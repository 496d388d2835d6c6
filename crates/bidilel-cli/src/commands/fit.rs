//! `bidilel fit DATASET --out MODEL`: learn once, recognize later.

use anyhow::Result;
use bidilel::bottom_up::BottomUp;
use bidilel::calibrate::{Calibration, HoldOut};
use bidilel::model::KeptInstances;
use bidilel::semantic::Representation;
use bidilel::{Candidates, Error, Method, Model, Task, ZeroShotMethod};
use bidilel_report::{Format, ModelReport};

use super::sidecar_ids;
use super::tag;
use crate::args::FitArgs;
use crate::latent::{self, RowLabels};
use crate::progress::Progress;
use crate::{networks, output, source};

pub(super) fn run(args: &FitArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    output::check_ending(&args.out, &["safetensors"], "a model")?;
    if tag::has_tags(&args.dataset) {
        return tag::fit(args, format, progress);
    }
    let settings = args.method.resolve()?;
    let method = Method::from_settings(&settings, args.method.seed);
    method.require_inductive()?;
    if args.keep_instances.is_some() && !matches!(method, Method::Bidilel(_)) {
        return Err(Error::NoLatentSpace { method: method.name() }.into());
    }
    args.method.splits.require_one("fit")?;
    output::check_target(&args.out)?;
    args.latent.iter().try_for_each(|path| latent::check_target(path))?;
    let seed = args.method.seed;
    let dataset = source::open(&args.dataset, seed, progress)?;
    let choice = settings.choice(&dataset)?;
    args.method.note_unused(&settings, progress);
    let (trial, drawn) = args.method.splits.one_trial(&dataset, &settings, seed)?;
    args.method.splits.note_left_out(&dataset, progress);
    let task = Task::new(&dataset, &trial, &choice, progress)?;
    output::check_room(&args.out, least_model_bytes(&task, &method, settings.dim))?;
    if let Some(path) = &args.latent {
        let dim = settings.dim.unwrap_or(1);
        output::check_room(path, task.train.features.ncols().saturating_mul(dim * size_of::<f64>()))?;
    }
    let names = args.keep_instances.and_then(|_| sidecar_ids::instance_names(&dataset, progress));
    // A mapped file counts as memory for as long as it is open.
    let (name, networks) = (dataset.name.clone(), dataset.networks.clone());
    drop(dataset);
    let fitted = method.fit(&task, progress)?;
    if let Some(path) = &args.latent {
        let latent = fitted.latent().ok_or(Error::NoLatentSpace { method: method.name() })?;
        let points = latent.space.project(task.train.features.as_ref())?;
        let cells = |row: usize| {
            vec![row.to_string(), trial.train[row].to_string(), task.known[task.train.labels[row]].clone()]
        };
        let labels = RowLabels { columns: vec!["index", "instance", "label"], cells: &cells };
        latent::write(path, (points.ncols(), points.nrows()), &labels, &mut |write| write(points.as_ref()))?;
    }
    let mut model = Model::new(&name, choice.normalize, &task, &method, fitted).made_by(&networks);
    if choice.candidates == Candidates::All {
        let like = HoldOut::like(&task, Candidates::All, seed);
        let hold_out = HoldOut { folds: args.calibrate.unwrap_or(like.folds), ..like };
        model = model.calibrated(&task, &method, &hold_out, progress)?;
    } else if let Some(folds) = args.calibrate {
        model.calibration = Some(Calibration::new(&task, &method, folds, seed, progress)?);
    }
    if let Some(per_class) = args.keep_instances {
        let kept =
            KeptInstances::of(model.latent()?, &task.train, &trial.train, names.as_deref(), per_class)?;
        model.kept = Some(kept);
    }
    if args.embed_network {
        networks::embed(&mut model, &args.out)?;
    }
    output::write_to(Some(&args.out), |out| Ok(model.write_to(out)?))?;
    let timings = progress.finish();
    if output::is_stdout(&args.out) {
        // The model is on stdout: a report after it would become part of it.
        return Ok(());
    }
    let report = ModelReport {
        random_splits: drawn,
        ..ModelReport::new(args.out.clone(), &model, timings, progress.checks())
    };
    match format {
        Format::Json => output::print_json(&report),
        _ => output::print(&report.text()),
    }
}

/// Smallest size of a model of a task, in bytes; a latent dimension that is not set counts as one.
fn least_model_bytes(task: &Task, method: &Method, dim: Option<usize>) -> usize {
    let (known, unseen, visual) = (task.known.len(), task.unseen.len(), task.train.features.nrows());
    let dim = dim.map_or(1, |dim| dim.min(visual));
    let map = match method {
        Method::Bidilel(pipeline) if matches!(pipeline.bottom_up, BottomUp::None(_)) => 0,
        _ => dim * visual,
    };
    let points = dim * (known + unseen);
    let distances = unseen * known + unseen * unseen.saturating_sub(1) / 2;
    let values = |one: &Representation| one.values.nrows() * one.values.ncols();
    let descriptions: usize = task.semantics.representations.iter().map(values).sum();
    size_of::<f64>() * (map + points + distances + descriptions)
}

#[cfg(test)]
mod tests {
    use bidilel::settings::Settings;
    use bidilel::synthetic::Synthetic;
    use bidilel_math::Silent;

    use super::*;

    #[test]
    fn a_model_takes_little_more_than_what_is_asked_of_the_disk() {
        let kind = Synthetic { known: 20, unseen: 10, scale: 0.1, validation: 0, ..Synthetic::default() };
        let dataset = kind.generate(0).expect("data");
        let settings = Settings { dim: Some(10), ..Settings::default() };
        let choice = settings.choice(&dataset).expect("views");
        let trial = dataset.trials(None).expect("a split").remove(0);
        let task = Task::new(&dataset, &trial, &choice, &Silent).expect("a task");
        let method = Method::from_settings(&settings, 0);
        let least = least_model_bytes(&task, &method, settings.dim);
        let fitted = method.fit(&task, &Silent).expect("a fit");
        let model = Model::new("x", choice.normalize, &task, &method, fitted);
        let found = model.to_bytes().expect("bytes").len();
        assert!((least..least + least / 4 + (16 << 10)).contains(&found), "{least} of {found}");
    }
}
