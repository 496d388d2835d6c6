//! Learners of compatibilities as latent spaces: one for `sje`, several for `latem`.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use bidilel::bottom_up::BottomUp;
use bidilel::dataset::{Metric, Semantic};
use bidilel::method::{Latem, Sje};
use bidilel::recognize::mean_distances;
use bidilel::settings::{BottomUpName, Settings};
use bidilel::task::Normalize;
use bidilel::top_down::{Lsm, Svr, TopDown};
use bidilel::tune::{Evaluator, Forgetful, Holdout, folds, naive};
use bidilel::{
    Candidates, ClassEmbedder, Error, Experiment, Fitted, FittedMethod, Landmarks, LatentSpace, Map, Method,
    Model, Observer, Pipeline, Silent, ZeroShotMethod, evaluate,
};
use faer::Mat;

use crate::support::{dataset, refiners, task, task_of};

const MAPS: usize = 3;

fn pipelines() -> Vec<(Pipeline, usize)> {
    let latem = |latem_maps| BottomUp::Latem(Latem { latem_maps, ..Latem::default() });
    let with =
        |bottom_up, top_down| Pipeline { bottom_up, top_down, post: refiners(), ..Pipeline::default() };
    let svr = || TopDown::Svr(Svr { c: 1.0, ..Svr::default() });
    vec![
        (with(BottomUp::Sje(Sje::default()), TopDown::default()), 1),
        (with(BottomUp::Sje(Sje::default()), svr()), 1),
        (with(latem(MAPS), TopDown::default()), MAPS),
        (with(latem(MAPS), svr()), MAPS),
        (with(latem(1), TopDown::default()), 1),
    ]
}

/// Of points with the coordinates of several spaces below each other, those of one.
fn in_space(points: &Mat<f64>, space: usize, spaces: usize) -> Mat<f64> {
    let dim = points.nrows() / spaces;
    points.subrows(space * dim, dim).to_owned()
}

#[test]
fn every_space_has_the_semantic_dimensions_and_unit_vectors() {
    let task = task(1);
    for (pipeline, spaces) in pipelines() {
        let fitted = pipeline.fit(&task, &Silent).expect("a fit");
        let dim = 12 * spaces;
        assert_eq!((fitted.space.dim(), fitted.space.visual_dim(), fitted.space.spaces()), (dim, 24, spaces));
        assert_eq!(fitted.landmarks.points.shape(), (dim, 9));
        assert_eq!(fitted.embedding.points.shape(), (dim, 4));
        assert!(fitted.stress.is_finite() && fitted.stress >= 0.0);
        let points = fitted.space.project(task.test.features.as_ref()).expect("a projection");
        for space in 0..spaces {
            for all in [&points, &fitted.landmarks.points] {
                for column in in_space(all, space, spaces).col_iter() {
                    assert!((column.norm_l2() - 1.0).abs() < 1e-9);
                }
            }
        }
        let found = pipeline.recognize(&fitted, task.test.prepared(), &Silent).expect("a recognition");
        assert_eq!(found.scores.distances().shape(), (4, task.test.labels.len()));
        assert!(found.scores.distances().norm_max().is_finite());
    }
}

/// One of several spaces as a space of its own.
fn alone(fitted: &Fitted, space: usize) -> LatentSpace {
    let Map::Several { map, spaces } = &fitted.space.map else { panic!("several spaces") };
    let dim = map.ncols() / spaces;
    let mean = fitted.space.mean[space * dim..(space + 1) * dim].to_vec();
    LatentSpace { map: Map::Linear(map.subcols(space * dim, dim).to_owned()), mean }
}

#[test]
fn several_spaces_are_as_many_single_ones_whose_distances_and_stress_are_averaged() {
    let task = task(2);
    let pipeline = Pipeline {
        bottom_up: BottomUp::Latem(Latem { latem_maps: MAPS, ..Latem::default() }),
        ..Pipeline::default()
    };
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let found = fitted.recognize(task.test.prepared(), Candidates::All).expect("scores").scores.distances();
    let (mut distances, mut stress) = (Mat::<f64>::zeros(found.nrows(), found.ncols()), 0.0);
    for number in 0..MAPS {
        let space = alone(&fitted, number);
        let landmarks =
            Landmarks::of(&space, task.train.features.as_ref(), &task.train.labels, 9).expect("landmarks");
        assert!((&landmarks.points - in_space(&fitted.landmarks.points, number, MAPS)).norm_max() < 1e-12);
        let embedding = Lsm::default().embed(&landmarks, &task.semantics, &Silent).expect("an embedding");
        assert!((&embedding.points - in_space(&fitted.embedding.points, number, MAPS)).norm_max() < 1e-12);
        stress += bidilel::top_down::stress(
            landmarks.points.as_ref(),
            embedding.points.as_ref(),
            &task.semantics.distances,
        ) / MAPS as f64;
        let points = space.project(task.test.features.as_ref()).expect("a projection");
        for j in 0..found.ncols() {
            for class in 0..13 {
                let own =
                    if class < 9 { landmarks.points.col(class) } else { embedding.points.col(class - 9) };
                distances[(class, j)] += (own - points.col(j)).norm_l2() / MAPS as f64;
            }
        }
    }
    assert!((fitted.stress - stress).abs() < 1e-12);
    assert!((&found - &distances).norm_max() < 1e-7);
    assert_eq!(mean_distances(found.as_ref(), found.as_ref(), 1).shape(), (found.ncols(), found.ncols()));
}

#[test]
fn models_survive_being_written_and_read_and_predict_the_same() {
    let task = task(3);
    for (pipeline, spaces) in pipelines() {
        let fitted = pipeline.fit(&task, &Silent).expect("a fit");
        let scored = fitted.recognize(task.test.prepared(), Candidates::Unseen).expect("scores").scores;
        let model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
        let read = Model::from_bytes(&model.to_bytes().expect("a file")).expect("the same model");
        assert_eq!(read, model);
        assert_eq!(read.header().latent_spaces, (spaces > 1).then_some(spaces));
        let raw = Mat::from_fn(24, task.test.labels.len(), |i, j| 3.0 * task.test.features[(i, j)]);
        let blocks = read
            .recognize_views(&[(&raw, "rows")], 0..raw.ncols(), |_, found| found.scores.labels())
            .expect("a recognition");
        assert_eq!(blocks.concat(), scored.labels());
        assert_eq!(
            read.recognize(raw.as_ref(), Candidates::Unseen).expect("scores").labels(),
            scored.labels()
        );
        let again = read.method.fit(&task, &Silent).expect("a fit by the settings in the file");
        assert_eq!(again, read.fitted);
    }
}

#[test]
fn a_file_that_claims_an_impossible_number_of_spaces_is_refused() {
    let task = task(3);
    let (pipeline, _) = pipelines().remove(2);
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let model = Model::new("small", Normalize::L2, &task, &pipeline.into(), fitted.into());
    let bytes = model.to_bytes().expect("a file");
    for claim in ["0", "5", "7"] {
        let text = format!("\\\"latent_spaces\\\":{claim}");
        let lie = replaced(&bytes, b"\\\"latent_spaces\\\":3", text.as_bytes());
        let error = Model::from_bytes(&lie).expect_err("a lie").to_string();
        assert!(error.contains("latent spaces"), "{error}");
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|part| part == from).expect("the header says it");
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

#[test]
fn every_repeat_learns_with_its_own_seed() {
    for bottom_up in [BottomUpName::Sje, BottomUpName::Latem] {
        let settings = Settings { bottom_up: Some(bottom_up), ..Settings::default() };
        assert!(settings.is_random());
        let experiment = Experiment { settings: settings.clone(), repeats: 3, ..Experiment::default() };
        let runs = evaluate(dataset(4), &experiment, &Silent).expect("three runs").runs;
        assert!(runs[0].stress != runs[1].stress && runs[1].stress != runs[2].stress, "{bottom_up:?}");
        let last = Experiment { settings, seed: 2, ..Experiment::default() };
        assert_eq!(evaluate(dataset(4), &last, &Silent).expect("a run").runs[0], runs[2], "{bottom_up:?}");
    }
}

#[test]
fn tuning_scores_them_as_fits_of_their_own() {
    let dataset = dataset(5);
    let trial = dataset.trials(None).expect("a split").remove(0);
    let folds = folds(&dataset, &trial, Holdout::Random { share: 0.3, folds: 2, seed: 1 }).expect("folds");
    let choice = Settings::default().choice(&dataset).expect("representations");
    let mut evaluator =
        Evaluator::new(dataset.clone(), &trial, folds.clone(), &choice, 0, &Silent).expect("an evaluator");
    let read = |text: &str| serde_json::from_str::<Settings>(text).expect("settings");
    let batch = [
        read(r#"{"bottom_up": "sje", "sgd_epochs": 3}"#),
        read(r#"{"bottom_up": "latem", "latem_maps": 2, "post": ["self-training"]}"#),
        read(r#"{"bottom_up": "cca", "dim": 6}"#),
        read(r#"{"method": "latem"}"#),
    ];
    let found = evaluator.score(&batch, 0..2, &Forgetful, &Silent).expect("scores");
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    for (settings, scores) in batch.iter().zip(&found.values) {
        assert_eq!(evaluator.clipped(settings), (settings.clone(), None));
        for (fold, score) in folds.iter().zip(scores) {
            let expected = naive::score(&dataset, fold, settings, 0, &Silent).expect("a fit");
            assert!((score.expect("a score") - expected).abs() < 1e-9, "{settings:?}");
        }
    }
}

#[test]
fn kernels_of_views_are_followed_into_every_space() {
    let dataset = dataset(6);
    for bottom_up in [BottomUpName::Sje, BottomUpName::Latem] {
        for kernel in ["rbf", "linear"] {
            let list = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
            let settings = Settings {
                visual: list(&["cnn", "motion"]),
                kernel: list(&[kernel]),
                bottom_up: Some(bottom_up),
                ..Settings::default()
            };
            let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a model");
            assert_eq!(Model::from_bytes(&model.to_bytes().expect("a file")).expect("the same"), model);
            let spaces = if bottom_up == BottomUpName::Latem { Latem::default().latem_maps } else { 1 };
            assert_eq!(model.latent().expect("a space").space.spaces(), spaces, "{kernel}");
        }
    }
}

#[test]
fn descriptions_that_cannot_be_used_are_named() {
    let learners = [BottomUp::Sje(Sje::default()), BottomUp::Latem(Latem::default())];
    let fails = |data: &bidilel::Dataset, bottom_up: &BottomUp| {
        let pipeline = Pipeline { bottom_up: bottom_up.clone(), ..Pipeline::default() };
        pipeline.fit(&task_of(data), &Silent).expect_err("no use").to_string()
    };
    let base = dataset(7);
    let mut alike = base.clone();
    let unseen = alike.trials(None).expect("a split")[0].unseen.clone();
    for semantic in &mut alike.semantic {
        let first = semantic.vectors.col(0).to_owned();
        for class in (0..semantic.vectors.ncols()).filter(|class| !unseen.contains(class)) {
            semantic.vectors.col_mut(class).copy_from(&first);
        }
    }
    let mut distances = base.clone();
    let count = base.classes.len();
    let vectors = Mat::from_fn(count, count, |i, j| if i == j { 0.0 } else { 1.0 + ((i + j) % 3) as f64 });
    distances.semantic = vec![Semantic { vectors, metric: Metric::Precomputed, ..base.semantic[0].clone() }];
    for learner in &learners {
        assert!(fails(&alike, learner).contains("describes all known classes alike"));
        assert!(fails(&distances, learner).contains("needs vectors"));
    }
}

/// Cancels at a call of `poll`.
struct After(AtomicUsize, usize);

impl Observer for After {
    fn poll(&self) -> ControlFlow<()> {
        let cancel = self.0.fetch_add(1, Ordering::Relaxed) >= self.1;
        if cancel { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn descents_that_are_cancelled_end_with_an_error() {
    let task = task(8);
    for text in [r#"{"method": "ale"}"#, r#"{"bottom_up": "sje"}"#, r#"{"bottom_up": "latem"}"#] {
        let settings: Settings = serde_json::from_str(text).expect("settings");
        for limit in [0, 5, 100] {
            let outcome = Method::from_settings(&settings, 0).fit(&task, &After(AtomicUsize::new(0), limit));
            assert!(matches!(outcome, Err(Error::Cancelled)), "{text}: after {limit}");
        }
    }
}
