//! `bidilel tag DATASET`: several labels per instance, and `fit` for such data.

use std::path::Path;

use anyhow::{Result, bail};
use bidilel::tags::{self, TagExperiment, TagFit, Tagged};
use bidilel::{Candidates, Method, Model};
use bidilel_math::Observer;
use bidilel_report::{Format, ModelReport, Tagging};

use crate::args::{FitArgs, TagArgs, TagCandidates};
use crate::failure::usage;
use crate::progress::Progress;
use crate::{output, source, terminal};

pub(super) fn run(args: &TagArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    let settings = args.method.resolve()?;
    let tagged = match args.collage {
        Some(most) => Tagged::collage(
            &source::open(&args.dataset, args.method.seed, progress)?,
            most,
            args.method.seed,
        )?,
        None => open(&args.dataset, args.method.seed, progress)?,
    };
    args.method.note_unused(&settings, progress);
    let candidates = match args.candidates {
        TagCandidates::Unseen => Candidates::Unseen,
        TagCandidates::All => Candidates::All,
    };
    let experiment = TagExperiment {
        settings,
        split: args.method.splits.choice(args.method.seed),
        seed: args.method.seed,
        candidates,
        top: args.top.clone(),
    };
    let evaluated = tags::evaluate(&tagged, &experiment, progress)?;
    let result = Tagging::of(evaluated, candidates, progress.finish(), progress.checks());
    match format {
        Format::Json => output::print_json(&result),
        _ => output::print(&result.text(terminal::width())),
    }
}

/// Whether a dataset has several labels per instance.
pub(super) fn has_tags(dataset: &str) -> bool {
    !dataset.starts_with("builtin:")
        && !dataset.starts_with("synthetic:")
        && bidilel_data::has_tags(Path::new(dataset))
}

/// A dataset with any number of labels per instance; one of each where it has `labels`.
fn open(dataset: &str, seed: u64, watch: &dyn Observer) -> Result<Tagged> {
    if has_tags(dataset) {
        watch.stage("open");
        let opened = bidilel_data::open_tagged(Path::new(dataset))?;
        opened.notes.iter().for_each(|note| watch.note(note));
        return Ok(opened.tagged);
    }
    let dataset = source::open(dataset, seed, watch)?;
    watch.note(
        "every instance has one label: `tags` in dataset.toml gives several, --collage N makes some up",
    );
    let tags = dataset.labels.iter().map(|&label| vec![label]).collect();
    Ok(Tagged::new(dataset, tags)?)
}

/// `bidilel fit` for instances with several labels: the model has thresholds, for `predict --tags`.
pub(super) fn fit(args: &FitArgs, format: Format, progress: &Progress) -> Result<()> {
    let settings = args.method.resolve()?;
    let seed = args.method.seed;
    let method = Method::from_settings(&settings, seed);
    method.require_inductive()?;
    args.method.splits.require_one("fit")?;
    output::check_target(&args.out)?;
    if args.latent.is_some() {
        return Err(usage("--latent needs one label per instance, and this dataset has `tags`"));
    }
    let tagged = open(&args.dataset, seed, progress)?;
    args.method.note_unused(&settings, progress);
    let flat = tagged.flat();
    let choice = settings.choice(&flat)?;
    let (split, trials) = tagged.trials(&args.method.splits.choice(seed))?;
    let [trial] = &trials[..] else {
        bail!("split `{split}` has {} trials: name one, as in --split {split}:0", trials.len());
    };
    let TagFit { task, fitted, thresholds } =
        tagged.fit(trial, &method, &choice, Candidates::All, seed, progress)?;
    let mut model = Model::new(tagged.name(), choice.normalize, &task, &method, fitted);
    model.thresholds = Some(thresholds);
    output::write_to(Some(&args.out), |out| Ok(model.write_to(out)?))?;
    let timings = progress.finish();
    if output::is_stdout(&args.out) {
        return Ok(());
    }
    let report = ModelReport::new(args.out.clone(), &model, timings, progress.checks());
    match format {
        Format::Json => output::print_json(&report),
        _ => output::print(&report.text()),
    }
}
