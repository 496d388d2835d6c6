//! `bidilel convert DATASET OUT`: any readable dataset as a folder of arrays and text files.

use anyhow::Result;
use bidilel::dataset::Dataset;
use bidilel_data::{Precision, WriteOptions};
use bidilel_math::Observer;
use bidilel_report::{ConvertedDataset, Format};

use crate::args::ConvertArgs;
use crate::progress::Progress;
use crate::{output, source};

pub(super) fn run(args: &ConvertArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    output::need_name(&args.out, "a folder")?;
    let options = WriteOptions {
        precision: if args.float16 { Precision::Float16 } else { Precision::Float32 },
        overwrite: args.overwrite,
    };
    bidilel_data::check_target(&args.out, args.overwrite).map_err(super::replaceable)?;
    bidilel_data::probe_folder(&args.out, 0)?;
    let dataset = source::open(&args.dataset, 0, progress)?;
    bidilel_data::probe_folder(&args.out, size_of(&dataset, options.precision))?;
    progress.stage("write");
    bidilel_data::write(&dataset, &args.out, options).map_err(super::replaceable)?;
    progress.finish();
    match format {
        Format::Json => output::print_json(&ConvertedDataset {
            folder: args.out.clone(),
            name: dataset.name.clone(),
            instances: dataset.labels.len(),
            classes: dataset.classes.len(),
        }),
        _ => output::print(&format!("{}: {}\n", args.out.display(), super::generate::describe(&dataset))),
    }
}

/// Bytes that the features take, which is nearly all of a folder.
fn size_of(dataset: &Dataset, precision: Precision) -> u64 {
    let bytes = if precision == Precision::Float16 { 2 } else { 4 };
    dataset.visual.iter().map(|visual| (visual.rows.count() * visual.rows.dim()) as u64 * bytes).sum()
}
