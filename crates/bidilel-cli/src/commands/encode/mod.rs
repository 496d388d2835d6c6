//! `bidilel encode DESCRIPTORS --out features.npy`: sets of local descriptors become feature rows.

pub(crate) mod args;
mod sidecars;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use bidilel::encode::{BATCH_ITEMS, Empty, Encoder, Method, Settings};
use bidilel_data::array::{Base, NpyWriter};
use bidilel_data::descriptors::{self, Collection, Options, Owners};
use bidilel_data::{Counted, Scratch, text};
use bidilel_math::{Observer, pca};
use bidilel_report::{EncodedFeatures, Format};
use faer::{Mat, MatRef};

use crate::output;
use crate::progress::Progress;
use args::{EmptyName, EncodeArgs, ReduceBy};
use sidecars::Sidecars;

pub(super) fn run(args: &EncodeArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    output::need_name(&args.out, "an array with sidecar files")?;
    output::check_ending(&args.out, &["npy"], "an array of features")?;
    let mut sidecars = Sidecars::of(&args.out)?;
    output::check_target(&args.out)?;
    args.save_encoder.iter().try_for_each(|path| output::check_target(path))?;
    progress.stage("open");
    let saved = args.encoder.as_deref().map(open_encoder).transpose()?;
    let collection = open(args)?;
    collection.notes.iter().for_each(|note| progress.note(note));
    let labels = labels(args, &collection)?;
    let empty = match args.empty {
        EmptyName::Error => Empty::Refuse,
        EmptyName::Zero => Empty::Zero,
    };
    let items = &*collection.items;
    if let (Empty::Refuse, Some(item)) =
        (empty, (0..items.count()).find(|&item| items.descriptors(item) == 0))
    {
        // Before anything is learned.
        return Err(bidilel::Error::NoDescriptors { origin: items.origin(item) }.into());
    }
    let (mut encoder, learned) = match saved {
        Some(encoder) => (encoder, false),
        None => (Encoder::fit(items, &settings(args), progress)?, true),
    };
    let mut held = None;
    if let (true, Some(dim)) = (learned, args.learning.reduce) {
        progress.stage("encode");
        let mut rows = Scratch::new(args.out.parent().unwrap_or(Path::new("")), encoder.raw_dim())?;
        encoder.encode(items, empty, progress, |wave| anyhow::Ok(rows.push(wave)?))?;
        progress.stage("reduce");
        let way = args.learning.reduce_by.map(|way| match way {
            ReduceBy::Exact => pca::Method::Exact,
            ReduceBy::Randomized => pca::Method::Randomized { seed: encoder.header.settings.seed },
        });
        encoder.fit_reduction(&rows, dim, way, progress)?;
        let (count, raw, kept) = (pca::ColumnSource::count(&rows), encoder.raw_dim(), encoder.dim());
        if kept < dim {
            progress.note(&format!(
                "{count} feature rows of {raw} dimensions vary in {kept} at most, so --reduce {dim} is {kept}"
            ));
        }
        held = Some(rows);
    }
    output::check_room(&args.out, 4 * items.count() * encoder.dim())?;
    progress.stage(if held.is_some() { "write" } else { "encode" });
    output::write_to(Some(&args.out), |out| {
        let mut writer = NpyWriter::new(out, &[items.count(), encoder.dim()])?;
        let mut write = |rows: MatRef<'_, f32>| -> Result<()> {
            for column in rows.col_iter() {
                let row = column.try_as_col_major().context("rows lie in one piece")?;
                writer.write(row.as_slice())?;
            }
            Ok(())
        };
        match (&held, &encoder.reduction) {
            (Some(rows), _) => each_wave(rows, progress, |wave| write(encoder.reduce_wide(wave).as_ref()))?,
            (None, None) => encoder.encode(items, empty, progress, write)?,
            (None, Some(_)) => {
                encoder.encode(items, empty, progress, |wave| write(encoder.reduce(wave).as_ref()))?;
            }
        }
        writer.finish()?;
        Ok(())
    })?;
    if let Some(path) = &args.save_encoder {
        let bytes = encoder.to_bytes()?;
        output::write_to(Some(path), |out| Ok(out.write_all(&bytes)?))?;
    }
    sidecars.write(&collection, labels.as_deref())?;
    let timings = progress.finish();
    let descriptors: usize = (0..items.count()).map(|item| items.descriptors(item)).sum();
    match format {
        Format::Json => output::print_json(&EncodedFeatures {
            out: &args.out,
            beside: &sidecars.written,
            encoder: args.save_encoder.as_deref().or(args.encoder.as_deref()),
            items: items.count(),
            descriptors,
            dim: encoder.dim(),
            raw_dim: encoder.raw_dim(),
            learned: &encoder.header,
            timings: &timings,
        }),
        _ => output::print(&text_report(args, &encoder, (items.count(), descriptors), &sidecars, &timings)),
    }
}

/// The stored rows, in the batches that they were encoded in, so that GEMM rounds alike.
fn each_wave(
    rows: &Scratch,
    watch: &dyn Observer,
    mut take: impl FnMut(MatRef<'_, f64>) -> Result<()>,
) -> Result<()> {
    let count = pca::ColumnSource::count(rows);
    for first in (0..count).step_by(BATCH_ITEMS) {
        let mut wave = Mat::zeros(pca::ColumnSource::dim(rows), BATCH_ITEMS.min(count - first));
        pca::ColumnSource::read(rows, first, wave.as_mut()).map_err(|error| anyhow!(error))?;
        take(wave.as_ref())?;
        watch.progress(first.div_ceil(BATCH_ITEMS) + 1, count.div_ceil(BATCH_ITEMS));
    }
    Ok(())
}

fn text_report(
    args: &EncodeArgs,
    encoder: &Encoder,
    (items, descriptors): (usize, usize),
    sidecars: &Sidecars,
    timings: &BTreeMap<String, f64>,
) -> String {
    let header = &encoder.header;
    let what = match header.settings.method {
        Method::Fisher => format!("Fisher vectors of {} components", header.settings.components),
        Method::Bag => format!("bags of {} words", header.settings.components),
    };
    let reduced = header.reduction.map_or(String::new(), |found| {
        let way = found
            .residual
            .map_or(String::new(), |residual| format!(", randomized with residuals up to {residual:.1e}"));
        format!(
            ", reduced from {} ({:.1} % of the variance{way})",
            encoder.raw_dim(),
            100.0 * found.variance_kept
        )
    });
    format!(
        "{}: {items} items x {} dimensions{reduced}: {what}, from {descriptors} descriptors, {:.1} s\n\n\
         {}\n",
        args.out.display(),
        encoder.dim(),
        timings.get("total").copied().unwrap_or(0.0),
        sidecars.snippet(),
    )
}

/// The items that were named.
fn open(args: &EncodeArgs) -> Result<Collection> {
    let options = Options { key: args.key.clone(), transpose: args.transpose, columns: args.columns.clone() };
    let owners = match (&args.items, &args.offsets) {
        (Some(path), _) => {
            let base = if args.one_based { Base::One } else { Base::Zero };
            Some(Owners::Items { path: path.clone(), base })
        }
        (None, Some(path)) => Some(Owners::Offsets { path: path.clone() }),
        (None, None) => None,
    };
    let path = &args.descriptors;
    let mut collection = match owners {
        Some(owners) => descriptors::grouped(path, &owners, &options)?,
        None if path.is_dir() => descriptors::folder(path, &options)?,
        None => descriptors::list(path, &options).map_err(|error| match error {
            bidilel_data::Error::Format { path, found, .. } => anyhow!(
                "`{}`: {found} says nothing of items: add --items or --offsets, or name a folder",
                path.display()
            ),
            other => other.into(),
        })?,
    };
    if let Some(path) = &args.names {
        let names = text::read_list(path)?.items;
        descriptors::check_count(path, Counted::ItemNames, collection.names.len(), names.len())?;
        collection.names = names;
    }
    Ok(collection)
}

/// A label for every item, where there are labels.
fn labels(args: &EncodeArgs, collection: &Collection) -> Result<Option<Vec<String>>> {
    match &args.labels {
        Some(path) if path.as_os_str() == "none" => Ok(None),
        Some(path) => {
            let labels = text::read_list(path)?.items;
            descriptors::check_count(path, Counted::ItemLabels, collection.names.len(), labels.len())?;
            Ok(Some(labels))
        }
        None => match &collection.folders {
            None => Ok(None),
            Some(folders) => {
                if let Some(item) = folders.iter().position(Option::is_none)
                    && folders.iter().any(Option::is_some)
                {
                    bail!(
                        "`{}`: lies next to subfolders, so that its label is not known: move it into one, or add \
                         --labels none",
                        args.descriptors.join(&collection.names[item]).display()
                    );
                }
                Ok(folders.iter().cloned().collect())
            }
        },
    }
}

/// The settings that were typed; the others have the defaults of the method.
fn settings(args: &EncodeArgs) -> Settings {
    let usual = Settings::new(args.method.into());
    let typed = &args.learning;
    Settings {
        method: usual.method,
        pca: typed.pca.unwrap_or(usual.pca),
        components: typed.components.unwrap_or(usual.components),
        sample: typed.sample.unwrap_or(usual.sample),
        iterations: typed.iterations.unwrap_or(usual.iterations),
        tolerance: typed.tolerance.unwrap_or(usual.tolerance),
        variance_floor: typed.variance_floor.unwrap_or(usual.variance_floor),
        power: typed.power.unwrap_or(usual.power),
        normalize: typed.normalize.map_or(usual.normalize, Into::into),
        seed: typed.seed.unwrap_or(usual.seed),
    }
}

fn open_encoder(path: &Path) -> Result<Encoder> {
    let bytes = crate::input::bytes(path)?;
    Encoder::from_bytes(&bytes).with_context(|| format!("`{}`", path.display()))
}
