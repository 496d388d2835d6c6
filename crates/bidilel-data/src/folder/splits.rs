//! The three kinds of split.

use std::collections::HashMap;

use bidilel::dataset::{Split, SplitKind};

use super::manifest::{self, Names, Source};
use super::{Folder, check_count};
use crate::array::{self, Base};
use crate::error::{Error, Result};
use crate::names::ClassIndex;
use crate::text::{self, List};

pub(super) fn read(
    folder: &Folder,
    name: &str,
    table: &manifest::Split,
    classes: &ClassIndex<'_>,
    instances: usize,
) -> Result<Split> {
    let problem = |problem: &str| Error::Split {
        path: folder.manifest_path.clone(),
        split: name.to_owned(),
        problem: problem.to_owned(),
    };
    let family = table.file.is_some() || table.key.is_some() || table.transpose;
    let by_class = table.unseen.is_some() || table.validation.is_some();
    let by_instance =
        table.train.is_some() || table.test_seen.is_some() || table.test_unseen.is_some() || table.one_based;
    let reader = Reader { folder, name, table, classes };
    let (kind, file) = match (by_class, family, by_instance) {
        (true, false, false) => {
            let unseen = table.unseen.as_ref().ok_or_else(|| problem("`unseen` is missing"))?;
            (reader.by_class(unseen)?, None)
        }
        (false, true, false) => {
            let file = table.file.as_ref().ok_or_else(|| problem("`file` is missing"))?;
            (reader.family(file)?, Some(file))
        }
        (false, false, true) => {
            let source = |source: &Option<Source>, key: &str| {
                let source = source.as_ref().ok_or_else(|| problem(&format!("`{key}` is missing")))?;
                reader.instances(source, instances)
            };
            let train = source(&table.train, "train")?;
            let test_seen = source(&table.test_seen, "test_seen")?;
            let test_unseen = source(&table.test_unseen, "test_unseen")?;
            (SplitKind::Instances { train, test_seen, test_unseen }, None)
        }
        _ => {
            return Err(problem(
                "expected `unseen` (and `validation`), or `file`, or `train`, `test_seen` and `test_unseen`",
            ));
        }
    };
    let path = file.map_or_else(|| folder.manifest_path.clone(), |file| folder.join(file));
    Ok(Split { name: name.to_owned(), origin: format!("`{}`", path.display()), kind })
}

struct Reader<'a> {
    folder: &'a Folder,
    name: &'a str,
    table: &'a manifest::Split,
    classes: &'a ClassIndex<'a>,
}

impl Reader<'_> {
    fn by_class(&self, unseen: &Names) -> Result<SplitKind> {
        let unseen = self.class_list(unseen, "unseen")?;
        let validation = match &self.table.validation {
            Some(names) => self.class_list(names, "validation")?,
            None => Vec::new(),
        };
        match validation.iter().find(|class| unseen.binary_search(class).is_ok()) {
            None => Ok(SplitKind::Classes { unseen, validation }),
            Some(&both) => Err(Error::Split {
                path: self.folder.manifest_path.clone(),
                split: self.name.to_owned(),
                problem: format!("class `{}` is both unseen and for validation", self.classes.name(both)),
            }),
        }
    }

    /// The classes of a list, ascending.
    fn class_list(&self, names: &Names, key: &str) -> Result<Vec<usize>> {
        let list = match names {
            Names::File(file) => text::read_list(&self.folder.join(file))?,
            Names::Inline(items) => List {
                path: self.folder.manifest_path.clone(),
                items: items.clone(),
                key: Some(format!("split.{}.{key}", self.name)),
            },
        };
        let mut indices = self.classes.indices(&list.unique()?)?;
        indices.sort_unstable();
        Ok(indices)
    }

    /// Trials x classes: 1 where a class is unseen.
    fn family(&self, file: &str) -> Result<SplitKind> {
        let table = self.table;
        let expected = "a matrix of trials x classes";
        let array = self.folder.matrix(file, table.key.as_deref(), table.transpose, expected)?;
        check_count(array.path(), "columns (one a class)", self.classes.count(), array.columns())?;
        let matrix = array.to_matrix();
        let mut trials = Vec::with_capacity(array.rows());
        for row in 0..array.rows() {
            let mut unseen = Vec::new();
            for (column, &value) in matrix.col_as_slice(row).iter().enumerate() {
                #[expect(clippy::float_cmp, reason = "zero and one are exact in every number type")]
                if value == 1.0 {
                    unseen.push(column);
                } else if value != 0.0 {
                    let (expected, found) = ("0 or 1".to_owned(), value.to_string());
                    let path = array.path().to_owned();
                    return Err(Error::Value { path, row, column: Some(column), expected, found });
                }
            }
            trials.push(unseen);
        }
        Ok(SplitKind::Family { trials })
    }

    /// Instance indices, in the order of the file.
    fn instances(&self, source: &Source, count: usize) -> Result<Vec<usize>> {
        let path = self.folder.join(&source.file);
        let base = if self.table.one_based || source.one_based { Base::One } else { Base::Zero };
        let indices = array::open(&path, source.key.as_deref())?.to_indices(base)?;
        let mut rows = HashMap::with_capacity(indices.len());
        for (row, &index) in indices.iter().enumerate() {
            if index >= count {
                let expected = format!("the index of one of {count} instances");
                // The number as it is in the file, whatever it counts from.
                let found = (index + usize::from(base == Base::One)).to_string();
                return Err(Error::Value { path, row, column: None, expected, found });
            }
            if let Some(first) = rows.insert(index, row) {
                let (place, first) = (format!("row {row}"), format!("row {first}"));
                return Err(Error::Repeated { path, item: index.to_string(), place, first });
            }
        }
        Ok(indices)
    }
}
