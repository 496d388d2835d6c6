//! A family of class-wise splits in one array.
//!
//! Two forms are in use: trials x classes with 1 for an unseen class, and for each trial a list of the unseen classes
//! by their numbers. Files with a `train_class_set` and a `test_class_set` have the first form twice.

use bidilel::dataset::SplitKind;
use faer::Mat;

use super::check_count;
use crate::array::{Array, Base};
use crate::container::Container;
use crate::error::{Counted, Error, Result};
use crate::names::ClassIndex;

const KNOWN: &str = "train_class_set";
const UNSEEN: &str = "test_class_set";

pub(super) fn read(
    container: &Container,
    key: Option<&str>,
    transpose: bool,
    base: Base,
    classes: &ClassIndex<'_>,
) -> Result<SplitKind> {
    let both = container.has(KNOWN) && container.has(UNSEEN);
    let key = key.or(both.then_some(UNSEEN));
    let open = |key: Option<&str>| -> Result<Array> {
        let array = container.array(key)?;
        Ok(if transpose { array.transposed() } else { array })
    };
    let array = open(key)?;
    let matrix = array.to_matrix();
    // A list of classes is shorter than all of them, and has numbers above 1.
    if base == Base::One || (array.columns() != classes.count() && any_above_one(&matrix)) {
        return Ok(SplitKind::Family { trials: from_lists(&array, &matrix, base, classes.count())? });
    }
    let mut trials = from_mask(&array, &matrix, classes.count())?;
    if key == Some(KNOWN) {
        trials = complements(&trials, classes.count());
    }
    if both && matches!(key, Some(KNOWN | UNSEEN)) {
        let [known, unseen] =
            [KNOWN, UNSEEN].map(|key| open(Some(key)).map(|array| (array.to_matrix(), array)));
        let (known, unseen) = (known?, unseen?);
        let unseen_trials = from_mask(&unseen.1, &unseen.0, classes.count())?;
        check_apart(&known.1, &from_mask(&known.1, &known.0, classes.count())?, &unseen_trials, classes)?;
    }
    Ok(SplitKind::Family { trials })
}

fn any_above_one(matrix: &Mat<f64>) -> bool {
    matrix.col_iter().flat_map(faer::ColRef::iter).any(|&value| value > 1.0)
}

/// The places of the ones in every row.
fn from_mask(array: &Array, matrix: &Mat<f64>, classes: usize) -> Result<Vec<Vec<usize>>> {
    check_count(array.path(), Counted::ClassColumns, classes, array.columns())?;
    let trial = |row: usize| {
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
        Ok(unseen)
    };
    (0..array.rows()).map(trial).collect()
}

/// The classes that every row lists, ascending.
fn from_lists(array: &Array, matrix: &Mat<f64>, base: Base, classes: usize) -> Result<Vec<Vec<usize>>> {
    let first = usize::from(base == Base::One);
    let class = |row: usize, column: usize, value: f64| {
        #[expect(clippy::float_cmp, reason = "a class number is exact in every number type")]
        let index = (0..classes).find(|&class| (class + first) as f64 == value);
        index.ok_or_else(|| Error::Value {
            path: array.path().to_owned(),
            row,
            column: Some(column),
            expected: format!("the number of a class, {first} to {}", (classes + first).saturating_sub(1)),
            found: value.to_string(),
        })
    };
    let trial = |row: usize| {
        let values = matrix.col_as_slice(row).iter().enumerate();
        let mut unseen =
            values.map(|(column, &value)| class(row, column, value)).collect::<Result<Vec<_>>>()?;
        unseen.sort_unstable();
        if let Some(pair) = unseen.windows(2).find(|pair| pair[0] == pair[1]) {
            let (path, place) = (array.path().to_owned(), format!("row {row}"));
            return Err(Error::Repeated {
                path,
                item: (pair[0] + first).to_string(),
                first: place.clone(),
                place,
            });
        }
        Ok(unseen)
    };
    (0..array.rows()).map(trial).collect()
}

fn complements(trials: &[Vec<usize>], classes: usize) -> Vec<Vec<usize>> {
    trials
        .iter()
        .map(|known| (0..classes).filter(|class| known.binary_search(class).is_err()).collect())
        .collect()
}

fn check_apart(
    array: &Array,
    known: &[Vec<usize>],
    unseen: &[Vec<usize>],
    classes: &ClassIndex<'_>,
) -> Result<()> {
    for (trial, (known, unseen)) in known.iter().zip(unseen).enumerate() {
        if let Some(&both) = unseen.iter().find(|class| known.binary_search(class).is_ok()) {
            let problem = format!("class `{}` is both known and unseen", classes.name(both));
            return Err(Error::Split { path: array.path().to_owned(), split: trial.to_string(), problem });
        }
    }
    Ok(())
}
