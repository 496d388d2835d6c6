//! What a page shows of one run beyond its scores: points on a map, distances of classes, hubs, convergence.
//!
//! The map is a Sammon mapping of latent distances to the plane ([`bidilel_math::mds`]) of all classes and of up to
//! [`MAX_ANCHORS`] instances; further instances are placed among these. Of very many instances some at equal steps are
//! shown, and their number is told.

use std::collections::BTreeMap;

use bidilel::Candidates;
use bidilel::calibrate::Curve;
use bidilel::evaluate::Finished;
use bidilel::pipeline::Fitted;
use bidilel::recognize::{Recognition, mean_distances};
use bidilel::semantic::SemanticDistances;
use bidilel::{Mat, MatRef};
use bidilel_math::{Observer, mds};
use serde::{Deserialize, Serialize};

/// Instances whose places on the map depend on each other.
pub(crate) const MAX_ANCHORS: usize = 700;
/// Instances on a map.
pub(crate) const MAX_POINTS: usize = 10_000;
/// Pairs of classes whose distances are compared.
const MAX_PAIRS: usize = 4_000;
/// Points of the seen-unseen curve.
const MAX_CURVE_POINTS: usize = 300;
/// Best classes that are kept of an instance.
const GUESSES: usize = 3;

/// One run, for a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunData {
    /// Name of the trial.
    pub split: String,
    /// Seed.
    pub seed: u64,
    /// The command line that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Names of the known classes.
    pub known: Vec<String>,
    /// Names of the unseen classes.
    pub unseen: Vec<String>,
    /// Names of the classes that `truth` and `guesses` count.
    pub candidates: Vec<String>,
    /// How many test instances there were; those below may be a part of them.
    pub test_instances: usize,
    /// Instances, by their indices in the dataset.
    pub instances: Vec<usize>,
    /// Their classes.
    pub truth: Vec<usize>,
    /// Their best classes, best first: the first is the prediction.
    pub guesses: Vec<Vec<usize>>,
    /// Names of the instances, where they have some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Pictures of the instances, as `data:` addresses, where they are at hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
    /// Where classes and instances lie; none for methods without a latent space.
    pub map: Option<PointMap>,
    /// Semantic against latent distances; none for methods without a latent space.
    pub distances: Option<ClassDistances>,
    /// How many instances have a candidate among their `k` nearest, by `k`.
    pub hubs: BTreeMap<usize, Vec<usize>>,
    /// Iterations and costs of the top-down stage, one list per minimization.
    pub convergence: Vec<Vec<(usize, f64)>>,
    /// Accuracies of known and of unseen classes for every bias, where both are candidates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<SeenUnseenPoint>,
}

/// Accuracy of known and of unseen classes at one bias of the known ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenUnseenPoint {
    /// Of known classes.
    pub seen: f64,
    /// Of unseen classes.
    pub unseen: f64,
}

/// Places on a plane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PointMap {
    /// Sammon's stress of the classes and instances that were mapped together.
    pub stress: f64,
    /// How many these were.
    pub anchors: usize,
    /// Known classes.
    pub landmarks: Vec<(f64, f64)>,
    /// Unseen classes.
    pub embeddings: Vec<(f64, f64)>,
    /// Instances.
    pub points: Vec<(f64, f64)>,
}

/// Semantic and latent distances of pairs of classes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassDistances {
    /// How many pairs there are; those below may be a part of them.
    pub pairs: usize,
    /// A known and an unseen class.
    pub known_unseen: Vec<(f64, f64)>,
    /// Two unseen classes.
    pub unseen_unseen: Vec<(f64, f64)>,
}

impl RunData {
    /// Minimizations whose iterations are kept: as many as a chart has colors.
    pub const MAX_MINIMIZATIONS: usize = 5;

    /// The data of a run; `counts` are the `k` of hubs.
    ///
    /// # Errors
    /// Failed computations of the map.
    pub fn of(run: &Finished<'_>, counts: &[usize], watch: &dyn Observer) -> bidilel::Result<Self> {
        let Finished { trial, task, seed, fitted, recognition } = run;
        watch.stage("map");
        let candidates = task.candidates();
        // Test instances of known classes come first, where these are candidates.
        let seen = if candidates == Candidates::All { &trial.test_seen[..] } else { &[] };
        let (instances, truth) = ([seen, &trial.test].concat(), task.truth(candidates));
        let shown = evenly(instances.len(), MAX_POINTS);
        let scores = &recognition.scores;
        let guesses = |&row: &usize| scores.top(row, GUESSES).into_iter().map(|(class, _)| class).collect();
        let latent = fitted.latent();
        Ok(Self {
            split: trial.name.clone(),
            seed: *seed,
            known: task.known.clone(),
            unseen: task.unseen.clone(),
            candidates: task.names(candidates),
            test_instances: instances.len(),
            instances: shown.iter().map(|&row| instances[row]).collect(),
            truth: shown.iter().map(|&row| truth[row]).collect(),
            guesses: shown.iter().map(guesses).collect(),
            map: match latent {
                Some(fitted) => PointMap::of(fitted, recognition, &shown, watch)?,
                None => None,
            },
            distances: latent.map(|fitted| ClassDistances::of(fitted, &task.semantics.distances)),
            hubs: counts
                .iter()
                .filter(|&&k| k == 1 || k < scores.classes())
                .map(|&k| (k, hubs(recognition, k)))
                .collect(),
            curve: match candidates {
                Candidates::All => curve(&Curve::new(scores, task.known.len(), &truth)),
                Candidates::Known | Candidates::Unseen => Vec::new(),
            },
            ..Self::default()
        })
    }
}

/// The points of a curve at equal steps; the last one is where no known class is left.
fn curve(curve: &Curve) -> Vec<SeenUnseenPoint> {
    let points = curve.points();
    let mut chosen = evenly(points.len(), MAX_CURVE_POINTS);
    if let (Some(last), false) = (chosen.last_mut(), points.is_empty()) {
        *last = points.len() - 1;
    }
    chosen
        .into_iter()
        .map(|at| SeenUnseenPoint { seen: short(points[at].seen), unseen: short(points[at].unseen) })
        .collect()
}

impl PointMap {
    fn of(
        fitted: &Fitted,
        recognition: &Recognition,
        shown: &[usize],
        watch: &dyn Observer,
    ) -> bidilel::Result<Option<Self>> {
        let Some(latent) = &recognition.latent else { return Ok(None) };
        let (landmarks, spaces) = (fitted.landmarks.points.as_ref(), latent.spaces);
        // Refiners move the embeddings; what the predictions are from is shown.
        let moved = latent.embedding.ncols() == fitted.embedding.points.ncols();
        let embeddings = if moved { latent.embedding.as_ref() } else { fitted.embedding.points.as_ref() };
        let points = latent.points.as_ref().as_ref();
        let chosen = evenly(shown.len(), MAX_ANCHORS);
        let is_anchor: Vec<bool> =
            (0..shown.len()).map(|place| chosen.binary_search(&place).is_ok()).collect();
        let (near, far): (Vec<usize>, Vec<usize>) = (0..shown.len()).partition(|&place| is_anchor[place]);
        let columns = |places: &[usize]| -> Vec<usize> { places.iter().map(|&place| shown[place]).collect() };
        let anchors = stacked(&[landmarks, embeddings, gathered(points, &columns(&near)).as_ref()]);
        let among = mean_distances(anchors.as_ref(), anchors.as_ref(), spaces);
        let scaled = mds::sammon(among.as_ref(), 2, watch)
            .map_err(|source| bidilel::Error::Math { stage: "map", source })?;
        let others = gathered(points, &columns(&far));
        let placed = mds::place(
            scaled.points.as_ref(),
            mean_distances(anchors.as_ref(), others.as_ref(), spaces).as_ref(),
        );
        let (known, classes) = (landmarks.ncols(), landmarks.ncols() + embeddings.ncols());
        let pair = |from: &Mat<f64>, column: usize| (short(from[(0, column)]), short(from[(1, column)]));
        let mut places = vec![(0.0, 0.0); shown.len()];
        near.iter()
            .enumerate()
            .for_each(|(rank, &place)| places[place] = pair(&scaled.points, classes + rank));
        far.iter().enumerate().for_each(|(rank, &place)| places[place] = pair(&placed, rank));
        Ok(Some(Self {
            stress: scaled.stress,
            anchors: classes + near.len(),
            landmarks: (0..known).map(|column| pair(&scaled.points, column)).collect(),
            embeddings: (known..classes).map(|column| pair(&scaled.points, column)).collect(),
            points: places,
        }))
    }
}

impl ClassDistances {
    fn of(fitted: &Fitted, semantic: &SemanticDistances) -> Self {
        let (known, unseen) = (fitted.landmarks.points.as_ref(), fitted.embedding.points.as_ref());
        let spaces = fitted.space.spaces();
        let outer = mean_distances(known, unseen, spaces);
        let inner = mean_distances(unseen, unseen, spaces);
        let (rows, columns) = (known.ncols(), unseen.ncols());
        let (outer_pairs, inner_pairs) = (rows * columns, columns * columns.saturating_sub(1) / 2);
        let pairs = outer_pairs + inner_pairs;
        let share = |count: usize| evenly(count, MAX_PAIRS * count / pairs.max(1));
        let known_unseen = share(outer_pairs).into_iter().map(|pair| {
            let (i, j) = (pair % rows, pair / rows);
            (short(semantic.known_unseen[(i, j)]), short(outer[(i, j)]))
        });
        let of_unseen: Vec<(usize, usize)> = (0..columns).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
        let unseen_unseen = share(inner_pairs).into_iter().map(|pair| {
            let (i, j) = of_unseen[pair];
            (short(semantic.unseen_unseen.get(i, j)), short(inner[(i, j)]))
        });
        Self { pairs, known_unseen: known_unseen.collect(), unseen_unseen: unseen_unseen.collect() }
    }
}

/// How many instances have each candidate among their `k` nearest.
fn hubs(recognition: &Recognition, k: usize) -> Vec<usize> {
    let scores = &recognition.scores;
    let mut counts = vec![0; scores.classes()];
    for instance in 0..scores.instances() {
        scores.top(instance, k).iter().for_each(|&(class, _)| counts[class] += 1);
    }
    counts
}

/// At most `most` of `count` indices, at equal steps.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    if count <= most { (0..count).collect() } else { (0..most).map(|i| i * count / most).collect() }
}

fn gathered(points: MatRef<'_, f64>, columns: &[usize]) -> Mat<f64> {
    Mat::from_fn(points.nrows(), columns.len(), |i, j| points[(i, columns[j])])
}

/// Matrices of one height beside each other.
fn stacked(parts: &[MatRef<'_, f64>]) -> Mat<f64> {
    let mut all = Mat::zeros(parts.first().map_or(0, MatRef::nrows), parts.iter().map(MatRef::ncols).sum());
    let mut first = 0;
    for part in parts {
        all.as_mut().subcols_mut(first, part.ncols()).copy_from(part);
        first += part.ncols();
    }
    all
}

/// Four decimals: a pixel on a map is coarser.
fn short(value: f64) -> f64 {
    (1e4 * value).round() / 1e4
}

#[cfg(test)]
mod tests {
    use bidilel::evaluate::evaluate_with;
    use bidilel::{Experiment, Silent, Synthetic};

    use super::*;

    fn data() -> RunData {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0).unwrap();
        let mut data = None;
        evaluate_with(dataset, &Experiment::default(), &Silent, |run| -> bidilel::Result<()> {
            data = Some(RunData::of(&run, &[1, 5], &Silent)?);
            Ok(())
        })
        .unwrap();
        data.expect("one run")
    }

    #[test]
    fn the_data_of_a_run_come_back_from_json_and_agree_with_each_other() {
        let data = data();
        let text = serde_json::to_string(&data).unwrap();
        assert_eq!(serde_json::from_str::<RunData>(&text).unwrap(), data);
        let map = data.map.as_ref().expect("a latent space");
        assert_eq!((map.landmarks.len(), map.embeddings.len()), (data.known.len(), data.unseen.len()));
        assert_eq!((map.points.len(), data.truth.len()), (data.instances.len(), data.instances.len()));
        assert_eq!(data.hubs[&1].iter().sum::<usize>(), data.test_instances);
        assert!(map.stress > 0.0 && map.stress < 0.5, "{}", map.stress);
        let distances = data.distances.as_ref().expect("a latent space");
        let (known, unseen) = (data.known.len(), data.unseen.len());
        assert_eq!(distances.pairs, known * unseen + unseen * (unseen - 1) / 2);
        assert_eq!(distances.known_unseen.len(), known * unseen, "few enough for all");
        assert!(distances.known_unseen.iter().all(|&(semantic, latent)| semantic >= 0.0 && latent > 0.0));
    }

    #[test]
    fn a_map_is_nearer_to_latent_neighbors_than_to_others() {
        let data = data();
        let map = data.map.as_ref().expect("a latent space");
        let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
        let (mut own, mut other) = (0.0, 0.0);
        for (point, guesses) in map.points.iter().zip(&data.guesses) {
            own += apart(*point, map.embeddings[guesses[0]]);
            other += map.embeddings.iter().map(|embedding| apart(*point, *embedding)).sum::<f64>()
                / map.embeddings.len() as f64;
        }
        assert!(own < 0.9 * other, "{own} against {other}");
    }

    #[test]
    fn samples_are_evenly_spread() {
        assert_eq!(evenly(3, 10), [0, 1, 2]);
        assert_eq!(evenly(10, 4), [0, 2, 5, 7]);
        assert!(evenly(0, 4).is_empty() && evenly(4, 0).is_empty());
    }
}
