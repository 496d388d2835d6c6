//! Names of an experiment in a dataset: representations, splits, and the generator's settings for a stand-in.

use bidilel::dataset::Dataset;
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
    let sized = source.visual.iter().filter_map(|(name, view)| Some((name, view.names.first(), view.dim?)));
    let mut views: Vec<View> =
        sized.map(|(id, name, dim)| View { name: name.unwrap_or(id).clone(), dim: smaller(dim) }).collect();
    if views.is_empty() {
        views.clone_from(&base.views);
    }
    // Every view has some factors of its own.
    let factors = base.factors.max(4 * views.len());
    Ok((Synthetic { scale, views, factors, ..base }, format!("synthetic:{preset} at {scale}")))
}

/// The name that a representation has, and whether that of a substitute was taken.
pub(super) fn found(
    wanted: &Representation,
    names: &[&str],
    id: &str,
    substitutes: &mut Vec<String>,
) -> Option<String> {
    if let Some(name) = wanted.names.iter().find(|name| names.contains(&&name[..])) {
        return Some(name.clone());
    }
    let other = wanted.substitutes.iter().find(|name| names.contains(&&name[..]))?;
    let title = wanted.title.clone().unwrap_or_else(|| id.to_owned());
    substitutes.push(format!("`{other}` stands for {title}"));
    Some(other.clone())
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
    pub(super) fn visual(&self, there: &[&str]) -> Vec<MissingData> {
        let all = self.cell.visual.iter().map(|name| (name, self.source.visual(name)));
        self.absent("visual", all, there)
    }

    /// The same of semantic ones.
    pub(super) fn semantic(&self, there: &[&str]) -> Vec<MissingData> {
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
        let SplitSource { title, names, draw, get } = self.source.split(name);
        let wanted = Representation { title, names, get, ..Representation::default() };
        draw.is_none().then(|| self.missing("split", "split", name, &wanted))
    }

    fn absent<'n>(
        &self,
        kind: &str,
        all: impl Iterator<Item = (&'n String, Representation)>,
        there: &[&str],
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
}

impl Division {
    /// The dataset's first split.
    pub(super) fn first(dataset: &Dataset) -> Result<Self, Absent> {
        let found = SplitChoice::First.trials(dataset)?;
        Ok(Self { name: found.split.clone(), described: found.split, trials: found.trials })
    }

    /// The split of an experiment: the dataset's of one of its names, or drawn; none where there is neither.
    pub(super) fn named(
        dataset: &Dataset,
        wanted: &SplitSource,
        id: &str,
        seed: u64,
    ) -> Result<Option<Self>, Absent> {
        let is_there = |name: &&String| dataset.splits.iter().any(|split| split.name == **name);
        let (described, trials) = match (wanted.names.iter().find(is_there), wanted.draw) {
            (Some(name), _) => {
                let found = SplitChoice::Named(name.clone()).trials(dataset)?;
                let count = found.trials.len();
                let trials = if count == 1 { "trial" } else { "trials" };
                (format!("{name} of the dataset, {count} {trials}"), found.trials)
            }
            (None, Some(draw)) => {
                let unseen = Some(UnseenClasses::Count(draw.unseen));
                let drawn = RandomSplits { count: draw.trials, unseen, seed };
                let found = SplitChoice::Random(drawn).trials(dataset)?;
                let how = found.drawn.map_or(String::new(), |drawn| drawn.to_string());
                (format!("{id}, {how}"), found.trials)
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(Self { name: id.to_owned(), described, trials }))
    }
}
