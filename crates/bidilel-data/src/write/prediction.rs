//! One row of a table of predictions, and the columns that a table has.

/// One prediction.
#[derive(Debug, Clone, Copy)]
pub struct Prediction<'a> {
    /// The instance, from 0.
    pub index: usize,
    /// The class; none where the instance is none of the candidates.
    pub label: Option<&'a str>,
    /// How far it is, or the nearest class where there is none.
    pub distance: f64,
    /// How likely it is, where that is known.
    pub probability: Option<f64>,
    /// Whether it is in the prediction set of the instance, where sets were asked for.
    pub in_set: Option<bool>,
    /// What identifies the instance, where all of them have it.
    pub id: Option<&'a str>,
}

/// The columns after `index`, `label` and `distance`: the same for every row of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PredictionColumns<'a> {
    /// Whether some instances may have no label.
    pub rejects: bool,
    /// Whether rows have a probability.
    pub probability: bool,
    /// Whether rows say if they are in the prediction set.
    pub in_set: bool,
    /// The name of the column of identifiers, where there is one.
    pub id: Option<&'a str>,
}

impl<'a> PredictionColumns<'a> {
    /// All names, in order.
    pub fn names(&self) -> Vec<&'a str> {
        let optional = [self.probability.then_some("probability"), self.in_set.then_some("in_set"), self.id];
        ["index", "label", "distance"].into_iter().chain(optional.into_iter().flatten()).collect()
    }
}
