//! Who waits for tables: the program on a terminal, or another front end.

use bidilel_math::Observer;

/// A trial of a cell that is done.
#[derive(Debug, Clone, Copy)]
pub struct CellTrial<'a> {
    /// Trials of cells of this table that are done, this one included.
    pub done: usize,
    /// All of them.
    pub total: usize,
    /// Labels of the row and the column.
    pub cell: &'a str,
    /// The number of the trial, from 0.
    pub trial: usize,
    /// Trials of this cell.
    pub trials: usize,
    /// The accuracy of its last run; none where the cell shows settings.
    pub per_class: Option<f64>,
}

/// Is told what happens while tables are made, and may cancel through its observers.
pub trait Host {
    /// Is told of data that are opened, and of remarks on whole tables.
    fn observer(&self) -> &dyn Observer;

    /// Is told of the fits, of which a table has hundreds.
    fn of_fits(&self) -> &dyn Observer;

    /// So many trials of cells of the next table are to be done.
    fn planned(&self, total: usize) {
        let _ = total;
    }

    /// Settings were searched for and chosen for a cell, named as in [`CellTrial`], and it is to be run.
    fn chosen(&self, cell: &str) {
        let _ = cell;
    }

    /// A trial of a cell is done.
    fn measured(&self, trial: &CellTrial<'_>) {
        let _ = trial;
    }

    /// What ran last is over, and nothing runs.
    fn stage_over(&self) {}
}
