//! The same seed gives the same bytes, for any number of threads.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Search, Slpp};
use bidilel::model::Model;
use bidilel::pipeline::Pipeline;
use bidilel::synthetic::{Synthetic, View};
use bidilel::task::Normalize;
use bidilel_math::Silent;

use crate::support::{pipelines, task, task_of};

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool").install(work)
}

#[test]
fn models_and_distances_have_the_same_bytes_for_one_two_and_three_threads() {
    let run = || {
        let task = task(6);
        pipelines()
            .into_iter()
            .map(|pipeline| {
                let fitted = pipeline.fit(&task, &Silent).expect("a fit");
                let found =
                    pipeline.recognize(&fitted, task.test.prepared(), &Silent).expect("a recognition");
                let model =
                    Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
                (model.to_bytes().expect("a file"), found.scores.distances())
            })
            .collect::<Vec<_>>()
    };
    let one = in_pool(1, run);
    assert_eq!(in_pool(2, run), one);
    assert_eq!(in_pool(3, run), one);
}

#[test]
fn approximate_neighbors_give_the_same_model_for_one_and_two_threads_and_recognize_as_well() {
    let made = Synthetic {
        known: 10,
        unseen: 4,
        instances_per_class: 200.0,
        views: vec![View { name: "cnn".to_owned(), dim: 24 }],
        ..Synthetic::default()
    };
    let task = task_of(&made.generate(1).expect("a task"));
    assert!(task.train.labels.len() > 1024, "fewer are searched exactly");
    let fit = |search| {
        let locality = Locality { search, ..Locality::default() };
        let bottom_up = BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
        let pipeline = Pipeline { bottom_up, ..Pipeline::default() };
        let fitted = pipeline.fit(&task, &Silent).expect("a fit");
        let found = pipeline.recognize(&fitted, task.test.prepared(), &Silent).expect("a recognition");
        let model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
        (model.to_bytes().expect("a file"), found.labels())
    };
    let (one, labels) = in_pool(1, || fit(Search::Approximate));
    let (two, _) = in_pool(2, || fit(Search::Approximate));
    assert!(one == two, "the bytes of the models differ");
    let (_, exact) = fit(Search::Exact);
    let same = labels.iter().zip(&exact).filter(|(one, other)| one == other).count();
    assert!(same as f64 > 0.98 * exact.len() as f64, "{same} of {}", exact.len());
}

#[test]
fn the_fingerprint_is_that_of_the_data() {
    assert_eq!(task(7).fingerprint(), task(7).fingerprint());
    assert_ne!(task(7).fingerprint(), task(8).fingerprint());
    let mut changed = task(7);
    changed.train.labels.swap(0, 1);
    let same_labels = changed.train.labels[0] == changed.train.labels[1];
    assert_eq!(changed.fingerprint() == task(7).fingerprint(), same_labels);
}
