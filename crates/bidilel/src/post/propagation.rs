//! Label propagation: the class shares of every instance are drawn towards those of its nearest test instances.
//!
//! A recognition gives every instance shares `$y_{ki}$` of the classes. Over the graph of the nearest test instances in the
//! latent space they become `$F = (1 - a) (I - a S)^{-1} Y$` ([`bidilel_math::propagation`]), the minimum of
//! `$$ a \sum_{ij} \frac{W_{ij}}2 \left\| \frac{f_i}{\sqrt{d_i}} - \frac{f_j}{\sqrt{d_j}} \right\|^2 + (1 - a) \sum_i \|f_i -
//! y_i\|^2 $$` for a weight $a$ of the neighbors. The answer is the class of the largest share. Scores are the logarithms of
//! the shares after propagation, which then sum to 1 for each instance, times the temperature: their softmax at
//! that temperature gives the shares again.
//!
//! The shares before are a softmax at a temperature $\tau$: of `$-d^2 / 2\tau$` where scores are minus distances $d$, which
//! after balanced refinement at the same temperature is its assignment; of $s / \tau$ after refiners of scores. Class
//! embeddings stay where they are, so that self-training may follow, while structured and balanced prediction start from them
//! and drop the shares.
//!
//! Where known classes are candidates, too, they take part: a bias that their scores have is subtracted first.
//!
//! # References
//! D. Zhou, O. Bousquet, T. Lal, J. Weston and B. Schölkopf, *Learning with local and global consistency*, 2004.

use faer::Mat;
use serde::{Deserialize, Serialize};

use bidilel_math::propagation::LocalGraph;
use bidilel_math::{Observer, Silent, backend};

use super::Balanced;
use crate::error::{Error, Result};
use crate::recognize::{Latent, Recognition, Scores, log_sum};
use crate::settings::{self, PostName, Settings};

/// Shares below this are not resolved by the solver; their order is that of the shares before propagation.
const RESOLVED: f64 = 1e-11;

/// Settings of label propagation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Propagation {
    /// Nearest instances that an instance is joined with: $k$; clipped to the number of others.
    pub propagation_neighbors: usize,
    /// Weight of the neighbors against the recognition before: $a$.
    pub propagation_weight: f64,
    /// Temperature of the shares before propagation: $\tau$.
    pub propagation_temperature: f64,
    /// What the scores before it are.
    pub propagation_of: ScoreKind,
}

/// What scores are, and with that what their softmax is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// Minus distances, whose squares count.
    #[default]
    Distances,
    /// Scores of any kind.
    Scores,
}

impl Default for Propagation {
    fn default() -> Self {
        Self {
            propagation_neighbors: 10,
            propagation_weight: 0.5,
            propagation_temperature: Balanced::default().balanced_temperature,
            propagation_of: ScoreKind::default(),
        }
    }
}

impl Propagation {
    /// As settings say, after these refiners.
    pub(super) fn from_settings(settings: &Settings, before: &[PostName]) -> Self {
        let default = Self::default();
        let last = before.iter().rfind(|name| **name != PostName::None);
        // Refiners that move embeddings measure distances again.
        let moves = |name: PostName| !name.needs_scores_only() && name != PostName::Propagation;
        let balanced = last == Some(&PostName::Balanced);
        let own = || if balanced { settings.balanced_temperature } else { None };
        Self {
            propagation_neighbors: settings.propagation_neighbors.unwrap_or(default.propagation_neighbors),
            propagation_weight: settings.propagation_weight.unwrap_or(default.propagation_weight),
            propagation_temperature: settings
                .propagation_temperature
                .or_else(own)
                .unwrap_or(default.propagation_temperature),
            propagation_of: if last.is_none_or(|name| moves(*name)) {
                ScoreKind::Distances
            } else {
                ScoreKind::Scores
            },
        }
    }

    /// The recognition after propagation.
    pub(super) fn refine(
        &self,
        latent: Latent,
        scores: &Scores,
        watch: Option<&dyn Observer>,
    ) -> Result<Recognition> {
        settings::check("propagation_neighbors", self.propagation_neighbors as f64)?;
        settings::check("propagation_weight", self.propagation_weight)?;
        settings::check("propagation_temperature", self.propagation_temperature)?;
        let (classes, instances) = (scores.classes(), scores.instances());
        let logs = self.log_shares(scores);
        if !(0..instances).all(|instance| logs.col_as_slice(instance).iter().all(|log| log.is_finite())) {
            let source = bidilel_math::Error::NotFinite { what: "a class share at this temperature" };
            return Err(Error::in_stage("propagation")(source));
        }
        let shares = Mat::from_fn(classes, instances, |class, instance| logs[(class, instance)].exp());
        let watch = watch.unwrap_or(&Silent);
        // One more shows ties at the last place.
        let lists = self.propagation_neighbors.saturating_add(1);
        let neighbors = backend::exact(latent.points.as_ref().as_ref(), lists, watch);
        let graph = LocalGraph::new(&neighbors, self.propagation_neighbors);
        let mut found = graph
            .propagate(shares.as_ref(), self.propagation_weight, watch)
            .map_err(Error::in_stage("propagation"))?;
        for instance in 0..instances {
            let column = found.col_as_slice_mut(instance);
            let sum: f64 = column.iter().sum();
            for (share, before) in column.iter_mut().zip(logs.col_as_slice(instance)) {
                let own = *share / sum;
                let log = if own > RESOLVED { own.ln() } else { RESOLVED.ln() + before.min(0.0) };
                *share = self.propagation_temperature * log;
            }
        }
        Ok(Recognition { scores: Scores { values: found }, latent: Some(latent) })
    }

    /// The logarithms of the shares before propagation: classes x instances.
    fn log_shares(&self, scores: &Scores) -> Mat<f64> {
        // A distance less a bias may be negative, and is then nearer than any other.
        let potential = |score: f64| match self.propagation_of {
            ScoreKind::Distances => score * score.abs() / 2.0,
            ScoreKind::Scores => score,
        };
        let mut logs = scores.values.clone();
        for instance in 0..logs.ncols() {
            let column = logs.col_as_slice_mut(instance);
            column.iter_mut().for_each(|value| *value = potential(*value));
            let sum = log_sum(column, self.propagation_temperature);
            column.iter_mut().for_each(|value| *value = *value / self.propagation_temperature - sum);
        }
        logs
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bidilel_math::distance::normalize_columns;

    use super::*;
    use crate::post::{Batch, BesideKnown, Post, Refiner, refined};

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 29 + j * 13) as f64 * 0.517).sin()
    }

    /// Unit points around the embeddings of `classes` classes.
    fn recognition(classes: usize, instances: usize) -> Recognition {
        let mut embedding = Mat::from_fn(5, classes, |i, j| wave(i, j + 100));
        normalize_columns(embedding.as_mut());
        let mut points = Mat::from_fn(5, instances, |i, j| embedding[(i, j % classes)] + 0.6 * wave(i, j));
        normalize_columns(points.as_mut());
        Recognition::nearest(Arc::new(points), embedding)
    }

    fn after(settings: &Propagation, before: &Recognition) -> Recognition {
        Post::Propagation(settings.clone()).refine(before.clone()).expect("a refinement")
    }

    fn turned(values: &Mat<f64>) -> Mat<f64> {
        let last = values.ncols() - 1;
        Mat::from_fn(values.nrows(), values.ncols(), |i, j| values[(i, last - j)])
    }

    #[test]
    fn shares_before_it_are_the_assignment_of_balanced_refinement() {
        let balanced = Balanced { balanced_strength: 0.0, ..Balanced::default() };
        let found = Post::Balanced(balanced.clone()).refine(recognition(3, 40)).expect("a refinement");
        let logs = Propagation::default().log_shares(&found.scores);
        let Latent { points, embedding, .. } = found.latent.expect("points");
        for i in 0..40 {
            let near: Vec<f64> = (0..3)
                .map(|k| (embedding.col(k).transpose() * points.col(i) / balanced.balanced_temperature).exp())
                .collect();
            let sum: f64 = near.iter().sum();
            (0..3).for_each(|k| assert!((logs[(k, i)].exp() - near[k] / sum).abs() < 1e-10));
        }
    }

    #[test]
    fn an_instance_among_those_of_another_class_goes_over_to_it() {
        // On the side of class 1, but with nine of class 0 around it.
        let angles =
            [-20, -10, 0, 10, 20, 25, 30, 35, 40, 48, 150, 160, 170].map(|d| f64::from(d).to_radians());
        let points = Mat::from_fn(2, 13, |i, j| if i == 0 { angles[j].cos() } else { angles[j].sin() });
        let embedding = Mat::from_fn(2, 2, |i, k| if i == k { 1.0 } else { 0.0 });
        let before = Recognition::nearest(Arc::new(points), embedding);
        assert_eq!(before.labels()[9], 1);
        let settings =
            Propagation { propagation_neighbors: 4, propagation_weight: 0.8, ..Propagation::default() };
        assert_eq!(after(&settings, &before).labels(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn the_order_of_instances_makes_no_difference_even_where_they_coincide() {
        let mut forward = recognition(3, 30);
        let latent = forward.latent.as_mut().expect("points");
        let points = Mat::from_fn(5, 30, |i, j| latent.points[(i, j % 12)]);
        latent.points = Arc::new(points);
        forward = Recognition::from(forward.latent.expect("points"));
        let latent = forward.latent.as_ref().expect("points");
        let backward = Recognition::nearest(Arc::new(turned(&latent.points)), latent.embedding.clone());
        for neighbors in [1, 2, 4, 10] {
            let settings = Propagation { propagation_neighbors: neighbors, ..Propagation::default() };
            let [one, other] = [&forward, &backward].map(|before| after(&settings, before).scores.values);
            assert!((one - turned(&other)).norm_max() < 1e-8, "{neighbors}");
        }
    }

    #[test]
    fn shares_come_back_from_the_scores_and_embeddings_stay() {
        let before = recognition(4, 50);
        let settings = Propagation::default();
        let once = after(&settings, &before);
        assert_eq!(once.latent, before.latent);
        for i in 0..50 {
            let shares = once.scores.probabilities(i, settings.propagation_temperature);
            let logs = once.scores.values.col_as_slice(i).iter();
            logs.zip(shares).for_each(|(log, share)| {
                assert!((log / settings.propagation_temperature - share.ln()).abs() < 1e-6);
            });
        }
        // With next to no weight of the neighbors a second propagation leaves everything as it is.
        let none = Propagation { propagation_weight: 1e-12, propagation_of: ScoreKind::Scores, ..settings };
        assert!((after(&none, &once).scores.values - &once.scores.values).norm_max() < 1e-6);
    }

    #[test]
    fn batches_that_say_nothing_keep_their_answers() {
        for (classes, instances) in [(3, 0), (3, 1), (1, 20), (3, 4)] {
            let before = recognition(classes, instances);
            for neighbors in [1, 10, usize::MAX] {
                let settings = Propagation { propagation_neighbors: neighbors, ..Propagation::default() };
                let found = after(&settings, &before);
                assert_eq!(found.labels().len(), instances);
                assert!(found.scores.values.norm_max().is_finite());
                if instances == 1 || classes == 1 {
                    assert_eq!(found.labels(), before.labels());
                }
            }
        }
        let latent = recognition(3, 25).latent.expect("points");
        let same = Mat::from_fn(5, 25, |i, _| latent.points[(i, 0)]);
        let before = Recognition::nearest(Arc::new(same), latent.embedding);
        assert_eq!(after(&Propagation::default(), &before).labels(), before.labels());
    }

    #[test]
    fn it_knows_what_came_before_it() {
        let settings = |text: &str| serde_json::from_str::<Settings>(text).expect("settings");
        let last = |text: &str| match settings(text).post().pop() {
            Some(Post::Propagation(found)) => (found.propagation_of, found.propagation_temperature),
            other => panic!("{other:?}"),
        };
        let own = Propagation::default().propagation_temperature;
        assert_eq!(last(r#"{"post": ["propagation"]}"#), (ScoreKind::Distances, own));
        assert_eq!(last(r#"{"post": ["csls", "structured", "propagation"]}"#), (ScoreKind::Distances, own));
        assert_eq!(last(r#"{"post": ["csls", "none", "propagation"]}"#), (ScoreKind::Scores, own));
        assert_eq!(last(r#"{"post": ["propagation", "propagation"]}"#), (ScoreKind::Scores, own));
        let balanced = r#"{"post": ["balanced", "propagation"], "balanced_temperature": 0.02"#;
        assert_eq!(last(&format!("{balanced}}}")), (ScoreKind::Distances, 0.02));
        let both = format!(r#"{balanced}, "propagation_temperature": 0.1}}"#);
        assert_eq!(last(&both), (ScoreKind::Distances, 0.1));
        let between =
            r#"{"post": ["balanced", "self-training", "propagation"], "balanced_temperature": 0.02}"#;
        assert_eq!(last(between), (ScoreKind::Distances, own));
    }

    #[test]
    fn where_the_bias_leaves_all_to_unseen_classes_it_is_that_of_unseen_classes_alone() {
        let before = recognition(5, 40);
        let latent = before.latent.as_ref().expect("points");
        let alone = Recognition::nearest(latent.points.clone(), latent.embedding.subcols(3, 2).to_owned());
        let post = [Post::Propagation(Propagation::default())];
        let beside = BesideKnown { known: 3, bias: 1e6 };
        let beside = beside.refined("x", before, &post, &Batch::UNNAMED, |_, _| ()).expect("refined");
        let alone = refined("x", alone, &post, &Batch::UNNAMED, |_, _| ()).expect("refined");
        assert!((beside.scores.values.subrows(3, 2) - alone.scores.values).norm_max() < 1e-9);
        // And where it leaves nothing to them, a known class is the answer everywhere.
        let nothing = BesideKnown { known: 3, bias: -1e6 };
        let found =
            nothing.refined("x", recognition(5, 40), &post, &Batch::UNNAMED, |_, _| ()).expect("refined");
        assert!(found.labels().iter().all(|&class| class < 3));
    }

    #[test]
    fn settings_out_of_range_and_distances_out_of_range_are_refused() {
        let before = recognition(3, 10);
        let refuse = |settings: Propagation| Post::Propagation(settings).refine(before.clone()).is_err();
        for weight in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(refuse(Propagation { propagation_weight: weight, ..Propagation::default() }));
        }
        assert!(refuse(Propagation { propagation_neighbors: 0, ..Propagation::default() }));
        assert!(refuse(Propagation { propagation_temperature: 0.0, ..Propagation::default() }));
        let mut far = before.clone();
        far.scores.values[(0, 0)] = -1e200;
        let failure = Post::Propagation(Propagation::default()).refine(far).expect_err("too far");
        assert_eq!(failure.to_string(), "propagation failed");
        let source = std::error::Error::source(&failure).expect("a reason").to_string();
        assert!(source.contains("not finite"), "{source}");
        let scores = Recognition::from(before.scores.clone());
        assert!(Post::Propagation(Propagation::default()).refine(scores).is_err(), "it needs points");
    }
}
