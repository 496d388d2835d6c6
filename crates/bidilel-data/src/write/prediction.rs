//! One row of a table of predictions.

/// One prediction.
#[derive(Debug, Clone, Copy)]
pub struct Prediction<'a> {
    /// The instance, from 0.
    pub index: usize,
    /// The class.
    pub label: &'a str,
    /// How far it is.
    pub distance: f64,
    /// What identifies the instance, where all of them have it.
    pub id: Option<&'a str>,
}
