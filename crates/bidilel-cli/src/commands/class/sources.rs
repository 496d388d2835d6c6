//! Where the descriptions of new classes come from: arrays, tables, attributes by name, word vectors, sentences.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bidilel::living::{Completed, Neighbor};
use bidilel::model::Model;
use bidilel::{Metric, NewClass, Representation};
use bidilel_data::table::{ClassRows, class_rows};
use bidilel_data::words::{Missing, WordVectors, class_vectors};
use bidilel_math::Observer;

use super::args::AddArgs;
use super::suggested;
use crate::failure::{hinted, usage};
use crate::texts::sentences::Sentences;

/// New classes with what was found out about them.
pub(super) struct Described {
    classes: Vec<DescribedClass>,
}

/// One new class.
#[derive(Debug, Default)]
pub(super) struct DescribedClass {
    pub(super) name: String,
    semantics: BTreeMap<String, Vec<f64>>,
    /// Attributes that were not given.
    pub(super) filled: Vec<String>,
    /// The classes that they were taken from.
    pub(super) filled_from: Vec<Neighbor>,
}

impl IntoIterator for Described {
    type Item = DescribedClass;
    type IntoIter = std::vec::IntoIter<DescribedClass>;

    fn into_iter(self) -> Self::IntoIter {
        self.classes.into_iter()
    }
}

impl Described {
    /// Reads everything that the command line says about the new classes.
    pub(super) fn read(args: &AddArgs, model: &Model, watch: &dyn Observer) -> Result<Self> {
        let sentences = Sentences::read(&args.sentences, &args.names, watch)?;
        let sources = [
            !args.semantic.is_empty(),
            !args.attribute.is_empty(),
            args.from.is_some(),
            args.words.is_some(),
            sentences.is_some(),
        ];
        if !sources.contains(&true) {
            return Err(usage(
                "nothing describes the class: give --semantic NAME=FILE, --attribute NAME=X, --from FILE, --words FILE or --text \
                 SENTENCE",
            ));
        }
        let table = match args.from.as_deref() {
            Some(path) => Some((path, class_rows(path, None)?)),
            None => None,
        };
        let names = match (&args.names[..], &table, &sentences) {
            ([], Some((path, table)), _) => names_of(path, table)?.to_vec(),
            ([], None, Some(sentences)) => sentences.names(),
            ([], None, None) => return Err(usage("which class? give its name after the model")),
            (names, _, _) => names.to_vec(),
        };
        let class = |name: &String| DescribedClass { name: name.clone(), ..DescribedClass::default() };
        let mut described = Self { classes: names.iter().map(class).collect() };
        if let Some((path, table)) = &table {
            described.add_table(path, table, model, watch)?;
        }
        for typed in &args.semantic {
            described.add_vectors(typed, model, watch)?;
        }
        if !args.attribute.is_empty() {
            if names.len() != 1 {
                return Err(usage("--attribute describes one class: use --from for several"));
            }
            let name = names[0].clone();
            let completed = model.complete_attributes(&name, &args.attribute);
            described.complete(0, completed.map_err(|error| suggested(error, model))?, watch)?;
        }
        if let Some(words) = &args.words {
            described.add_words(words, &names, model, watch)?;
        }
        if let Some(sentences) = &sentences {
            described.add_sentences(sentences, &args.model, model, watch)?;
        }
        Ok(described)
    }

    /// The classes as a model takes them.
    pub(super) fn classes(&self) -> impl Iterator<Item = NewClass> {
        self.classes
            .iter()
            .map(|class| NewClass { name: class.name.clone(), semantics: class.semantics.clone() })
    }

    fn insert(&mut self, class: usize, representation: &str, vector: Vec<f64>) -> Result<()> {
        let class = &mut self.classes[class];
        if class.semantics.insert(representation.to_owned(), vector).is_some() {
            bail!(usage(format!("`{representation}` of class `{}` is given twice", class.name)));
        }
        Ok(())
    }

    fn complete(&mut self, class: usize, completed: Completed, watch: &dyn Observer) -> Result<()> {
        let Completed { representation, vector, filled, neighbors, beyond } = completed;
        let name = self.classes[class].name.clone();
        for (attribute, [least, most]) in beyond {
            watch.note(&format!(
                "`{attribute}` of class `{name}` is beyond what any other class has, {least} to {most}: attributes have \
                 the scale of the dataset"
            ));
        }
        if !filled.is_empty() {
            let from: Vec<&str> = neighbors.iter().map(|one| one.class.as_str()).collect();
            let (missing, all) = (filled.len(), vector.len());
            watch.note(&format!(
                "class `{name}`: {missing} of {all} attributes are not given and are filled in from {}",
                from.join(", ")
            ));
        }
        self.insert(class, &representation, vector)?;
        self.classes[class].filled.extend(filled);
        self.classes[class].filled_from.extend(neighbors);
        Ok(())
    }

    /// `--from`: rows by class, columns by attribute.
    fn add_table(
        &mut self,
        path: &Path,
        table: &ClassRows,
        model: &Model,
        watch: &dyn Observer,
    ) -> Result<()> {
        note_passed_over(path, table, watch);
        let Some(dimensions) = table.dimensions.as_ref().filter(|dimensions| !dimensions.is_empty()) else {
            let message = format!("`{}`: no column has numbers that could be attributes", path.display());
            return Err(hinted(message, "--texts reads names and descriptions in words"));
        };
        for class in 0..self.classes.len() {
            let row = self.row_of(class, path, table)?;
            let given = given(dimensions, row);
            let completed = model.complete_attributes(&self.classes[class].name, &given);
            let completed = completed.map_err(|error| suggested(error, model));
            self.complete(class, completed.with_context(|| format!("`{}`", path.display()))?, watch)?;
        }
        Ok(())
    }

    /// The row of a class: by its name where rows have names, else by its place.
    fn row_of<'a>(&self, class: usize, path: &Path, table: &'a ClassRows) -> Result<&'a [Option<f64>]> {
        let name = &self.classes[class].name;
        if let Some(names) = &table.names {
            let mut rows = (0..names.len()).filter(|&row| names[row] == *name);
            return match (rows.next(), rows.next()) {
                (Some(row), None) => Ok(&table.rows[row]),
                (Some(_), Some(_)) => bail!("`{}`: class `{name}` is there twice", path.display()),
                // One row without a doubt describes the one class, whatever it is called there.
                (None, _) => {
                    let message = format!("`{}`: no row is called `{name}`", path.display());
                    match bidilel_data::closest(name, names) {
                        Some(near) => Err(hinted(message, format!("did you mean `{near}`?"))),
                        None => bail!(message),
                    }
                }
            };
        }
        if table.rows.len() != self.classes.len() {
            bail!(
                "`{}`: expected {} rows, one per class in the order of the names, found {}",
                path.display(),
                self.classes.len(),
                table.rows.len()
            );
        }
        Ok(&table.rows[class])
    }

    /// `--semantic NAME=FILE`: vectors of one representation.
    fn add_vectors(&mut self, typed: &str, model: &Model, watch: &dyn Observer) -> Result<()> {
        let (one, file) = representation(typed, model)?;
        let path = Path::new(file);
        let table = class_rows(path, None)?;
        note_passed_over(path, &table, watch);
        let by_name = one.dimension_names.is_some() && one.metric != Metric::Precomputed;
        for class in 0..self.classes.len() {
            let row = self.row_of(class, path, &table)?;
            if let Some(dimensions) = table.dimensions.as_ref().filter(|_| by_name) {
                let completed = model.complete_attributes(&self.classes[class].name, &given(dimensions, row));
                let completed = completed.map_err(|error| suggested(error, model));
                let completed = completed.with_context(|| format!("`{}`", path.display()))?;
                if completed.representation != one.name {
                    bail!(
                        "`{}`: its columns are attributes of `{}`, not of `{}`",
                        path.display(),
                        completed.representation,
                        one.name
                    );
                }
                self.complete(class, completed, watch)?;
                continue;
            }
            let vector: Option<Vec<f64>> = row.iter().copied().collect();
            let Some(vector) = vector else {
                bail!(
                    "`{}`: a cell is empty, and without names of attributes it cannot be filled in",
                    path.display()
                );
            };
            self.insert(class, &one.name.clone(), vector)?;
        }
        Ok(())
    }

    /// `--words FILE`: means of the vectors of the words in the names.
    fn add_words(
        &mut self,
        typed: &str,
        names: &[String],
        model: &Model,
        watch: &dyn Observer,
    ) -> Result<()> {
        let of_name =
            |(name, _): &(&str, &str)| model.semantics.representations.iter().any(|one| one.name == *name);
        let (wanted, file) = match typed.split_once('=').filter(of_name) {
            Some((name, file)) => (Some(name), file),
            None => (None, typed),
        };
        let vectors = WordVectors::open(Path::new(file))?;
        let fits =
            |one: &&Representation| one.metric != Metric::Precomputed && one.raw.nrows() == vectors.dim();
        let all = &model.semantics.representations;
        let found: Vec<&str> = match wanted {
            Some(name) => vec![name],
            None => all.iter().filter(fits).map(|one| one.name.as_str()).collect(),
        };
        let [name] = found[..] else {
            let dims: Vec<String> =
                all.iter().map(|one| format!("`{}` of {}", one.name, one.raw.nrows())).collect();
            let dim = vectors.dim();
            bail!(hinted(
                format!(
                    "`{file}`: word vectors have {dim} dimensions, and the model has {}: which is meant?",
                    dims.join(", ")
                ),
                "say it with --words NAME=FILE",
            ));
        };
        let (matrix, report) = class_vectors(names, &vectors, Missing::Refuse)?;
        for (class, missing) in report.missing.iter().enumerate().filter(|(_, missing)| !missing.is_empty()) {
            watch.note(&format!(
                "`{file}` has no vectors for `{}` of class `{}`",
                missing.join("`, `"),
                names[class]
            ));
        }
        (0..names.len()).try_for_each(|class| self.insert(class, name, matrix.col_as_slice(class).to_vec()))
    }

    /// `--text` and `--texts`: every representation that a text network made.
    fn add_sentences(
        &mut self,
        sentences: &Sentences,
        model_path: &Path,
        model: &Model,
        watch: &dyn Observer,
    ) -> Result<()> {
        let names = sentences.names();
        for (representation, vectors) in sentences.vectors(model, model_path, watch)? {
            for class in 0..self.classes.len() {
                let name = &self.classes[class].name;
                let Some(column) = names.iter().position(|known| known == name) else {
                    bail!("no sentence describes class `{name}`");
                };
                self.insert(class, &representation, vectors.col_as_slice(column).to_vec())?;
            }
        }
        Ok(())
    }
}

/// The semantic representation of `NAME=FILE`, or the only one there is.
fn representation<'a>(typed: &'a str, model: &'a Model) -> Result<(&'a Representation, &'a str)> {
    let all = &model.semantics.representations;
    match (typed.split_once('='), &all[..]) {
        (Some((name, file)), _) => {
            let Some(one) = all.iter().find(|one| one.name == name) else {
                let available = all.iter().map(|one| one.name.clone()).collect();
                let problem =
                    bidilel::error::ClassProblem::NoRepresentation { found: name.to_owned(), available };
                return Err(suggested(problem.into(), model));
            };
            Ok((one, file))
        }
        (None, [one]) => Ok((one, typed)),
        (None, _) => {
            let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            Err(usage(format!("--semantic must be NAME=FILE, where the name is one of {}", names.join(", "))))
        }
    }
}

/// The cells of a row that are not empty, by their columns.
fn given(dimensions: &[String], row: &[Option<f64>]) -> Vec<(String, f64)> {
    dimensions.iter().zip(row).filter_map(|(name, value)| Some((name.clone(), (*value)?))).collect()
}

fn names_of<'a>(path: &Path, table: &'a ClassRows) -> Result<&'a [String]> {
    let message = || format!("`{}`: no column names the classes", path.display());
    table
        .names
        .as_deref()
        .ok_or_else(|| hinted(message(), "call a column `class`, or name them after the model"))
}

fn note_passed_over(path: &Path, table: &ClassRows, watch: &dyn Observer) {
    if !table.passed_over.is_empty() {
        watch.note(&format!(
            "`{}`: columns of text are passed over: {}",
            path.display(),
            table.passed_over.join(", ")
        ));
    }
}
