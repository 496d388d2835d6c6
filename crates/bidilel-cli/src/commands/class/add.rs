//! `bidilel class add MODEL NAME... --out MODEL2`: classes that join a model by their descriptions.

use std::time::Instant;

use anyhow::Result;
use bidilel::NewClass;
use bidilel_math::Observer;
use bidilel_report::{AddedClass, AddedClasses, ClassCounts, ClassDescription, Format};

use super::args::AddArgs;
use super::sources::Described;
use super::{print, suggested, write};
use crate::commands::predict::open_model;
use crate::output;
use crate::progress::Progress;

/// Nearest classes and strongest attributes that the result names.
const SHOWN: usize = 5;

pub(super) fn run(args: &AddArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    let file = args.target.path(&args.model)?;
    progress.stage("open");
    let mut model = open_model(&args.model)?;
    let described = Described::read(args, &model, progress)?;
    let new: Vec<NewClass> = described.classes().collect();
    progress.stage("embed");
    let clock = Instant::now();
    model.add_classes(&new, progress).map_err(|error| suggested(error, &model))?;
    let seconds = clock.elapsed().as_secs_f64();
    write(&model, file)?;
    progress.finish();
    let added = described.into_iter().map(|class| {
        let description = ClassDescription::of(&model, &class.name, SHOWN)?;
        Ok(AddedClass { description, filled: class.filled, filled_from: class.filled_from })
    });
    let result = AddedClasses {
        file: file.to_owned(),
        added: added.collect::<bidilel::Result<_>>()?,
        counts: ClassCounts::of(&model),
        stress: model.latent().ok().map(|fitted| fitted.stress),
        seconds,
    };
    print(&result, &result.text(), format)
}
