//! Hierarchical attribute transfer: attributes of classes, and of the groups that they belong to.
//!
//! A hierarchy over all classes has classes as leaves. An inner node gets the attributes that all its members share,
//! present or absent, $A_n$. There is one classifier per attribute, as in direct attribute prediction, and one per inner
//! node, which learns to tell instances of known classes that agree with all of $A_n$ from those that do not. With
//! ancestors $n_1, n_2, \dots$ of class $c$ from its parent on, its score is
//! `$$ \sum_m \log \frac{p(a_m = a_m^c \mid x)}{p(a_m = a_m^c)} +
//!    \sum_k \delta^k\, |A_{n_k}| \log \frac{p(n_k \mid x)}{p(n_k)}, $$`
//! with shares of known classes as priors: the shared attributes of an ancestor count as many times as there are, discounted
//! by $\delta$ per step.
//!
//! Left open by the paper and chosen here: the hierarchy, which the paper takes from an ontology, is found by average
//! linkage of the unit descriptions of all classes ([`bidilel_math::hierarchy`]); a node has one classifier for all its
//! shared attributes instead of one for each, so that there are as many as classes; nodes whose attributes all known
//! classes have, or none, are left out, and so are nodes that share nothing; attributes are cut at their mean, as in `dap`.
//!
//! # References
//! Z. Al-Halah and R. Stiefelhagen, *How to transfer? Zero-shot object recognition via hierarchical transfer of semantic
//! attributes*, 2015.

use faer::Mat;
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use bidilel_math::Observer;
use bidilel_math::distance::pairwise;
use bidilel_math::hierarchy::average_linkage;
use bidilel_math::logistic::Targets;
use bidilel_math::parallel::product;

use super::linear::vectors;
use super::probabilities::{Attributes, PRIOR_MARGIN, Predictors, log_sigmoid};
use super::{FittedMethod, ZeroShotMethod};
use crate::error::Result;
use crate::recognize::{Candidates, Recognition, Scores};
use crate::semantic::ClassSemantics;
use crate::settings::{self, Settings};
use crate::stored::{Recorded, Stored, unpack};
use crate::task::{Prepared, Task};
use crate::tensors::Tensor;

/// Settings of hierarchical attribute transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hat {
    /// Ridge of the logistic regression.
    pub logistic_ridge: f64,
    /// Weight of the attributes of an ancestor, per step: $\delta$.
    pub hat_discount: f64,
}

impl Default for Hat {
    fn default() -> Self {
        Self { logistic_ridge: 1.0, hat_discount: 0.1 }
    }
}

/// Classifiers of attributes and of inner nodes, with the hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct HierarchicalAttributes {
    /// Of the attributes, then of the nodes.
    predictors: Predictors,
    attributes: Attributes,
    nodes: Vec<Node>,
    /// $\delta$, as it is stored.
    discount: [f64; 1],
    known: usize,
}

/// An inner node of the hierarchy that has a classifier.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    /// How many attributes its members share.
    shared: usize,
    /// Per known class, 1 where it agrees with all of them.
    agreeing: Vec<f64>,
    /// Steps from every class up to it; none for classes that are not beneath.
    steps: Vec<Option<i32>>,
    /// The share of known classes that agree.
    prior: f64,
}

impl Hat {
    pub(crate) fn from_settings(settings: &Settings, _seed: u64) -> Self {
        let default = Self::default();
        Self {
            logistic_ridge: settings.logistic_ridge.unwrap_or(default.logistic_ridge),
            hat_discount: settings.hat_discount.unwrap_or(default.hat_discount),
        }
    }
}

impl ZeroShotMethod for Hat {
    type Fitted = HierarchicalAttributes;

    fn fit(&self, task: &Task, watch: &dyn Observer) -> Result<HierarchicalAttributes> {
        settings::check("hat_discount", self.hat_discount)?;
        watch.stage("hierarchy");
        let (attributes, nodes) = described(&task.semantics)?;
        let (first, known) = (attributes.bits.nrows(), task.known.len());
        let values = Mat::from_fn(first + nodes.len(), known, |i, class| {
            if i < first { attributes.bits[(i, class)] } else { nodes[i - first].agreeing[class] }
        });
        let targets = Targets::Binary { groups: &task.train.labels, values: values.as_ref() };
        let predictors = Predictors::fit(task, targets, self.logistic_ridge, "hat", watch)?;
        Ok(HierarchicalAttributes { predictors, attributes, nodes, discount: [self.hat_discount], known })
    }
}

/// Attributes of all classes, and the inner nodes of their hierarchy.
fn described(semantics: &ClassSemantics) -> Result<(Attributes, Vec<Node>)> {
    let attributes = Attributes::of(semantics, "method `hat`")?;
    let vectors = vectors(semantics, "method `hat`")?;
    let nodes = nodes(&attributes.bits, &pairwise(vectors, vectors), semantics.known);
    Ok((attributes, nodes))
}

/// The inner nodes of average linkage that a classifier can tell apart.
fn nodes(bits: &Mat<f64>, distances: &Mat<f64>, known: usize) -> Vec<Node> {
    let classes = bits.ncols();
    let steps_at = |class: usize| (0..classes).map(|other| (other == class).then_some(0)).collect();
    // Steps from every class up to each cluster, merged ones after the classes.
    let mut clusters: Vec<Vec<Option<i32>>> = (0..classes).map(steps_at).collect();
    let mut nodes = Vec::new();
    for merge in average_linkage(distances.as_ref()) {
        let (left, right) = (&clusters[merge.left], &clusters[merge.right]);
        let steps: Vec<Option<i32>> = left.iter().zip(right).map(|(l, r)| l.or(*r).map(|s| s + 1)).collect();
        let members: Vec<usize> = (0..classes).filter(|&class| steps[class].is_some()).collect();
        let has = |m: usize, class: usize| bits[(m, class)] > 0.5;
        let shares = |m: &usize| members.iter().all(|&class| has(*m, class) == has(*m, members[0]));
        let shared: Vec<usize> = (0..bits.nrows()).filter(shares).collect();
        let agrees = |class: usize| shared.iter().all(|&m| has(m, class) == has(m, members[0]));
        let agreeing: Vec<f64> = (0..known).map(|class| f64::from(u8::from(agrees(class)))).collect();
        let prior = agreeing.iter().sum::<f64>() / known as f64;
        if !shared.is_empty() && prior > 0.0 && prior < 1.0 {
            let prior = prior.clamp(PRIOR_MARGIN, 1.0 - PRIOR_MARGIN);
            nodes.push(Node { shared: shared.len(), agreeing, steps: steps.clone(), prior });
        }
        clusters.push(steps);
    }
    nodes
}

impl FittedMethod for HierarchicalAttributes {
    fn recognize(&self, instances: Prepared<'_>, candidates: Candidates) -> Result<Recognition> {
        let predictors = self.predictors.of(instances)?;
        let (attributes, classes) = (self.attributes.bits.nrows(), self.attributes.bits.ncols());
        let log = |sign: f64| {
            Mat::from_fn(attributes, predictors.ncols(), |m, i| log_sigmoid(sign * predictors[(m, i)]))
        };
        let own = self.attributes.scores((&log(1.0), &log(-1.0)), candidates);
        let range = candidates.range(self.known, classes - self.known);
        let weights = Mat::from_fn(range.len(), self.nodes.len(), |class, n| {
            let node = &self.nodes[n];
            let steps = node.steps[range.start + class];
            steps.map_or(0.0, |steps| self.discount[0].powi(steps) * node.shared as f64)
        });
        let terms = Mat::from_fn(self.nodes.len(), predictors.ncols(), |n, i| {
            log_sigmoid(predictors[(attributes + n, i)]) - self.nodes[n].prior.ln()
        });
        Ok(Scores { values: own + product(weights.as_ref(), terms.as_ref()) }.into())
    }
}

impl Stored for HierarchicalAttributes {
    fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = self.predictors.tensors();
        tensors.push(Tensor::vector("discount", &self.discount));
        tensors
    }

    fn read(file: &SafeTensors<'_>, recorded: &Recorded<'_>, semantics: &ClassSemantics) -> Result<Self> {
        let (attributes, nodes) = described(semantics)?;
        let predictors = Predictors::read(file, recorded, attributes.bits.nrows() + nodes.len())?;
        let discount = [unpack(file, "discount", Some(1), Some(1))?[(0, 0)]];
        Ok(Self { predictors, attributes, nodes, discount, known: recorded.known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_what_their_members_share_and_count_steps_from_classes() {
        // Known classes 0, 1, 2 and the unseen class 3; 0 and 3 are nearest, then 1, then 2.
        let positions = [0.0_f64, 2.0, 9.0, 0.5];
        let distances = Mat::from_fn(4, 4, |i, j| (positions[i] - positions[j]).abs());
        let bits = faer::mat![[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        let found = nodes(&bits, &distances, 3);
        // The root shares nothing.
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].steps, [Some(1), None, None, Some(1)]);
        // {0, 3} share attributes 0 and 2, with which class 1 agrees too.
        assert_eq!((found[0].shared, found[0].agreeing.as_slice()), (2, [1.0, 1.0, 0.0].as_slice()));
        assert_eq!(found[1].steps, [Some(2), Some(1), None, Some(2)]);
        assert!((found[1].prior - 2.0 / 3.0).abs() < 1e-12);
    }
}
