//! From the form of a file to an experiment: names are looked up, settings are checked.

use std::collections::BTreeMap;
use std::ops::Range;

use bidilel::reproduce::{Order, Search};
use bidilel::settings::{Settings, setting};
use bidilel::tune::Axis;
use serde_json::{Map, Value};

use crate::blocks::alternatives;
use crate::catalog;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Line};
use crate::form::{Form, OrderForm, SearchForm, Word, Written};
use crate::published::{self, PublishedTable};

/// What a row or a column may be labeled by.
const LABELS: [&str; 5] = ["dataset", "visual", "semantic", "label", "group"];

pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) form: &'a Form,
}

impl Reader<'_> {
    pub(crate) fn experiment(&self) -> Result<Experiment> {
        let form = self.form;
        let labels = |words: &[Word]| {
            words.iter().map(|word| self.one_of(word, &LABELS, "labels")).collect::<Result<Vec<_>>>()
        };
        let (stub, head) = (labels(&form.stub)?, labels(&form.head)?);
        let searches: Result<BTreeMap<String, Search>> = form
            .searches
            .iter()
            .map(|(name, one)| Ok((name.get_ref().clone(), self.search(one, 0)?)))
            .collect();
        let mut datasets = catalog::PAPER.clone();
        for (name, source) in &form.datasets {
            let known = datasets.remove(name).unwrap_or_default();
            datasets.insert(name.clone(), known.overruled_by(source));
        }
        let columns = self.lines(&form.columns, &head, &datasets, None)?;
        let rows = self.lines(&form.rows, &stub, &datasets, Some(&columns))?;
        let numbers = self.numbers()?;
        let experiment = Experiment {
            title: form.title.clone(),
            paper: form.paper.as_ref().map(|name| labels_of(name.get_ref(), numbers.as_ref())),
            notes: form.notes.clone(),
            numbers,
            spread: form.spread,
            best: form.best,
            curves: form.curves.clone(),
            select: form.select.clone(),
            settings: self.settings(&form.settings)?,
            starts: form.starts.unwrap_or(1),
            search: self.search_name(form.search.as_ref())?,
            searches: searches?,
            stub,
            rows,
            columns,
            datasets,
        };
        self.check_cells(&experiment)?;
        Ok(experiment)
    }

    pub(crate) fn numbers(&self) -> Result<Option<PublishedTable>> {
        let Some(name) = &self.form.paper else { return Ok(self.form.published.clone()) };
        let tables: Vec<&str> = published::PAPER.keys().map(|name| &name[..]).collect();
        self.one_of(name, &tables, "`paper`").map(|name| published::PAPER.get(&name).cloned())
    }

    /// Every cell must know what it is measured on.
    pub(crate) fn check_cells(&self, experiment: &Experiment) -> Result<()> {
        let rows = self.form.rows.iter().map(|block| (block.span(), alternatives(block.get_ref())));
        let spans: Vec<Range<usize>> =
            rows.flat_map(|(span, count)| std::iter::repeat_n(span, count)).collect();
        for (row, span) in experiment.rows.iter().zip(spans) {
            for column in &experiment.columns {
                let expected = row.only.as_ref().is_none_or(|only| only.contains(&column.id));
                if expected && experiment.cell(row, column).is_none() {
                    let missing = ["dataset", "visual", "semantic"]
                        .into_iter()
                        .find(|part| !has(part, row, column, experiment));
                    let problem = format!(
                        "row `{}` and column `{}` say nothing of `{}`: one of them must",
                        row.id,
                        column.id,
                        missing.unwrap_or("dataset")
                    );
                    return Err(Error::at(self.text, &span, problem));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn search_name(&self, name: Option<&Word>) -> Result<Option<String>> {
        let known: Vec<&str> = self.form.searches.keys().map(|name| &name.get_ref()[..]).collect();
        name.map(|name| self.one_of(name, &known, "a search of [searches]")).transpose()
    }

    pub(crate) fn search(&self, form: &SearchForm, depth: usize) -> Result<Search> {
        let after = match &form.after {
            None => None,
            Some(name) => {
                let name = self.search_name(Some(name))?.unwrap_or_default();
                let span = form.after.as_ref().map_or(0..0, toml::Spanned::span);
                if depth > self.form.searches.len() {
                    return Err(Error::at(self.text, &span, format!("search `{name}` comes after itself")));
                }
                let found = self.form.searches.iter().find(|(other, _)| other.get_ref() == &name);
                found.map(|(_, form)| self.search(form, depth + 1).map(Box::new)).transpose()?
            }
        };
        let (axes, drawn) = (self.axes(&form.grid)?, self.axes(&form.drawn)?);
        for (name, one) in form.drawn.keys().zip(&drawn) {
            // Of a single value there is no curve.
            if !axes.iter().any(|axis| axis.name == one.name && axis.values.len() > 1) {
                let problem =
                    format!("`{}` is drawn beside values of `grid`, which has not even two", name.get_ref());
                return Err(Error::at(self.text, &name.span(), problem));
            }
        }
        let order = match form.order {
            OrderForm::Paper => Order::Paper,
            OrderForm::Grid => Order::Grid,
        };
        Ok(Search { after, settings: self.settings(&form.settings)?, order, axes, drawn })
    }

    /// Settings with lists of values.
    fn axes(&self, written: &Written) -> Result<Vec<Axis>> {
        let mut axes = Vec::new();
        for (name, value) in written {
            let values = match json(value.get_ref()) {
                Value::Array(values) if !values.is_empty() => values,
                other => {
                    let problem =
                        format!("`{}` must be a list of values to try, found {other}", name.get_ref());
                    return Err(Error::at(self.text, &value.span(), problem));
                }
            };
            let name = name.get_ref().replace('-', "_");
            for one in &values {
                self.checked(&name, one.clone(), &value.span())?;
            }
            axes.push(Axis { name, values });
        }
        Ok(axes)
    }

    /// Settings that exist, with values that they can have.
    pub(crate) fn settings(&self, written: &Written) -> Result<Map<String, Value>> {
        let mut settings = Map::new();
        for (name, value) in written {
            let key = name.get_ref().replace('-', "_");
            let span = if setting(&key).is_some() { value.span() } else { name.span() };
            settings.extend(self.checked(&key, json(value.get_ref()), &span)?);
        }
        Ok(settings)
    }

    pub(crate) fn checked(
        &self,
        name: &str,
        value: Value,
        span: &Range<usize>,
    ) -> Result<Map<String, Value>> {
        let one = Map::from_iter([(name.to_owned(), value)]);
        let wrong = |error: bidilel::Error| Error::at(self.text, span, format!("setting `{name}`: {error}"));
        let settings = Settings::default().with(&one).map_err(wrong)?;
        settings.check().map_err(wrong)?;
        Ok(one)
    }

    pub(crate) fn one_of(&self, word: &Word, known: &[&str], what: &str) -> Result<String> {
        if known.contains(&&word.get_ref()[..]) {
            return Ok(word.get_ref().clone());
        }
        let problem = format!("{what} must be one of {}, found `{}`", known.join(", "), word.get_ref());
        Err(Error::at(self.text, &word.span(), problem))
    }
}
fn has(what: &str, row: &Line, column: &Line, experiment: &Experiment) -> bool {
    [&row.part, &column.part].into_iter().any(|part| match what {
        "dataset" => part.dataset.is_some(),
        "visual" => part.visual.is_some() || part.first.is_some() && experiment.select.is_some(),
        _ => part.semantic.is_some(),
    })
}

/// Where a published table is printed.
fn labels_of(name: &str, numbers: Option<&PublishedTable>) -> String {
    let labels = numbers.map(|numbers| numbers.labels.join(", ")).unwrap_or_default();
    if labels.is_empty() { name.to_owned() } else { labels }
}

fn json(value: &toml::Value) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
