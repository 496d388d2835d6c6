//! Data at the edge: everything that is not an error must work and stay finite.

use bidilel::bottom_up::{BottomUp, LatentSpaceLearner, Locality, Slpp};
use bidilel::dataset::{Dataset, Visual};
use bidilel::pipeline::Pipeline;
use bidilel::task::Task;
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
        let found = pipeline.recognize(&fitted, task.test.features.as_ref(), &Silent).expect("a recognition");
        assert!(found.distances.norm_max().is_finite(), "{pipeline:?}");
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
fn more_neighbours_than_instances() {
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
    // After l2-normalisation a constant varies; here it must stay constant.
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
