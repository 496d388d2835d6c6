//! `class remove`, `class rename` and `class promote`.

use std::path::Path;

use anyhow::{Result, bail};
use bidilel::living::{ClassIndex, Others};
use bidilel::model::Model;
use bidilel::recognize::mean_distances;
use bidilel_math::Observer;
use bidilel_report::{ClassCounts, Format, PromotedClass, RemovedClasses, RenamedClass};
use faer::Mat;

use super::args::{PromoteArgs, TargetArgs};
use super::{print, suggested, write};
use crate::commands::block::Block;
use crate::commands::features::Sources;
use crate::commands::predict::open_model;
use crate::commands::row_scan::Scan;
use crate::progress::Progress;
use crate::{output, pictures};

pub(super) fn remove(path: &Path, names: &[String], target: &TargetArgs, format: Format) -> Result<()> {
    output::text_or_json(format)?;
    let file = target.path(path)?;
    let mut model = open_model(path)?;
    let removed: Vec<&str> = names.iter().map(String::as_str).collect();
    model.remove_classes(&removed).map_err(|error| suggested(error, &model))?;
    write(&model, file)?;
    let counts = ClassCounts::of(&model);
    let result = RemovedClasses { file: file.to_owned(), removed: names.to_vec(), counts };
    print(&result, &result.text(), format)
}

pub(super) fn rename(
    path: &Path,
    (old, new): (&str, &str),
    target: &TargetArgs,
    format: Format,
) -> Result<()> {
    output::text_or_json(format)?;
    let file = target.path(path)?;
    let mut model = open_model(path)?;
    model.rename_class(old, new).map_err(|error| suggested(error, &model))?;
    write(&model, file)?;
    let (old, new) = (old.to_owned(), new.to_owned());
    let result = RenamedClass { file: file.to_owned(), old, new, counts: ClassCounts::of(&model) };
    print(&result, &result.text(), format)
}

pub(super) fn promote(args: &PromoteArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    let file = args.target.path(&args.model)?;
    progress.stage("open");
    let mut model = open_model(&args.model)?;
    let class = model.class(&args.class).map_err(|error| suggested(error, &model))?;
    let fitted = model.latent()?;
    let described = match class {
        ClassIndex::Unseen(class) => fitted.embedding.points.subcols(class, 1).to_owned(),
        ClassIndex::Known(class) => fitted.landmarks.points.subcols(class, 1).to_owned(),
    };
    let points = projected(args, &model, progress)?;
    if points.ncols() == 0 {
        bail!("there is no instance to make a landmark of");
    }
    let others = if args.re_embed { Others::EmbedAnew } else { Others::Stay };
    model.promote_class(&args.class, points.as_ref(), others, progress)?;
    write(&model, file)?;
    progress.finish();
    let fitted = model.latent()?;
    let landmark = fitted.landmarks.points.subcols(model.known.len() - 1, 1);
    let result = PromotedClass {
        file: file.to_owned(),
        promoted: args.class.clone(),
        instances: points.ncols(),
        moved: mean_distances(landmark, described.as_ref(), fitted.space.spaces())[(0, 0)],
        re_embedded: args.re_embed,
        counts: ClassCounts::of(&model),
    };
    print(&result, &result.text(), format)
}

/// The instances in the latent space.
fn projected(args: &PromoteArgs, model: &Model, progress: &Progress) -> Result<Mat<f64>> {
    let input = args.input();
    let instances = pictures::instances(&input, model, false, progress)?;
    let mut sources = Sources::open(&instances.input, &model.views, progress)?;
    progress.stage("project");
    let count = sources.count();
    let mut points = Mat::zeros(model.latent()?.space.dim(), count);
    let mut first = 0;
    for range in sources.blocks() {
        let block = Block::read(&mut sources, &range, false, &mut Scan::default())?;
        let (some, _) = block.with(|rows, range, _| model.project_views(rows, range))?;
        points.as_mut().subcols_mut(first, some.ncols()).copy_from(&some);
        first += some.ncols();
    }
    Ok(points)
}
