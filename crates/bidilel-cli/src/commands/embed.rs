//! `bidilel embed MODEL FEATURES... --out FILE`: feature rows in the latent space of a model.

use anyhow::Result;
use bidilel_math::Observer;
use bidilel_report::{EmbeddedFeatures, Format, IdKind};

use super::block::Block;
use super::features::Sources;
use super::predict::open_model;
use super::row_scan::Scan;
use crate::args::EmbedArgs;
use crate::latent::{self, RowLabels};
use crate::output;
use crate::pictures;
use crate::progress::Progress;

pub(super) fn run(args: &EmbedArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    latent::check_target(&args.out)?;
    progress.stage("open");
    let model = open_model(&args.input.model)?;
    let instances = pictures::instances(&args.input, &model, false, progress)?;
    let mut sources = Sources::open(&instances.input, &model.views, progress)?;
    let (count, dim) = (sources.count(), model.latent()?.space.dim());
    let ids = sources.take_ids();
    progress.stage("project");
    let blocks = sources.blocks();
    let cells = |row: usize| {
        let id = ids.as_ref().map(|ids| ids.values[row].clone());
        std::iter::once(row.to_string()).chain(id).collect()
    };
    let columns = std::iter::once("index").chain(ids.as_ref().map(|ids| IdKind::of(ids).name())).collect();
    latent::write(&args.out, (count, dim), &RowLabels { columns, cells: &cells }, &mut |write| {
        for range in &blocks {
            let block = Block::read(&mut sources, range, false, &mut Scan::default())?;
            let (points, _) = block.with(|rows, range, _| model.project_views(rows, range))?;
            write(points.as_ref())?;
            progress.progress(range.end, count);
        }
        Ok(())
    })?;
    progress.finish();
    let result = EmbeddedFeatures { file: args.out.clone(), instances: count, dim };
    match format {
        Format::Json => output::print_json(&result),
        _ => output::print(&result.text()),
    }
}
