//! What one number of a table is measured on: what its row and its column say, put together.

use bidilel::reproduce::Search;
use serde_json::{Map, Value};

use crate::experiment::{Experiment, Line, Part, Show};

/// Which views a cell uses.
#[derive(Debug, Clone, PartialEq)]
pub enum Views {
    /// These.
    Named,
    /// The first so many of those that are selected from some.
    First(usize),
}

/// One number of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The dataset, by its name in the catalog.
    pub dataset: String,
    /// The split, by its name in the catalog; the dataset's first if there is none.
    pub split: Option<String>,
    /// Visual representations, by their names in the catalog.
    pub visual: Vec<String>,
    /// Whether these are all used.
    pub views: Views,
    /// Semantic representations, by their names in the catalog.
    pub semantic: Vec<String>,
    /// Settings over those that the search chooses.
    pub settings: Map<String, Value>,
    /// How the others are chosen.
    pub search: Search,
    /// Random starts.
    pub starts: u16,
    /// What is shown.
    pub show: Show,
}

impl Experiment {
    /// The cell of a row and a column; none where the table has none there.
    pub fn cell(&self, row: &Line, column: &Line) -> Option<Cell> {
        if row.only.as_ref().is_some_and(|only| !only.contains(&column.id)) {
            return None;
        }
        let both = |of: fn(&Part) -> Option<&String>| of(&row.part).or(of(&column.part)).cloned();
        let list = |of: fn(&Part) -> Option<&Vec<String>>| of(&row.part).or(of(&column.part)).cloned();
        let dataset = both(|part| part.dataset.as_ref())?;
        let semantic = list(|part| part.semantic.as_ref())?;
        let first = row.part.first.or(column.part.first);
        let (visual, views) = match (first, &self.select) {
            (Some(first), Some(select)) => (select.candidates.clone(), Views::First(first)),
            _ => (list(|part| part.visual.as_ref())?, Views::Named),
        };
        let fused = || {
            row.part
                .search_fused
                .as_ref()
                .or(column.part.search_fused.as_ref())
                .filter(|_| semantic.len() > 1)
        };
        let named = || row.part.search.as_ref().or(column.part.search.as_ref()).or(self.search.as_ref());
        let search = fused().or_else(named).and_then(|name| self.searches.get(name)).cloned();
        let mut settings = self.settings.clone();
        settings.extend(column.part.settings.clone());
        settings.extend(row.part.settings.clone());
        let show =
            [&row.part, &column.part].iter().find_map(|part| part.show.clone()).unwrap_or(Show::Accuracy);
        Some(Cell {
            dataset,
            split: both(|part| part.split.as_ref()),
            visual,
            views,
            semantic,
            settings,
            search: search.unwrap_or_else(|| Search::grid(&[])),
            starts: row.part.starts.or(column.part.starts).unwrap_or(self.starts),
            show,
        })
    }
}
