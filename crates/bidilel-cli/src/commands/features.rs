//! The feature files of `predict` and `embed`, one a view, read side by side from one end to the other.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use bidilel::dataset::Rows;
use bidilel::visual::{View, Views};
use bidilel_data::table::{self, Choice, Columns, Features, Ids, Wanted};
use bidilel_math::Observer;

use super::beside;
use crate::args::InputArgs;
use crate::input;

/// Bytes of a mapped file to read before it is mapped anew.
const REMAP: usize = 64 << 20;

/// An array for every view, in the model's order.
pub(super) struct Sources {
    views: Vec<Source>,
    ids: Option<Ids>,
}

impl Sources {
    /// Opens the features and checks them against what the model was fitted to.
    pub(super) fn open(args: &InputArgs, views: &Views, watch: &dyn Observer) -> Result<Self> {
        let paths = paths(&args.features, views)?;
        let (mut sources, mut ids): (Vec<Source>, Option<Ids>) = (Vec::new(), None);
        for (view, path) in views.parts.iter().zip(paths) {
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
            let asked = Asked { path, key, transpose: args.transpose, choice, view: view.clone() };
            let (source, found) = Source::open(asked, ids.as_ref(), watch)?;
            ids = ids.or(found).or_else(|| beside::ids(&source.asked.path, source.rows.count(), watch));
            sources.push(source);
        }
        let views = sources;
        let first = &views[0];
        if let Some(other) = views.iter().find(|other| other.rows.count() != first.rows.count()) {
            bail!(
                "{} has {} rows, but {} has {}: every view needs a row for every instance",
                other.origin,
                other.rows.count(),
                first.origin,
                first.rows.count()
            );
        }
        Ok(Self { views, ids })
    }

    /// What identifies the instances, where a file says so.
    pub(super) fn take_ids(&mut self) -> Option<Ids> {
        self.ids.take()
    }

    /// How many instances there are.
    pub(super) fn count(&self) -> usize {
        self.views[0].rows.count()
    }

    /// The rows of every view with its name, for the next block.
    pub(super) fn rows_for(&mut self, block: &Range<usize>) -> Result<Vec<(&dyn Rows, &str)>> {
        self.views.iter_mut().map(|source| source.rows_for(block)).collect()
    }
}

/// A file for every view, in the model's order.
fn paths(typed: &[String], views: &Views) -> Result<Vec<PathBuf>> {
    let names: Vec<&str> = views.parts.iter().map(|view| view.name.as_str()).collect();
    let split = |text: &String| {
        let (name, path) = text.split_once('=')?;
        names.iter().position(|&other| other == name).map(|place| (place, PathBuf::from(path)))
    };
    let listed = names.join(", ");
    if let Some((name, text)) = typed.iter().find_map(|text| {
        let (name, _) = text.split_once('=')?;
        let foreign = split(text).is_none() && !name.contains(['/', '.']) && !Path::new(text).exists();
        foreign.then_some((name, text))
    }) {
        bail!("`{text}`: the model has no view `{name}`, but {listed}");
    }
    let named: Vec<(usize, PathBuf)> = typed.iter().filter_map(split).collect();
    if named.is_empty() {
        if typed.len() != names.len() {
            bail!(
                "expected {} feature files, one for each view ({listed}), found {}",
                names.len(),
                typed.len()
            );
        }
        return Ok(typed.iter().map(PathBuf::from).collect());
    }
    if named.len() < typed.len() {
        bail!("name every feature file, as in {}=FILE, or none of them", names[0]);
    }
    let find = |place: usize| {
        let mut own = named.iter().filter(|(other, _)| *other == place);
        match (own.next(), own.next()) {
            (Some((_, path)), None) => Ok(path.clone()),
            (None, _) => bail!("no features for view `{0}`: add {0}=FILE", names[place]),
            (Some(_), Some(_)) => bail!("features for view `{}` are given twice", names[place]),
        }
    };
    (0..names.len()).map(find).collect()
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

/// What was asked for of one view.
struct Asked {
    path: PathBuf,
    key: Option<String>,
    transpose: bool,
    choice: Choice,
    view: View,
}

/// The features of one view.
struct Source {
    asked: Asked,
    origin: String,
    rows: Features,
    /// Bytes that were read since the file was opened.
    read: usize,
}

impl Source {
    fn open(asked: Asked, ids: Option<&Ids>, watch: &dyn Observer) -> Result<(Self, Option<Ids>)> {
        let Asked { path, key, transpose, choice, view } = &asked;
        let names = view.columns.as_deref();
        let wanted = Wanted { key: key.as_deref(), transpose: *transpose, names, ids };
        let read = if input::is_stdin(path) {
            table::from_bytes(Path::new(input::STDIN), Arc::new(input::bytes(path)?), choice, wanted)?
        } else {
            table::open(path, choice, wanted)?
        };
        let origin =
            if input::is_stdin(path) { input::STDIN.to_owned() } else { format!("`{}`", path.display()) };
        let (rows, dim) = (read.features, view.dim);
        let found = rows.dim();
        if dim != found {
            let transposed = rows.count() == dim && rows.array.dimensions() == 2 && !transpose;
            let hint =
                if transposed { "; its columns fit: try --transpose".to_owned() } else { String::new() };
            let notes = match &read.notes[..] {
                [] => String::new(),
                notes => format!("; {}: choose with --columns", notes.join("; ")),
            };
            bail!(
                "{origin}: feature rows do not match the model: expected {dim} dimensions, found {found}{hint}{notes}"
            );
        }
        read.notes.iter().for_each(|note| watch.note(&format!("{origin}: {note}")));
        Ok((Self { asked, origin, rows, read: 0 }, read.ids))
    }

    /// The rows, for the next block.
    ///
    /// Pages that were read stay with a mapping for as long as it lives, so a large mapped file is now and then
    /// mapped anew, and memory stays small whatever the file's size. A thread of the pool gives the old pages back, while
    /// the others go on.
    fn rows_for(&mut self, block: &Range<usize>) -> Result<(&dyn Rows, &str)> {
        let Asked { path, key, transpose, choice, .. } = &self.asked;
        let file = fs::metadata(path);
        let mapped = file.is_ok_and(|file| file.len() == self.rows.array.backing_len() as u64);
        if mapped && self.read > REMAP {
            let wanted = Wanted { key: key.as_deref(), transpose: *transpose, ..Wanted::default() };
            let anew = table::open(path, choice, wanted)?.features;
            if (anew.count(), anew.dim()) != (self.rows.count(), self.rows.dim()) {
                bail!("{}: the file changed while it was read", self.origin);
            }
            let old = std::mem::replace(&mut self.rows, anew);
            rayon::spawn(move || drop(old));
            self.read = 0;
        }
        self.read += block.len() * self.rows.dim() * self.rows.array.element().size();
        Ok((&self.rows, &self.origin))
    }
}
