//! `bidilel class ...`: the classes of a model, which come, go, get other names and become known without another fit.

mod add;
pub(crate) mod args;
mod change;
mod sources;

use std::path::Path;

use anyhow::Result;
use bidilel::error::ClassProblem;
use bidilel::model::Model;
use bidilel_data::closest;
use bidilel_report::{ClassDescription, ClassList, Format};

use super::predict::open_model;
use crate::failure::hinted;
use crate::output;
use crate::progress::Progress;
use args::{ClassCommand, TargetArgs};

pub(super) fn run(command: &ClassCommand, format: Format, progress: &Progress) -> Result<()> {
    match command {
        ClassCommand::List { model, nearest } => list(model, *nearest, format),
        ClassCommand::Describe { model, class, top } => describe(model, class, *top, format),
        ClassCommand::Add(args) => add::run(args, format, progress),
        ClassCommand::Remove { model, names, target } => change::remove(model, names, target, format),
        ClassCommand::Rename { model, old, new, target } => change::rename(model, (old, new), target, format),
        ClassCommand::Promote(args) => change::promote(args, format, progress),
    }
}

fn list(path: &Path, nearest: usize, format: Format) -> Result<()> {
    let classes = ClassList::of(&open_model(path)?, nearest);
    match format {
        Format::Json => output::print_json(&classes),
        _ => output::print_table(&classes.table(), format),
    }
}

fn describe(path: &Path, name: &str, top: usize, format: Format) -> Result<()> {
    output::text_or_json(format)?;
    let model = open_model(path)?;
    let class = ClassDescription::of(&model, name, top).map_err(|error| suggested(error, &model))?;
    match format {
        Format::Json => output::print_json(&class),
        _ => output::print(&class.text()),
    }
}

/// A failure with the name that was probably meant, where a name is wrong.
fn suggested(error: bidilel::Error, model: &Model) -> anyhow::Error {
    let meant = |name: &str, names: Vec<String>| closest(name, &names);
    let near = match &error {
        bidilel::Error::Classes { problem: ClassProblem::Unknown { name } } => {
            meant(name, model.known.iter().chain(&model.unseen).cloned().collect())
        }
        bidilel::Error::Classes { problem: ClassProblem::NoAttribute { name } } => {
            meant(name, model.attribute_names().cloned().collect())
        }
        bidilel::Error::Classes { problem: ClassProblem::NoRepresentation { found, available } } => {
            meant(found, available.clone())
        }
        _ => None,
    };
    match near {
        Some(near) => hinted(error, format!("did you mean `{near}`?")),
        None => error.into(),
    }
}

impl TargetArgs {
    /// The file to write.
    fn path<'a>(&'a self, model: &'a Path) -> Result<&'a Path> {
        let path = self.out.as_deref().unwrap_or(model);
        output::need_name(path, "a changed model")?;
        output::check_ending(path, &["safetensors"], "a model")?;
        output::check_target(path)?;
        Ok(path)
    }
}

/// Writes a model, whole or not at all.
fn write(model: &Model, path: &Path) -> Result<()> {
    output::write_to(Some(path), |out| Ok(model.write_to(out)?))
}

/// Prints a result as text or JSON.
fn print(result: &impl serde::Serialize, text: &str, format: Format) -> Result<()> {
    match format {
        Format::Json => output::print_json(result),
        _ => output::print(text),
    }
}
