//! One array of all descriptors, and another that says which item each is of.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, iter};

use bidilel::dataset::Rows;
use bidilel::encode::{AnyError, Items};

use super::{Collection, Options, origin};
use crate::array::{self, Array, Base};
use crate::container::Container;
use crate::error::{Counted, Error, Result};

/// Bytes of a mapped file to read before it is mapped anew.
const REMAP: usize = 64 << 20;
/// Rows whose items are read at a time.
const BLOCK: usize = 1 << 16;

/// How the rows are divided among items.
#[derive(Debug, Clone)]
pub enum Owners {
    /// An array with the number of the item of every row, in any order.
    Items {
        /// The file.
        path: PathBuf,
        /// What the first item is called.
        base: Base,
    },
    /// An array with the first row of every item, and at its end, unless that is left out, the number of rows.
    Offsets {
        /// The file.
        path: PathBuf,
    },
}

/// The items whose descriptors lie in one array.
pub fn grouped(path: &Path, owners: &Owners, options: &Options) -> Result<Collection> {
    let array = options.array(&Container::open(path)?)?;
    let groups = match owners {
        Owners::Items { path, base } => Groups::of_items(path, *base, array.rows())?,
        Owners::Offsets { path } => Groups::of_offsets(path, array.rows())?,
    };
    let names = (0..groups.starts.len() - 1).map(|item| item.to_string()).collect();
    let mapped = fs::metadata(path).is_ok_and(|file| file.len() == array.backing_len() as u64);
    let items = Grouped {
        path: path.to_owned(),
        options: options.clone(),
        dim: array.columns(),
        rows: array.rows(),
        groups,
        mapped,
        current: Mutex::new((array, 0)),
    };
    Ok(Collection { items: Box::new(items), names, folders: None, notes: Vec::new() })
}

/// The rows of every item.
struct Groups {
    /// The place of the first row of every item, and the number of rows.
    starts: Vec<usize>,
    /// The row in every place, where items are not already together.
    order: Option<Vec<usize>>,
}

impl Groups {
    fn of_items(path: &Path, base: Base, rows: usize) -> Result<Self> {
        let owners = array::open(path, None)?;
        super::check_count(owners.path(), Counted::DescriptorOwners, rows, vector_len(&owners))?;
        let owners = as_column(owners);
        let mut counts: Vec<usize> = Vec::new();
        let (mut sorted, mut last) = (true, 0);
        each_owner(&owners, base, |row, item| {
            // Every item has a descriptor or lies between some that have: a number beyond is a slip.
            if item >= rows {
                return Err(Error::Value {
                    path: owners.path().to_owned(),
                    row,
                    column: None,
                    expected: format!("the number of an item, below the {rows} descriptors"),
                    found: (item + usize::from(base == Base::One)).to_string(),
                });
            }
            if item >= counts.len() {
                counts.resize(item + 1, 0);
            }
            counts[item] += 1;
            sorted &= item >= last;
            last = item;
            Ok(())
        })?;
        let mut sum = 0;
        let starts: Vec<usize> = iter::once(0)
            .chain(counts.iter().map(|count| {
                sum += count;
                sum
            }))
            .collect();
        if sorted {
            return Ok(Self { starts, order: None });
        }
        let (mut next, mut order) = (starts.clone(), vec![0; rows]);
        each_owner(&owners, base, |row, item| {
            order[next[item]] = row;
            next[item] += 1;
            Ok(())
        })?;
        Ok(Self { starts, order: Some(order) })
    }

    fn of_offsets(path: &Path, rows: usize) -> Result<Self> {
        let array = array::open(path, None)?;
        let mut starts = array.to_indices(Base::Zero)?;
        let wrong = |row: usize, expected: String| Error::Value {
            path: array.path().to_owned(),
            row,
            column: None,
            expected,
            found: starts[row].to_string(),
        };
        if starts.first().is_some_and(|&first| first != 0) {
            return Err(wrong(0, "0, the first row of the first item".to_owned()));
        }
        if let Some(row) = (1..starts.len()).find(|&row| starts[row] < starts[row - 1]) {
            return Err(wrong(row, format!("at least {}, the row before", starts[row - 1])));
        }
        if let Some(row) = starts.iter().position(|&start| start > rows) {
            return Err(wrong(row, format!("at most {rows}, the number of descriptors")));
        }
        match starts.last() {
            None => {
                let expected = "the first row of every item";
                return Err(Error::Dimensions { path: array.path().to_owned(), expected, shape: vec![0] });
            }
            // A single 0 is one item that has all rows.
            Some(&last) if last < rows || starts.len() == 1 => starts.push(rows),
            Some(_) => {}
        }
        Ok(Self { starts, order: None })
    }
}

fn vector_len(array: &Array) -> usize {
    if array.dimensions() == 2 && array.rows() == 1 { array.columns() } else { array.rows() }
}

/// A vector that lies in a row, as a column.
fn as_column(array: Array) -> Array {
    if array.dimensions() == 2 && array.rows() == 1 { array.transposed() } else { array }
}

/// Reads the items of the rows in blocks: indices take more memory than the array that they come from.
fn each_owner(array: &Array, base: Base, mut take: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
    for first in (0..array.rows()).step_by(BLOCK) {
        let part = array.clone().subrows(first..array.rows().min(first + BLOCK));
        let items = part.to_indices(base).map_err(|error| match error {
            Error::Value { path, row, column, expected, found } => {
                Error::Value { path, row: first + row, column, expected, found }
            }
            other => other,
        })?;
        items.into_iter().zip(first..).try_for_each(|(item, row)| take(row, item))?;
    }
    Ok(())
}

struct Grouped {
    path: PathBuf,
    options: Options,
    dim: usize,
    rows: usize,
    groups: Groups,
    mapped: bool,
    /// The array as it was last opened, and how much was asked of it since.
    current: Mutex<(Array, usize)>,
}

impl Grouped {
    fn row(&self, item: usize, index: usize) -> usize {
        let place = self.groups.starts[item] + index;
        self.groups.order.as_ref().map_or(place, |order| order[place])
    }

    /// The array, mapped anew when much of it was read: pages stay with a map for as long as it lives.
    fn array(&self, more: usize) -> Result<Array> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if self.mapped && current.1 > REMAP {
            let array = self.options.array(&Container::open(&self.path)?)?;
            if (array.rows(), array.columns()) != (self.rows, self.dim) {
                let problem = "the file changed while it was read".to_owned();
                return Err(Error::Malformed { path: self.path.clone(), problem });
            }
            *current = (array, 0);
        }
        current.1 += more;
        Ok(current.0.clone())
    }
}

impl Items for Grouped {
    fn count(&self) -> usize {
        self.groups.starts.len() - 1
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn descriptors(&self, item: usize) -> usize {
        self.groups.starts[item + 1] - self.groups.starts[item]
    }
    fn open(&self, item: usize) -> Result<Box<dyn Rows + '_>, AnyError> {
        let count = self.descriptors(item);
        let array = self.array(count * self.dim * 8)?;
        Ok(Box::new(Group { array, whole: self, item, count }))
    }
    fn origin(&self, item: usize) -> String {
        format!("item {item} of {}", origin(&self.path))
    }
    fn locate(&self, item: usize, row: usize, column: usize) -> (String, usize, usize) {
        (origin(&self.path), self.row(item, row), self.options.column(column))
    }
}

/// The rows of one item.
struct Group<'a> {
    array: Array,
    whole: &'a Grouped,
    item: usize,
    count: usize,
}

impl Rows for Group<'_> {
    fn count(&self) -> usize {
        self.count
    }
    fn dim(&self) -> usize {
        self.whole.dim
    }
    fn read(&self, index: usize, into: &mut [f32]) {
        self.array.read(self.whole.row(self.item, index), into);
    }
}
