//! Where the numbers of a table come from: program, experiment, data, seeds, machine.

use bidilel::reproduce::DataFingerprint;
use serde::{Deserialize, Serialize};

/// Everything that decides the numbers of a table. Settings are with every cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program's version.
    pub version: String,
    /// Fingerprint of the experiment's file.
    pub experiment: String,
    /// Seed of folds, of random divisions and of the first start.
    pub seed: u64,
    /// What was left out of the experiment to make it shorter; none where nothing was.
    pub reduced: Option<Reduced>,
    /// The datasets that were used.
    pub data: Vec<DataRecord>,
    /// Where it ran: several where one continued what another had begun.
    pub machines: Vec<Machine>,
}

/// An experiment that was made shorter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reduced {
    /// The most trials of a split.
    pub splits: Option<usize>,
    /// The most folds.
    pub folds: Option<usize>,
    /// The most random starts.
    pub starts: Option<u16>,
    /// Generated data instead of real ones, at this share of the instances and features.
    pub stand_ins: Option<f64>,
}

/// A dataset as it was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataRecord {
    /// Its name in the experiment.
    pub name: String,
    /// Where it was found.
    pub source: String,
    /// How many instances it has.
    pub instances: usize,
    /// How many classes.
    pub classes: usize,
    /// Split that was used, with the number of its trials, and how they were drawn where they were.
    pub splits: Vec<String>,
    /// Fingerprints of labels and representations.
    pub fingerprint: DataFingerprint,
}

/// A machine. Results are the same for any number of threads; kinds of processors may differ in the last digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system.
    pub os: String,
    /// The kind of processor.
    pub processor: String,
    /// Threads.
    pub threads: usize,
}
