//! The feature files of `predict`, one a view, read side by side from one end to the other.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use bidilel::dataset::Rows;
use bidilel::visual::{View, Views};
use bidilel_data::array::{self, Array};

use crate::args::PredictArgs;
use crate::input;

/// Bytes of a mapped file to read before it is mapped anew.
const REMAP: usize = 64 << 20;

/// An array for every view, in the model's order.
pub(super) struct Sources {
    views: Vec<Source>,
}

impl Sources {
    /// Opens the features and checks them against what the model was fitted to.
    pub(super) fn open(args: &PredictArgs, views: &Views) -> Result<Self> {
        let paths = paths(&args.features, views)?;
        let open = |(view, path): (&View, PathBuf)| {
            let key = key(&args.key, view, views)?;
            Source::open(path, key, args.transpose, view.dim)
        };
        let views = views.parts.iter().zip(paths).map(open).collect::<Result<Vec<_>>>()?;
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
        Ok(Self { views })
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

/// The key for a view: its own, or the one for all.
fn key(keys: &[String], view: &View, views: &Views) -> Result<Option<String>> {
    let split = |text: &String| {
        let (name, key) = text.split_once('=')?;
        views.parts.iter().any(|view| view.name == name).then(|| (name.to_owned(), key.to_owned()))
    };
    let own = keys.iter().filter_map(split).find(|(name, _)| *name == view.name);
    let mut plain = keys.iter().filter(|text| split(text).is_none());
    match (own, plain.next(), plain.next()) {
        (_, _, Some(_)) => bail!("--key is given twice: write VIEW=KEY for one of several files"),
        (Some((_, key)), ..) => Ok(Some(key)),
        (None, key, None) => Ok(key.cloned()),
    }
}

/// The features of one view.
struct Source {
    path: PathBuf,
    key: Option<String>,
    transpose: bool,
    dim: usize,
    origin: String,
    rows: Array,
    /// Bytes that were read since the file was opened.
    read: usize,
}

impl Source {
    fn open(path: PathBuf, key: Option<String>, transpose: bool, dim: usize) -> Result<Self> {
        let rows = if input::is_stdin(&path) {
            array::from_bytes(Path::new(input::STDIN), Arc::new(input::bytes(&path)?), key.as_deref())?
        } else {
            array::open(&path, key.as_deref())?
        };
        let rows = if transpose { rows.transposed() } else { rows };
        let found = rows.dim();
        if dim != found {
            let transposed = rows.count() == dim && rows.dimensions() == 2 && !transpose;
            let hint = if transposed { "; its columns fit: try --transpose" } else { "" };
            bail!(
                "`{}`: feature rows do not match the model: expected {dim} dimensions, found {found}{hint}",
                path.display()
            );
        }
        let origin = format!("`{}`", path.display());
        Ok(Self { path, key, transpose, dim, origin, rows, read: 0 })
    }

    /// The rows, for the next block.
    ///
    /// Pages that were read stay with a mapping for as long as it lives, so a large mapped file is now and then
    /// mapped anew, and memory stays small whatever the file's size. A thread of the pool gives the old pages back, while
    /// the others go on.
    fn rows_for(&mut self, block: &Range<usize>) -> Result<(&dyn Rows, &str)> {
        let file = fs::metadata(&self.path);
        let mapped = file.is_ok_and(|file| file.len() == self.rows.backing_len() as u64);
        if mapped && self.read > REMAP {
            let count = self.rows.count();
            let anew = Self::open(self.path.clone(), self.key.clone(), self.transpose, self.dim)?;
            let old = std::mem::replace(self, anew);
            rayon::spawn(move || drop(old));
            if self.rows.count() != count {
                bail!("{}: the file changed while it was read", self.origin);
            }
        }
        self.read += block.len() * self.dim * self.rows.element().size();
        Ok((&self.rows, &self.origin))
    }
}
