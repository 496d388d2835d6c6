//! Tables: which columns are features, which name the rows, and rows joined by these names.
//!
//! A file of plain arrays has one meaning. A table has columns, and sweeping all numbers in would make features of
//! identifiers and labels; reading its rows in file order would give classes the descriptions of others. So columns are
//! chosen ([`Choice`], else by name and content), rows are joined by name where there are names, and what was done is
//! reported ([`TableRoles`], notes).

mod choice;
mod class_columns;
mod classes;
mod described;
mod features;
mod instances;
mod join;
mod labels;
mod likeness;
mod plan;
mod roles;
mod streamed;
mod suspect;

use std::path::Path;

pub use choice::{Choice, Columns, matches as matches_pattern};
pub(crate) use class_columns::classes_in_columns;
pub(crate) use classes::{class_names, classes, reordered};
pub use described::{ClassRows, class_rows};
pub use features::Features;
pub(crate) use instances::Truth;
pub(crate) use instances::read;
pub use instances::{Ids, Instances, Wanted, from_bytes, open};
pub(crate) use join::{Key, rows_by_name};
pub(crate) use labels::{LabelColumns, labels};
pub(crate) use likeness::{Likeness, of as likeness};
pub use roles::{ColumnRole, Role, TableRoles};
pub use streamed::{Streamed, stream};

use crate::container::{Container, EntryKind};
use crate::error::{Error, Result};
use plan::Plan;

/// Fails where all numbers of a table are asked for, and some of them are called like identifiers or labels.
///
/// For readers that have no way to say that they left something out.
pub(crate) fn refuse_suspects(container: &Container) -> Result<()> {
    let Some(table) = container.table() else { return Ok(()) };
    let numbers = table.columns().iter().filter(|column| column.kind == EntryKind::Numbers).count();
    if numbers < 2 {
        return Ok(());
    }
    let plan = Plan::new(container.path(), table.columns(), None, &Choice::default())?;
    // A column without a name is the number of the row, and was never taken.
    match plan.left_out.iter().find(|(column, _)| !table.columns()[*column].name.is_empty()) {
        None => Ok(()),
        Some(&(column, reason)) => Err(Error::Suspect {
            path: container.path().to_owned(),
            column: table.columns()[column].name.clone(),
            reason,
        }),
    }
}

/// Whether the header of a column says that it has labels.
pub(crate) fn is_called_label(name: &str) -> bool {
    likeness::of(name, std::iter::empty()) == Some(likeness::Likeness::Label)
}

/// Fails when columns are chosen in a file that has none.
pub(crate) fn check_no_choice(path: &Path, container: &Container, choice: &Choice) -> Result<()> {
    match choice.first() {
        None => Ok(()),
        Some(option) => Err(Error::NoTable { path: path.to_owned(), option, found: container.format_name() }),
    }
}
