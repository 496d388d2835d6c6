//! Names of an experiment in a dataset: representations, splits, and the generator's settings for a stand-in.

use bidilel::dataset::{Dataset, Metric, Semantic, Visual};
use bidilel::split::{RandomSplits, SplitChoice, Trial, UnseenClasses};
use bidilel::synthetic::{Synthetic, View};
use bidilel_experiments::{Cell, DataSource, Representation, SplitSource};
use bidilel_report::MissingData;

use super::data::Absent;

/// The smallest number of features that a stand-in has.
const LEAST_FEATURES: usize = 16;

/// The generator's settings for a dataset: its sizes at a scale, with every view that has a size.
pub(super) fn stand_in(source: &DataSource, scale: f64) -> bidilel::Result<(Synthetic, String)> {
    let preset = source.stand_in.as_deref().unwrap_or("small");
    let base = Synthetic::preset(preset)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let smaller = |dim: usize| ((dim as f64 * scale) as usize).max(LEAST_FEATURES.min(dim));
    let size = |view: &Representation| view.dim.or(view.stand_in_dim);
    let sized = source.visual.iter().filter_map(|(name, view)| Some((name, view.names.first(), size(view)?)));
    let mut views: Vec<View> =
        sized.map(|(id, name, dim)| View { name: name.unwrap_or(id).clone(), dim: smaller(dim) }).collect();
    if views.is_empty() {
        views.clone_from(&base.views);
    }
    // Every view has some factors of its own.
    let factors = base.factors.max(4 * views.len());
    Ok((Synthetic { scale, views, factors, ..base }, format!("synthetic:{preset} at {scale}")))
}

/// A representation that a dataset has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offered<'a> {
    pub(super) name: &'a str,
    /// Its features, where their number can be compared with the published one.
    pub(super) dim: Option<usize>,
}

impl<'a> Offered<'a> {
    pub(super) fn visual(view: &'a Visual) -> Self {
        Self { name: &view.name, dim: Some(view.rows.dim()) }
    }

    /// Of distances it is not known how many features they were computed from.
    pub(super) fn semantic(one: &'a Semantic) -> Self {
        let dim = Some(one.vectors.nrows()).filter(|_| one.metric != Metric::Precomputed);
        Self { name: &one.name, dim }
    }
}

/// The name that a representation has, with a remark where something else than the published one has that name.
pub(super) fn found(
    wanted: &Representation,
    offered: &[Offered<'_>],
    id: &str,
    substitutes: &mut Vec<String>,
) -> Option<String> {
    let first = |names: &[String]| {
        names.iter().find_map(|name| offered.iter().find(|offer| offer.name == name)).copied()
    };
    let title = wanted.title.as_deref().unwrap_or(id);
    if let Some(Offered { name, dim }) = first(&wanted.names) {
        if let (Some(dim), Some(published)) = (dim, wanted.dim)
            && dim != published
        {
            let (dim, published) = (thousands(dim), thousands(published));
            substitutes.push(format!("`{name}` has {dim} features, the published {title} {published}"));
        }
        return Some(name.to_owned());
    }
    let other = first(&wanted.substitutes)?.name;
    substitutes.push(format!("`{other}` stands for {title}"));
    Some(other.to_owned())
}

/// A number with commas between its thousands.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}

/// What a cell needs of a dataset, for those who have to get it.
pub(super) struct Needed<'a> {
    /// The dataset's label.
    pub(super) title: &'a str,
    /// The folder that it is looked for in.
    pub(super) place: &'a str,
    pub(super) cell: &'a Cell,
    pub(super) source: &'a DataSource,
}

impl Needed<'_> {
    /// Visual representations that are not among these.
    pub(super) fn visual(&self, there: &[Offered<'_>]) -> Vec<MissingData> {
        let all = self.cell.visual.iter().map(|name| (name, self.source.visual(name)));
        self.absent("visual", all, there)
    }

    /// The same of semantic ones.
    pub(super) fn semantic(&self, there: &[Offered<'_>]) -> Vec<MissingData> {
        let all = self.cell.semantic.iter().map(|name| (name, self.source.semantic(name)));
        self.absent("semantic", all, there)
    }

    /// The name of the split: the cell's, or the first of the dataset.
    pub(super) fn split_name(&self) -> Option<&String> {
        self.cell.split.as_ref().or_else(|| self.source.splits.keys().next())
    }

    /// The split, where it cannot be drawn.
    pub(super) fn split(&self) -> Option<MissingData> {
        let name = self.split_name()?;
        self.source.split(name).draw.is_none().then(|| self.missing_split(name))
    }

    fn missing_split(&self, name: &str) -> MissingData {
        let SplitSource { title, names, get, .. } = self.source.split(name);
        let wanted = Representation { title, names, get, ..Representation::default() };
        self.missing("split", "split", name, &wanted)
    }

    /// Where divisions are others than those that the experiment would have: which they are, and what to get.
    pub(super) fn other_divisions(&self, division: &Division) -> Option<String> {
        let SplitSource { title, draw, get, .. } = self.source.split(&division.name);
        let (wanted, count) = (draw?, division.trials.len());
        let title = title.unwrap_or_else(|| format!("{} ({})", self.title, division.name));
        match division.drawn {
            Some(seed) => {
                let put = self.missing_split(&division.name).put;
                let instead = get.map_or(String::new(), |get| {
                    format!(", not those that the experiment asks for: get {get}, and put them into {put}")
                });
                Some(format!("{title}: {} drawn with seed {seed}{instead}", counted(count, "division")))
            }
            None if count != wanted.trials => {
                let there = counted(count, "division");
                Some(format!("{title}: the dataset has {there}, the experiment asks for {}", wanted.trials))
            }
            None => None,
        }
    }

    fn absent<'n>(
        &self,
        kind: &str,
        all: impl Iterator<Item = (&'n String, Representation)>,
        there: &[Offered<'_>],
    ) -> Vec<MissingData> {
        let absent = all.filter(|(name, wanted)| found(wanted, there, name, &mut Vec::new()).is_none());
        let what = format!("{kind} representation");
        absent.map(|(name, wanted)| self.missing(kind, &what, name, &wanted)).collect()
    }

    fn missing(&self, kind: &str, what: &str, name: &str, wanted: &Representation) -> MissingData {
        let title = wanted.title.as_deref().unwrap_or(name);
        let key = wanted.names.first().map_or(name, String::as_str);
        MissingData {
            what: format!("{}, {what} {title}", self.title),
            get: wanted.get.clone().unwrap_or_else(|| format!("the {what} `{name}`")),
            put: format!("{}, as [{kind}.{key}] of its dataset.toml", self.place),
        }
    }
}

/// The trials of a split, with its name in the experiment and where they are from.
pub(super) struct Division {
    pub(super) name: String,
    pub(super) described: String,
    pub(super) trials: Vec<Trial>,
    /// The seed that they were drawn with, if they were.
    pub(super) drawn: Option<u64>,
}

impl Division {
    /// The dataset's first split.
    pub(super) fn first(dataset: &Dataset) -> Result<Self, Absent> {
        let found = SplitChoice::First.trials(dataset)?;
        Ok(Self { name: found.split.clone(), described: found.split, trials: found.trials, drawn: None })
    }

    /// The split of an experiment: the dataset's of one of its names, or drawn; none where there is neither.
    pub(super) fn named(
        dataset: &Dataset,
        wanted: &SplitSource,
        id: &str,
        seed: u64,
    ) -> Result<Option<Self>, Absent> {
        let is_there = |name: &&String| dataset.splits.iter().any(|split| split.name == **name);
        let (described, trials, drawn) = match (wanted.names.iter().find(is_there), wanted.draw) {
            (Some(name), _) => {
                let found = SplitChoice::Named(name.clone()).trials(dataset)?;
                let trials = counted(found.trials.len(), "trial");
                (format!("{name} of the dataset, {trials}"), found.trials, None)
            }
            (None, Some(draw)) => {
                let unseen = Some(UnseenClasses::Count(draw.unseen));
                let drawn = RandomSplits { count: draw.trials, unseen, seed };
                let found = SplitChoice::Random(drawn).trials(dataset)?;
                let how = found.drawn.map_or(String::new(), |drawn| drawn.to_string());
                (format!("{id}, {how}"), found.trials, Some(seed))
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(Self { name: id.to_owned(), described, trials, drawn }))
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
