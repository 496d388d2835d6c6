//! `bidilel reproduce TABLE --data DIR`: tables and figures of the paper, or of a file of the same form.

use anyhow::Result;
use bidilel_report::{Align, Format, Table};
use serde::Serialize;

use crate::failure::usage;
use crate::output;
use crate::progress::Progress;
use crate::reproduction::args::{ReproduceArgs, STAND_IN_SCALE};
use crate::reproduction::{ListedExperiment, Origin, ReproductionOptions, Shown, files, make, named};

pub(super) fn run(args: &ReproduceArgs, format: Format, progress: &Progress) -> Result<()> {
    if args.list {
        return list(format);
    }
    if args.tables.is_empty() {
        return Err(usage(
            "name a table, as in `bidilel reproduce object-recognition --data DIR`; --list names all",
        ));
    }
    let tables = named(&args.tables)?;
    if args.show {
        let texts: Vec<&str> = tables.iter().map(|table| &table.text[..]).collect();
        return output::print_as_is(&texts.join("\n"));
    }
    let options = ReproductionOptions {
        origin: origin(args)?,
        out: args.out.clone(),
        resume: args.resume,
        splits: args.splits,
        folds: args.folds,
        starts: args.starts,
        seed: args.seed,
    };
    files::print(&make(&tables, &options, &Shown::new(progress))?, format)
}

fn origin(args: &ReproduceArgs) -> Result<Origin> {
    match (&args.data, args.stand_ins) {
        (Some(folder), _) => Ok(Origin::Folder(folder.clone())),
        (None, true) => Ok(Origin::StandIns(args.scale.unwrap_or(STAND_IN_SCALE))),
        (None, false) => Err(usage(
            "say where the data are: --data DIR with a folder per dataset (awa, cub, ucf101, hmdb51), or --stand-ins for \
             generated data of their sizes",
        )),
    }
}

#[derive(Serialize)]
struct List {
    experiments: Vec<ListedExperiment>,
}

fn list(format: Format) -> Result<()> {
    let experiments = ListedExperiment::all();
    if format == Format::Json {
        return output::print_json(&List { experiments });
    }
    let mut table = Table::new(&[
        ("table", Align::Left),
        ("in the paper", Align::Left),
        ("datasets", Align::Left),
        ("what it shows", Align::Left),
    ]);
    for one in experiments {
        table.push(vec![
            one.name.to_owned(),
            one.published.unwrap_or_default(),
            one.datasets.join(", "),
            one.title,
        ]);
    }
    output::print_table(&table, format)
}
