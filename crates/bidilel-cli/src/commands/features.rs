//! The feature files of `predict` and `embed`, read in blocks from one end to the other.

use std::ops::Range;

use anyhow::{Result, bail};
use bidilel::visual::{View, Views};
use bidilel_data::table::{Choice, Columns, Ids};
use bidilel_math::Observer;

use super::block::Part;
use super::feature_files::{Request, Source};
use super::shards::paths;
use crate::args::InputArgs;

/// Most rows per block.
const BLOCK_ROWS: usize = 16_384;
/// Most bytes of a block that are decoded into memory.
const DECODED_BYTES: usize = 32 << 20;

/// Files for every view, in the model's order.
pub(super) struct Sources {
    views: Vec<Source>,
    ids: Option<Ids>,
}

impl Sources {
    /// Opens the features and checks them against what the model was fitted to.
    pub(super) fn open(args: &InputArgs, views: &Views, watch: &dyn Observer) -> Result<Self> {
        let paths = paths(&args.features, views)?;
        let (mut sources, mut ids): (Vec<Source>, Option<Ids>) = (Vec::new(), None);
        for (view, paths) in views.parts.iter().zip(paths) {
            let key = own(&args.key, view, views);
            if key.len() > 1 {
                bail!("--key is given twice: write VIEW=KEY for one of several files");
            }
            let columns = own(&args.columns, view, views);
            let columns: Vec<String> =
                columns.iter().flat_map(|text| text.split(',')).map(|name| name.trim().to_owned()).collect();
            let choice = Choice {
                columns: (!columns.is_empty()).then_some(Columns(columns)),
                name_column: None,
                label_column: args.label_column.clone(),
                id_column: args.id_column.clone(),
            };
            let key = key.into_iter().next();
            let request = Request { key, transpose: args.transpose, choice, view: view.clone() };
            let (source, found) = Source::open(request, paths, ids.as_ref(), watch)?;
            ids = ids.or(found);
            sources.push(source);
        }
        let first = &sources[0];
        if let Some(other) = sources.iter().find(|other| other.count() != first.count()) {
            bail!(
                "{} has {} rows, but {} has {}: every view needs a row for every instance",
                other.origin(),
                other.count(),
                first.origin(),
                first.count()
            );
        }
        Ok(Self { views: sources, ids })
    }

    /// What identifies the instances, where a file says so.
    pub(super) fn take_ids(&mut self) -> Option<Ids> {
        self.ids.take()
    }

    /// How many instances there are.
    pub(super) fn count(&self) -> usize {
        self.views[0].count()
    }

    /// The blocks to read, in order: each lies within one file of every view.
    pub(super) fn blocks(&self) -> Vec<Range<usize>> {
        let bytes: usize = self.views.iter().map(Source::decoded_bytes).sum();
        let rows = DECODED_BYTES.checked_div(bytes).map_or(BLOCK_ROWS, |rows| rows.clamp(64, BLOCK_ROWS));
        let mut ends: Vec<usize> = self.views.iter().flat_map(Source::ends).collect();
        ends.sort_unstable();
        ends.dedup();
        let (mut blocks, mut start) = (Vec::new(), 0);
        for end in ends {
            while start < end {
                let next = end.min(start + rows);
                blocks.push(start..next);
                start = next;
            }
        }
        blocks
    }

    /// The rows of every view, for the next block.
    pub(super) fn parts(&mut self, block: &Range<usize>) -> Result<Vec<Part<'_>>> {
        self.views.iter_mut().map(|source| source.part(block)).collect()
    }
}

/// What an option says for a view: what is for it alone (`VIEW=...`), else what is for all.
fn own(typed: &[String], view: &View, views: &Views) -> Vec<String> {
    let split = |text: &String| {
        let (name, value) = text.split_once('=')?;
        views.parts.iter().any(|view| view.name == name).then(|| (name.to_owned(), value.to_owned()))
    };
    let own: Vec<String> = typed
        .iter()
        .filter_map(split)
        .filter(|(name, _)| *name == view.name)
        .map(|(_, value)| value)
        .collect();
    if own.is_empty() { typed.iter().filter(|text| split(text).is_none()).cloned().collect() } else { own }
}
