//! `bidilel generate OUT`: synthetic dataset folders.

use std::path::PathBuf;

use anyhow::Result;
use bidilel::dataset::Dataset;
use bidilel::synthetic::Synthetic;
use bidilel_data::{Precision, WriteOptions};
use bidilel_math::Observer;
use bidilel_report::{Format, GeneratedDataset, GeneratedDatasets};

use crate::args::GenerateArgs;
use crate::failure::usage;
use crate::output;
use crate::progress::Progress;

pub(super) fn run(args: &GenerateArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    output::need_name(&args.out, "a folder")?;
    // Every setting is looked up before the first folder is written.
    let settings = args.preset.iter().map(|preset| settings(args, preset)).collect::<Result<Vec<_>>>()?;
    settings.iter().try_for_each(|settings| settings.validate().map_err(usage))?;
    let single = settings.len() == 1 && args.seed.len() == 1;
    let options = WriteOptions {
        precision: if args.float16 { Precision::Float16 } else { Precision::Float32 },
        overwrite: args.overwrite,
    };
    let mut made = Vec::new();
    for (preset, settings) in args.preset.iter().zip(&settings) {
        for &seed in &args.seed {
            let folder = match (single, args.seed.len()) {
                (true, _) => args.out.clone(),
                (false, 1) => args.out.join(preset),
                (false, _) => args.out.join(format!("{preset}-{seed}")),
            };
            // Before the numbers are drawn; a folder that does not exist yet is made below.
            bidilel_data::check_target(&folder, args.overwrite).map_err(super::replaceable)?;
            if single {
                bidilel_data::probe_folder(&folder, 0)?;
            }
            progress.stage("generate");
            let dataset = settings.generate_watched(seed, progress)?;
            progress.stage("write");
            if let (false, Some(parent)) = (single, folder.parent()) {
                std::fs::create_dir_all(parent)
                    .map_err(|error| anyhow::anyhow!("`{}`: {error}", parent.display()))?;
            }
            bidilel_data::write(&dataset, &folder, options).map_err(super::replaceable)?;
            made.push((folder, preset, seed, dataset));
        }
    }
    progress.finish();
    if format == Format::Json {
        let one = |(folder, preset, seed, dataset): &(PathBuf, &String, u64, Dataset)| GeneratedDataset {
            folder: folder.clone(),
            preset: (*preset).clone(),
            seed: *seed,
            instances: dataset.labels.len(),
            classes: dataset.classes.len(),
        };
        return output::print_json(&GeneratedDatasets { datasets: made.iter().map(one).collect() });
    }
    let lines: Vec<String> = made
        .iter()
        .map(|(folder, _, _, dataset)| format!("{}: {}\n", folder.display(), describe(dataset)))
        .collect();
    output::print(&lines.concat())
}

fn settings(args: &GenerateArgs, preset: &str) -> Result<Synthetic> {
    let mut settings = Synthetic::preset(preset).map_err(usage)?;
    let set = |target: &mut f64, value: Option<f64>| *target = value.unwrap_or(*target);
    set(&mut settings.semantic_gap, args.semantic_gap);
    set(&mut settings.domain_shift, args.domain_shift);
    set(&mut settings.spread, args.spread);
    set(&mut settings.scale, args.scale);
    settings.known = args.known.unwrap_or(settings.known);
    // The preset's validation classes are for its own number of known classes, and no option says others.
    // Tuning holds out two of them at least, and learns from two.
    if settings.known < settings.validation + 2 {
        settings.validation = Some(settings.known / 3).filter(|&own| own > 1).unwrap_or(0);
    }
    settings.unseen = args.unseen.unwrap_or(settings.unseen);
    Ok(settings)
}

pub(super) fn describe(dataset: &Dataset) -> String {
    let visual = dataset.visual.iter().map(|one| format!("{} ({} dimensions)", one.name, one.rows.dim()));
    let semantic = dataset.semantic.iter().map(|one| format!("{} ({})", one.name, one.vectors.nrows()));
    let splits = dataset.splits.iter().map(|one| one.name.clone());
    let join = |parts: &mut dyn Iterator<Item = String>| parts.collect::<Vec<_>>().join(", ");
    format!(
        "{} instances of {} classes; visual {}; semantic {}; splits {}",
        dataset.labels.len(),
        dataset.classes.len(),
        join(&mut visual.into_iter()),
        join(&mut semantic.into_iter()),
        join(&mut splits.into_iter())
    )
}
