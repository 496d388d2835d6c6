//! Blocks of a file become rows and columns: one for every combination of their lists, with labels and a name.

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::experiment::{Line, Part, Show};
use crate::form::Block;
use crate::reader::Reader;
use bidilel::settings::setting;

impl Reader<'_> {
    pub(crate) fn lines(
        &self,
        blocks: &[toml::Spanned<Block>],
        labels: &[String],
        datasets: &Catalog,
        columns: Option<&[Line]>,
    ) -> Result<Vec<Line>> {
        let mut lines: Vec<Line> = Vec::new();
        for block in blocks {
            let (span, block) = (block.span(), block.get_ref());
            for part in self.parts(block)? {
                let label = |name: &String| self.label(name, block, &part, datasets);
                let found: Option<Vec<String>> = labels.iter().map(label).collect();
                let labels = found.ok_or_else(|| {
                    let problem = format!("it must have what labels it: {}", labels.join(", "));
                    Error::at(self.text, &span, problem)
                })?;
                let id = id_of(block, &part);
                if lines.iter().any(|other| other.id == id) {
                    let problem = format!("`{id}` is there twice: give one of them another `id`");
                    return Err(Error::at(self.text, &span, problem));
                }
                let only = block.only.as_ref().map(|only| {
                    let known: Vec<&str> =
                        columns.unwrap_or_default().iter().map(|column| &column.id[..]).collect();
                    only.iter().map(|word| self.one_of(word, &known, "`only`")).collect::<Result<Vec<_>>>()
                });
                lines.push(Line {
                    id,
                    labels,
                    group: block.group.clone(),
                    extra: block.extra,
                    only: only.transpose()?,
                    part,
                });
            }
        }
        match (lines.is_empty(), columns) {
            (false, _) => Ok(lines),
            (true, Some(_)) => Err(Error::at(self.text, &(0..0), "there are no [[rows]]")),
            (true, None) => Err(Error::at(self.text, &(0..0), "there are no [[columns]]")),
        }
    }

    /// One part for every combination of what a block lists.
    fn parts(&self, block: &Block) -> Result<Vec<Part>> {
        let show = match &block.show {
            None => None,
            Some(word) if word.get_ref() == "accuracy" => Some(Show::Accuracy),
            Some(word) => {
                let name = word.get_ref().replace('-', "_");
                if setting(&name).is_none() {
                    let problem = format!("`show` must be accuracy or a setting, found `{}`", word.get_ref());
                    return Err(Error::at(self.text, &word.span(), problem));
                }
                Some(Show::Setting(name))
            }
        };
        let base = Part {
            settings: self.settings(&block.settings)?,
            search: self.search_name(block.search.as_ref())?,
            search_fused: self.search_name(block.search_fused.as_ref())?,
            starts: block.starts,
            show,
            first: block.first,
            ..Part::default()
        };
        let fused = |text: Option<&str>| text.map(|text| text.split('+').map(str::to_owned).collect());
        let mut parts = Vec::new();
        for dataset in block.dataset.alternatives() {
            for visual in block.visual.alternatives() {
                for semantic in block.semantic.alternatives() {
                    let (dataset, split) = match dataset.map(|name| name.split_once(':').ok_or(name)) {
                        None => (None, None),
                        Some(Ok((dataset, split))) => (Some(dataset.to_owned()), Some(split.to_owned())),
                        Some(Err(dataset)) => (Some(dataset.to_owned()), None),
                    };
                    parts.push(Part {
                        dataset,
                        split,
                        visual: fused(visual),
                        semantic: fused(semantic),
                        ..base.clone()
                    });
                }
            }
        }
        Ok(parts)
    }

    /// The label of a line: what it is called, or what it says of its cells in the words of the catalog.
    fn label(&self, by: &str, block: &Block, part: &Part, datasets: &Catalog) -> Option<String> {
        let of = |names: &Option<Vec<String>>, title: &dyn Fn(&str) -> Option<String>| -> Option<String> {
            let names = names.as_ref()?;
            let own = self.form.names.get(&names.join("+")).cloned();
            let each = names.iter().map(|name| title(name).unwrap_or_else(|| name.clone()));
            Some(own.unwrap_or_else(|| each.collect::<Vec<_>>().join("+")))
        };
        // Representations of columns may be those of datasets that only rows name: any dataset's label will do.
        let source = || part.dataset.iter().filter_map(|name| datasets.get(name)).chain(datasets.values());
        match by {
            "label" => block.label.clone(),
            "group" => block.group.clone(),
            "dataset" => {
                let name = part.dataset.as_ref()?;
                let source = datasets.get(name);
                let split = part.split.as_ref().and_then(|split| source?.splits.get(split)?.title.clone());
                Some(split.or_else(|| source?.title.clone()).unwrap_or_else(|| name.clone()))
            }
            "visual" => {
                of(&part.visual, &|name| source().find_map(|source| source.visual.get(name)?.title.clone()))
            }
            _ => of(&part.semantic, &|name| {
                source().find_map(|source| source.semantic.get(name)?.title.clone())
            }),
        }
    }
}

/// How many lines a block stands for.
pub(crate) fn alternatives(block: &Block) -> usize {
    [&block.dataset, &block.visual, &block.semantic].iter().map(|list| list.alternatives().len()).product()
}

/// The name of a line: what it is called, and what it says of its cells.
fn id_of(block: &Block, part: &Part) -> String {
    let dataset = part
        .dataset
        .as_ref()
        .map(|name| part.split.as_ref().map_or(name.clone(), |split| format!("{name}:{split}")));
    let lists = [&part.visual, &part.semantic].map(|list| list.as_ref().map(|names| names.join("+")));
    let called = block.id.clone().or_else(|| block.label.clone());
    let [visual, semantic] = lists;
    [called, dataset, visual, semantic].into_iter().flatten().collect::<Vec<_>>().join("/")
}
