//! The same seed gives the same bytes, for any number of threads.

use bidilel::model::Model;
use bidilel::task::Normalize;
use bidilel_math::Silent;

use crate::support::{pipelines, task};

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
                    pipeline.recognize(&fitted, task.test.features.as_ref(), &Silent).expect("a recognition");
                let model = Model::new("small", Normalize::L2, &task, &pipeline, fitted);
                (model.to_bytes().expect("a file"), found.distances)
            })
            .collect::<Vec<_>>()
    };
    let one = in_pool(1, run);
    assert_eq!(in_pool(2, run), one);
    assert_eq!(in_pool(3, run), one);
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
