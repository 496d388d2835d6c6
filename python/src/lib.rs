//! The compiled half of the Python package `bidilel`: models, datasets, mappings and experiments over plain arrays.
//!
//! It knows NumPy and nothing of scikit-learn; `py_src/bidilel` holds the conventions. Every long call releases the GIL,
//! runs in a pool of threads, reports to a callback and stops at a signal ([`run`]). Contiguous arrays are read where they
//! are ([`array`]); results that have many parts cross the border as the JSON that the program prints.

mod array;
mod assemble;
mod command;
mod compare;
mod dataset;
mod evaluate;
mod explain;
mod failure;
mod fit;
mod folds;
mod json;
mod mapping;
mod model;
mod names;
mod partition;
mod pool;
mod recognize;
mod reproduce;
mod run;
mod settings;
mod tune;
mod watch;

use pyo3::prelude::*;

#[pymodule]
mod _bidilel {
    #[pymodule_export]
    use super::assemble::{assembled, distributed_graph, leading_map};
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::dataset::Dataset;
    #[pymodule_export]
    use super::evaluate::evaluate;
    #[pymodule_export]
    use super::folds::class_folds;
    #[pymodule_export]
    use super::mapping::{landmark_sammon, sammon};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::partition::{class_sums, graph_scatter, pair_neighbors, prepared};
    #[pymodule_export]
    use super::reproduce::{reproduce, reproductions};
    #[pymodule_export]
    use super::settings::{check_settings, methods, settings_table};
    #[pymodule_export]
    use super::tune::tune;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages have it by")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
