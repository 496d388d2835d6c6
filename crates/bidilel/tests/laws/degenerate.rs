//! Data at the edge: everything that is not an error must work and stay finite.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Cca, LatentSpaceLearner, Locality, Slpp};
use bidilel::dataset::{Dataset, Metric, Semantic, Visual};
use bidilel::pipeline::Pipeline;
use bidilel::task::{Choice, Task};
use bidilel::top_down::{Init, Lsm, Optimizer, Svr, TopDown};
use bidilel_math::{Observer, Silent};
use faer::Mat;
use std::sync::{Arc, Mutex};

use crate::support::{dataset, learners, pipelines, task, task_of};

/// The dataset with its first view replaced.
fn with_features(dataset: &Dataset, change: impl Fn(usize, usize, f32) -> f32, dim: usize) -> Dataset {
    let rows = &dataset.visual[0].rows;
    let mut features = Mat::<f32>::zeros(dim, rows.count());
    let mut row = vec![0.0; rows.dim()];
    for instance in 0..rows.count() {
        rows.read(instance, &mut row);
        for i in 0..dim {
            features[(i, instance)] = change(i, instance, row[i % rows.dim()]);
        }
    }
    let visual = Visual { name: "changed".to_owned(), origin: "a test".to_owned(), rows: Arc::new(features) };
    Dataset { visual: vec![visual], ..dataset.clone() }
}

fn all_work(task: &Task, pipelines: Vec<Pipeline>) {
    for pipeline in pipelines {
        let fitted = pipeline.fit(task, &Silent).unwrap_or_else(|error| panic!("{pipeline:?}: {error}"));
        let found = pipeline.recognize(&fitted, task.test.prepared(), &Silent).expect("a recognition");
        assert!(found.scores.distances().norm_max().is_finite(), "{pipeline:?}");
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, message: &str) {
        self.0.lock().expect("one thread").push(message.to_owned());
    }
}

#[test]
fn a_mapping_that_stops_at_its_limit_says_so_and_is_still_an_embedding() {
    let (task, notes) = (task(9), Notes::default());
    let hurried = |max_iterations| Pipeline {
        top_down: TopDown::Lsm(Lsm { max_iterations, ..Lsm::default() }),
        ..Pipeline::default()
    };
    let fitted = hurried(2).fit(&task, &notes).expect("an embedding");
    assert!(!fitted.embedding.converged && fitted.stress.is_finite());
    let said = notes.0.lock().expect("one thread").join(" ");
    assert!(said.contains("the mapping had not settled after 2 iterations"), "{said}");
    assert!(hurried(10_000).fit(&task, &Silent).expect("an embedding").embedding.converged);
}

#[test]
fn more_neighbors_than_instances() {
    let locality = Locality { neighbors: 10_000, ..Locality::default() };
    let slpp = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
    all_work(&task(10), vec![Pipeline { bottom_up: slpp, ..Pipeline::default() }]);
}

#[test]
fn duplicated_instances() {
    let copies =
        with_features(&dataset(11), |_, instance, value| if instance % 3 == 0 { 0.5 } else { value }, 24);
    all_work(&task_of(&copies), pipelines());
}

#[test]
fn constant_features_are_left_out_and_reported() {
    let constant = with_features(&dataset(12), |i, _, value| if i < 4 { 2.5 } else { value }, 24);
    let mut task = task_of(&constant);
    // After l2-normalization a constant varies; here it must stay constant.
    task.train.features.as_mut().subrows_mut(0, 4).fill(0.25);
    let notes = Notes::default();
    let space = learners()[0].fit(&task.training(), &notes).expect("a fit");
    assert!(notes.0.lock().expect("one thread")[0].contains("4 of 24 features are constant"));
    assert_eq!(space.visual_dim(), 24);
    all_work(&task, pipelines());
}

#[test]
fn more_features_than_instances() {
    let wide = with_features(
        &dataset(13),
        |i, instance, value| value + ((i * 7 + instance * 13) % 101) as f32 / 50.0,
        300,
    );
    let task = task_of(&wide);
    assert!(task.train.labels.len() < 300);
    all_work(&task, pipelines());
}

#[test]
fn known_classes_of_one_instance() {
    let mut small = dataset(14);
    let mut seen = vec![0; small.classes.len()];
    let keep: Vec<usize> = (0..small.labels.len())
        .filter(|&i| {
            let class = small.labels[i];
            seen[class] += 1;
            class.is_multiple_of(2) || seen[class] == 1
        })
        .collect();
    let rows = small.visual[0].rows.clone();
    let mut features = Mat::<f32>::zeros(rows.dim(), keep.len());
    keep.iter().enumerate().for_each(|(place, &i)| rows.read(i, features.col_as_slice_mut(place)));
    small.labels = keep.iter().map(|&i| small.labels[i]).collect();
    small.visual =
        vec![Visual { name: "few".to_owned(), origin: "a test".to_owned(), rows: Arc::new(features) }];
    all_work(&task_of(&small), pipelines());
}

#[test]
fn one_unseen_class() {
    let mut one = dataset(15);
    one.splits[0].kind = bidilel::dataset::SplitKind::Classes { unseen: vec![3], validation: vec![] };
    all_work(&task_of(&one), pipelines());
}

#[test]
fn classes_with_equal_descriptions() {
    let mut twins = dataset(16);
    for semantic in &mut twins.semantic {
        let first = semantic.vectors.col(0).to_owned();
        (1..6).for_each(|class| semantic.vectors.col_mut(class).copy_from(&first));
    }
    all_work(&task_of(&twins), pipelines());
}

/// The dataset with one description, a matrix of distances.
fn with_distances(dataset: &Dataset, distance: impl Fn(usize, usize) -> f64) -> Dataset {
    let classes = dataset.classes.len();
    let vectors = Mat::from_fn(classes, classes, |i, j| if i == j { 0.0 } else { distance(i, j) });
    let semantic = Semantic {
        name: "distances".to_owned(),
        origin: "a test".to_owned(),
        metric: Metric::Precomputed,
        vectors,
        dimension_names: None,
    };
    Dataset { semantic: vec![semantic], ..dataset.clone() }
}

fn lsm(optimizer: Optimizer, init: Init) -> Pipeline {
    Pipeline { top_down: TopDown::Lsm(Lsm { optimizer, init, ..Lsm::default() }), ..Pipeline::default() }
}

#[test]
fn classes_that_start_in_one_place_are_parted() {
    // All classes equally far from each other: the weighted mean is the same place for all unseen ones.
    let task = task_of(&with_distances(&dataset(19), |_, _| 1.0));
    let stress = |pipeline: Pipeline| pipeline.fit(&task, &Silent).expect("a fit").stress;
    let random = stress(lsm(Optimizer::Lbfgs, Init::Random { seed: 1 }));
    for optimizer in [Optimizer::Lbfgs, Optimizer::Descent, Optimizer::Smacof] {
        let found = stress(lsm(optimizer, Init::WeightedMean));
        assert!(found < random + 1e-6, "{optimizer:?}: {found}, from a random start {random}");
    }
}

#[test]
fn precomputed_distances_do_for_mapping_and_are_refused_where_vectors_are_needed() {
    let base = dataset(20);
    let task = task_of(&base);
    // The distances of the attributes, handed over as a matrix, lead to the same embedding.
    let mut unit = base.semantic[0].vectors.clone();
    bidilel_math::distance::normalize_columns(unit.as_mut());
    let all = bidilel_math::distance::pairwise(unit.as_ref(), unit.as_ref());
    let given = task_of(&with_distances(&base, |i, j| all[(i, j)]));
    let pipeline = Pipeline::default();
    let (from_vectors, from_distances) =
        (pipeline.fit(&task, &Silent).expect("a fit"), pipeline.fit(&given, &Silent).expect("a fit"));
    assert!((from_vectors.stress - from_distances.stress).abs() < 1e-9);
    for refused in [
        Pipeline { bottom_up: BottomUp::Cca(Cca::default()), ..Pipeline::default() },
        Pipeline { top_down: TopDown::Svr(Svr::default()), ..Pipeline::default() },
    ] {
        let error = refused.fit(&given, &Silent).expect_err("no vectors").to_string();
        assert!(error.contains("needs vectors"), "{error}");
    }
    // And they mix with vectors.
    let mut both = with_distances(&base, |i, j| all[(i, j)]);
    both.semantic.push(base.semantic[0].clone());
    let choice = Choice {
        semantic: vec![("distances".to_owned(), 0.5), ("attributes".to_owned(), 0.5)],
        ..Choice::default()
    };
    let mixed = Task::new(&both, &both.trials(None).expect("a split")[0], &choice, &Silent).expect("a task");
    assert!((pipeline.fit(&mixed, &Silent).expect("a fit").stress - from_vectors.stress).abs() < 1e-9);
}

#[test]
fn distances_of_wildly_different_sizes_end_in_a_result_or_an_error() {
    let wild = with_distances(&dataset(21), |i, j| if i + j == 7 { 0.0 } else { 1e13 });
    for optimizer in [Optimizer::Lbfgs, Optimizer::Descent, Optimizer::Smacof] {
        // Whatever it says, it does not panic.
        let _ = lsm(optimizer, Init::WeightedMean).fit(&task_of(&wild), &Silent);
    }
}

#[test]
fn known_classes_that_are_all_described_alike() {
    let mut alike = dataset(22);
    let unseen = alike.trials(None).expect("a split")[0].unseen.clone();
    for semantic in &mut alike.semantic {
        let first = semantic.vectors.col(0).to_owned();
        for class in (0..semantic.vectors.ncols()).filter(|class| !unseen.contains(class)) {
            semantic.vectors.col_mut(class).copy_from(&first);
        }
    }
    let task = task_of(&alike);
    let (with_cca, others): (Vec<_>, Vec<_>) = pipelines()
        .into_iter()
        .partition(|pipeline| matches!(pipeline.bottom_up, BottomUp::Cca(_) | BottomUp::CcaLda(_)));
    all_work(&task, others);
    for pipeline in with_cca {
        let error = pipeline.fit(&task, &Silent).expect_err("nothing to correlate with").to_string();
        assert!(error.contains("describes all known classes alike"), "{error}");
    }
}

#[test]
fn one_known_class_is_too_few_for_discriminants_only() {
    let mut one = dataset(23);
    let unseen = (1..one.classes.len()).collect();
    one.splits[0].kind = bidilel::dataset::SplitKind::Classes { unseen, validation: vec![] };
    let task = task_of(&one);
    for bottom_up in learners() {
        let discriminant = matches!(bottom_up, BottomUp::Lda(_) | BottomUp::Cca(_) | BottomUp::CcaLda(_));
        let outcome = Pipeline { bottom_up, ..Pipeline::default() }.fit(&task, &Silent);
        assert_eq!(outcome.is_err(), discriminant, "{:?}", outcome.err().map(|error| error.to_string()));
    }
}

#[test]
fn raw_features_whose_graph_vanishes_are_reported() {
    let raw = with_features(&dataset(17), |_, _, value| value * 1000.0, 24);
    let trials = raw.trials(None).expect("a split");
    let choice = bidilel::task::Choice { normalize: bidilel::task::Normalize::None, ..Default::default() };
    let task = Task::new(&raw, &trials[0], &choice, &Silent).expect("a sound task");
    let notes = Notes::default();
    learners()[0].fit(&task.training(), &notes).expect("a fit all the same");
    assert!(notes.0.lock().expect("one thread").iter().any(|note| note.contains("median graph weight")));
}

#[test]
fn impossible_settings_are_named() {
    let task = task(18);
    let fails = |locality: Locality| {
        let learner = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
        learner.fit(&task.training(), &Silent).expect_err("impossible").to_string()
    };
    assert!(
        fails(Locality { alpha: 0.0, ..Locality::default() })
            .contains("alpha must be a positive number, found 0")
    );
    assert!(fails(Locality { alpha: f64::NAN, ..Locality::default() }).contains("alpha"));
    assert!(fails(Locality { neighbors: 0, ..Locality::default() }).contains("neighbors must be at least 1"));
    let message = fails(Locality { dim: Some(25), ..Locality::default() });
    assert!(message.contains("dim must be between 1 and 24") && message.contains("found 25"), "{message}");
}
