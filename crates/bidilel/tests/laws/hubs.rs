//! Refiners of scores follow any method, alone or in a chain.

use bidilel::metrics::hubness;
use bidilel::post::{Batch, Post, SelfTraining, Structured, refined};
use bidilel::settings::{MethodName, Named, PostName};
use bidilel::{
    Candidates, Error, Experiment, Mat, Method, Model, Recognition, Refiner, Scores, Settings, Silent,
    Synthetic, Task, ZeroShotMethod, evaluate,
};

use crate::support::score_refiners;

fn all_post() -> Vec<PostName> {
    vec![PostName::Csls, PostName::Nrm, PostName::MutualProximity, PostName::GlobalCorrection]
}

#[test]
fn they_follow_every_method_and_survive_its_json() {
    let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(7).expect("data");
    let trial = &dataset.trials(None).expect("a split")[0];
    for &name in MethodName::NAMES.iter().filter(|&&name| name != "cosine") {
        let settings =
            Settings { method: MethodName::parse(name), post: Some(all_post()), ..Settings::default() };
        let method = Method::from_settings(&settings, 0);
        assert_eq!(method.post().len(), 4, "{name}");
        let json = serde_json::to_value(&method).expect(name);
        assert_eq!(json["post"].as_array().map(Vec::len), Some(4), "{json}");
        assert_eq!(serde_json::from_value::<Method>(json).expect(name), method);
        let choice = settings.choice(&dataset).expect("a choice");
        let task = Task::new(&dataset, trial, &choice, &Silent).expect("a task");
        let fitted = method.fit(&task, &Silent).expect(name);
        let mut steps = Vec::new();
        let step = |step: &str, found: &Recognition| {
            assert!(found.scores.values.norm_max().is_finite(), "{name} {step}");
            steps.push(step.to_owned());
        };
        method
            .recognize(&fitted, task.test.prepared(), Candidates::Unseen, &Batch::UNNAMED, step)
            .expect(name);
        assert_eq!(steps[1..], ["csls", "nrm", "mutual-proximity", "global-correction"], "{name}");
    }
}

#[test]
fn a_compared_method_keeps_its_refiners_in_a_model() {
    let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(2).expect("data");
    let settings = Settings {
        method: MethodName::parse("eszsl"),
        post: Some(vec![PostName::Csls]),
        csls_neighbors: Some(4),
        ..Settings::default()
    };
    let model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a fit");
    let read = Model::from_bytes(&model.to_bytes().expect("a file")).expect("a model");
    assert_eq!(read, model);
    assert_eq!(read.method.post(), settings.post());
    // Without refiners nothing is said about them.
    let plain = Method::from_settings(&Settings { post: None, ..settings }, 0);
    assert!(serde_json::to_value(&plain).expect("an object").get("post").is_none());
}

#[test]
fn a_latent_refiner_has_no_place_after_a_method_without_latent_points() {
    let scores = Scores { values: Mat::from_fn(3, 4, |i, j| ((i * 4 + j) % 5) as f64) };
    let outcome = Post::Structured(Structured::default()).refine(scores.into());
    assert!(matches!(outcome, Err(Error::NoLatentPoints { refiner: "structured" })), "{outcome:?}");
    // It has no effect on settings either.
    let post = Some(vec![PostName::Structured]);
    let settings = Settings { method: MethodName::parse("eszsl"), post, ..Settings::default() };
    assert!(Method::from_settings(&settings, 0).post().is_empty());
}

#[test]
fn latent_points_stay_for_the_refiners_that_follow() {
    let points = crate::support::random(3, 40, 5);
    let embedding = crate::support::random(3, 4, 6);
    let inductive = Recognition::nearest(points.into(), embedding);
    for refiner in score_refiners() {
        let found = refiner.refine(inductive.clone()).expect("scores");
        assert_eq!(found.latent, inductive.latent, "{}", refiner.name());
        assert_ne!(found.scores, inductive.scores, "{}", refiner.name());
        // Self-training takes the instances that are nearest by the refined scores.
        let train = Post::SelfTraining(SelfTraining { self_training_neighbors: 5, self_training_rounds: 1 });
        let chain = refined("inductive", inductive.clone(), &[refiner, train], &Batch::UNNAMED, |_, _| ())
            .expect("a chain");
        let moved = chain.latent.expect("points").embedding;
        assert_ne!(moved, inductive.latent.clone().expect("points").embedding);
    }
}

/// Hubs of a known kind: a class that is near to everything, by a constant on its scores.
#[test]
fn each_of_them_takes_instances_from_a_hub() {
    let noise = crate::support::random(8, 400, 3);
    let truth = |instance: usize| instance % 8;
    let values = Mat::from_fn(8, 400, |class, i| {
        let own = if truth(i) == class { 0.5 } else { 0.0 };
        let hub = if class == 0 { 0.6 } else { 0.0 };
        // Distances around 3, of which the hub has less.
        -(3.0 - own - hub + 0.4 * noise[(class, i)])
    });
    let scores = Scores { values };
    let right =
        |scores: &Scores| scores.labels().iter().enumerate().filter(|&(i, &label)| label == truth(i)).count();
    let before = (right(&scores), hubness(&scores, 1));
    for refiner in score_refiners() {
        let found = refiner.refine(scores.clone().into()).expect("scores").scores;
        let after = (right(&found), hubness(&found, 1));
        assert!(after.0 > before.0 && after.1 < before.1, "{}: {after:?}, {before:?}", refiner.name());
    }
}

#[test]
fn evaluation_counts_hubs_before_and_after() {
    let dataset = Synthetic { scale: 0.5, ..Synthetic::default() }.generate(7).expect("data");
    let settings =
        Settings { method: MethodName::parse("rr"), post: Some(vec![PostName::Csls]), ..Settings::default() };
    let experiment = Experiment { settings: settings.clone(), top: vec![1, 2], ..Experiment::default() };
    let evaluated = evaluate(dataset.clone(), &experiment, &Silent).expect("a run");
    let run = &evaluated.runs[0];
    let names: Vec<&str> = run.steps.iter().map(|step| &step.name[..]).collect();
    assert_eq!(names, ["inductive", "csls"]);
    assert_eq!(run.steps[1].hubness, Some(run.hubness[&1]));
    let plain = Experiment { settings: Settings { post: None, ..settings }, ..experiment };
    let plain = evaluate(dataset, &plain, &Silent).expect("a run");
    assert_eq!(run.steps[0], plain.runs[0].steps[0]);
    // Every instance has one best class.
    let instances: usize = run.confusion.iter().flatten().sum();
    assert_eq!(run.occurrences[&1].iter().sum::<usize>(), instances);
    assert_eq!(run.occurrences[&2].iter().sum::<usize>(), 2 * instances);
}
