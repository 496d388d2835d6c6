//! `bidilel reproduce TABLE --data DIR`: tables and figures of the paper, or of a file of the same form.

use anyhow::{Context, Result};
use bidilel_experiments::{Experiment, NAMES};
use bidilel_math::Observer;
use bidilel_report::{Align, Format, Table};
use serde::Serialize;

use crate::failure::usage;
use crate::output;
use crate::progress::Progress;
use crate::reproduction::args::{ReproduceArgs, STAND_IN_SCALE};
use crate::reproduction::{Journal, Maker, Origin, Store, files, named};

/// The name that stands for all tables of the paper.
const ALL: &str = "all";
/// The journal's name in the folder of the results.
const JOURNAL: &str = "journal.jsonl";
/// More than the files of a table take.
const OUTPUT_BYTES: u64 = 1 << 20;

pub(super) fn run(args: &ReproduceArgs, format: Format, progress: &Progress) -> Result<()> {
    if args.list {
        return list(format);
    }
    let tables: Vec<&str> = match &args.tables[..] {
        [] => {
            return Err(usage(
                "name a table, as in `bidilel reproduce object-recognition --data DIR`; --list names all",
            ));
        }
        [all] if all == ALL => NAMES.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    // Every file is read before anything is computed.
    let tables = tables.into_iter().map(named).collect::<Result<Vec<_>>>()?;
    if args.show {
        let texts: Vec<&str> = tables.iter().map(|(_, text, _)| &text[..]).collect();
        return output::print_as_is(&texts.join("\n"));
    }
    let mut maker = Maker {
        args,
        store: Store::new(origin(args)?, args.seed, args.splits),
        journal: journal(args, progress)?,
        progress,
    };
    let mut made = Vec::new();
    for (name, text, experiment) in &tables {
        let table = maker.table(name, text, experiment)?;
        let (measured, cells) = table.counts();
        if measured < cells {
            progress.note(&format!(
                "{name}: {measured} of {cells} cells have data; the table says what is missing"
            ));
        }
        if let Some(folder) = &args.out {
            files::write(&table, folder)?;
        }
        made.push(table);
    }
    files::print(&made, format)
}

fn origin(args: &ReproduceArgs) -> Result<Origin> {
    match (&args.data, args.stand_ins) {
        (Some(folder), _) if !folder.is_dir() => Err(usage(format!(
            "`{}`: there is no such folder; --data takes the folder of the datasets' folders",
            folder.display()
        ))),
        (Some(folder), _) => Ok(Origin::Folder(folder.clone())),
        (None, true) => Ok(Origin::StandIns(args.scale.unwrap_or(STAND_IN_SCALE))),
        (None, false) => Err(usage(
            "say where the data are: --data DIR with a folder per dataset (awa, cub, ucf101, hmdb51), or --stand-ins for \
             generated data of their sizes",
        )),
    }
}

fn journal(args: &ReproduceArgs, progress: &Progress) -> Result<Journal> {
    let Some(folder) = &args.out else { return Ok(Journal::forgetful()) };
    output::need_name(folder, "tables")?;
    std::fs::create_dir_all(folder).with_context(|| format!("`{}`: cannot be made", folder.display()))?;
    bidilel_data::probe_folder(folder, OUTPUT_BYTES)?;
    let journal = Journal::open(&folder.join(JOURNAL), args.resume)?;
    if args.resume {
        progress.note(&format!("{} computations are in the journal", journal.len()));
    }
    Ok(journal)
}

/// One line of the list.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    published: Option<String>,
    title: String,
    datasets: Vec<String>,
}

#[derive(Serialize)]
struct List {
    experiments: Vec<Listed>,
}

fn list(format: Format) -> Result<()> {
    let experiments: Vec<Listed> =
        NAMES.iter().filter_map(|name| Some(listed(name, &Experiment::named(name)?))).collect();
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

fn listed(name: &'static str, experiment: &Experiment) -> Listed {
    let mut datasets: Vec<String> = Vec::new();
    for row in &experiment.rows {
        for cell in experiment.columns.iter().filter_map(|column| experiment.cell(row, column)) {
            if !datasets.contains(&cell.dataset) {
                datasets.push(cell.dataset);
            }
        }
    }
    Listed { name, published: experiment.paper.clone(), title: experiment.title.clone(), datasets }
}
