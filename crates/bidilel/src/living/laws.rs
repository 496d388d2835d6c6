//! Laws of models whose classes change.

use std::collections::BTreeMap;

use bidilel_math::Silent;
use faer::Mat;

use super::*;
use crate::dataset::Dataset;
use crate::landmarks::Landmarks;
use crate::latent_space::block_rows;
use crate::method::METHODS;
use crate::recognize::Candidates;
use crate::settings::{BottomUpName, MethodName, PostName, Settings, TopDownName};
use crate::synthetic::Synthetic;
use crate::task::{Choice, Task};
use crate::top_down::stress_from;

fn dataset() -> Dataset {
    Synthetic { scale: 0.3, ..Synthetic::default() }.generate(3).expect("a dataset")
}

fn settings(top_down: TopDownName) -> Settings {
    Settings { top_down: Some(top_down), ..Settings::default() }
}

fn fitted(settings: &Settings) -> Model {
    Model::fit(&dataset(), settings, None, 0, &Silent).expect("a fit")
}

/// An unseen class of a model, as one could describe it anew.
fn description(model: &Model, name: &str) -> NewClass {
    let class = model.position(model.class(name).expect("a class"));
    let vector = |one: &crate::semantic::Representation| one.raw.col_as_slice(class).to_vec();
    let semantics = &model.semantics.representations;
    NewClass {
        name: name.to_owned(),
        semantics: semantics.iter().map(|one| (one.name.clone(), vector(one))).collect(),
    }
}

fn invented(model: &Model, name: &str, shift: f64) -> NewClass {
    let vector = |one: &crate::semantic::Representation| {
        (0..one.raw.nrows()).map(|i| one.raw[(i, 0)] + shift * one.raw[(i, 3)]).collect()
    };
    let semantics = &model.semantics.representations;
    NewClass {
        name: name.to_owned(),
        semantics: semantics.iter().map(|one| (one.name.clone(), vector(one))).collect(),
    }
}

#[test]
fn a_class_that_came_and_went_leaves_the_same_file() {
    for top_down in
        [TopDownName::Lsm, TopDownName::Krr, TopDownName::LsmKrr, TopDownName::Svr, TopDownName::LsmSvr]
    {
        let mut model = fitted(&settings(top_down));
        let before = model.to_bytes().expect("bytes");
        let new = [invented(&model, "unicorn", 0.5), invented(&model, "phoenix", -0.3)];
        model.add_classes(&new, &Silent).expect("described");
        let bytes = model.to_bytes().expect("bytes");
        assert_eq!(Model::from_bytes(&bytes).expect("a model"), model, "{top_down:?}");
        model.remove_classes(&["phoenix", "unicorn"]).expect("it is there");
        assert!(model.to_bytes().expect("bytes") == before, "{top_down:?}");
    }
}

#[test]
fn nothing_but_the_new_class_moves() {
    let mut model = fitted(&settings(TopDownName::Lsm));
    let before = model.clone();
    model.add_classes(&[invented(&model, "unicorn", 0.5)], &Silent).expect("described");
    let (old, new) = (before.latent().expect("a space"), model.latent().expect("a space"));
    assert_eq!((&old.space, &old.landmarks), (&new.space, &new.landmarks));
    let kept = new.embedding.points.subcols(0, before.unseen.len());
    assert_eq!(kept, old.embedding.points.as_ref());
    assert_eq!(model.unseen[..before.unseen.len()], before.unseen);
    assert_eq!(model.unseen.last().map(String::as_str), Some("unicorn"));
}

/// Each class of a converged mapping is at the minimum of its part, so that it comes back to where it was.
#[test]
fn a_class_that_leaves_and_comes_back_is_recognized_as_before() {
    for top_down in [TopDownName::Lsm, TopDownName::Krr, TopDownName::LsmKrr] {
        let model = fitted(&settings(top_down));
        let name = model.unseen.last().expect("a class").clone();
        let mut again = model.clone();
        again.remove_classes(&[name.as_str()]).expect("it is there");
        again.add_classes(&[description(&model, &name)], &Silent).expect("described");
        assert_eq!(again.unseen, model.unseen);
        let points = |model: &Model| model.latent().expect("a space").embedding.points.clone();
        let away = (points(&again) - points(&model)).norm_max();
        assert!(away < 1e-6, "{top_down:?}: {away}");
    }
}

/// By regression, which has one answer.
#[test]
fn several_latent_spaces_are_joined_each_by_itself() {
    let learner = Settings { bottom_up: Some(BottomUpName::Latem), ..settings(TopDownName::Krr) };
    let mut model = fitted(&learner);
    assert!(model.latent().expect("a space").space.spaces() > 1);
    let before = model.to_bytes().expect("bytes");
    let name = model.unseen.last().expect("a class").clone();
    let (class, points) =
        (description(&model, &name), model.latent().expect("a space").embedding.points.clone());
    model.remove_classes(&[name.as_str()]).expect("it is there");
    model.add_classes(&[class], &Silent).expect("described");
    assert!((&model.latent().expect("a space").embedding.points - points).norm_max() < 1e-6);
    model.add_classes(&[invented(&model, "unicorn", 0.5)], &Silent).expect("described");
    model.remove_classes(&["unicorn"]).expect("it is there");
    assert_eq!(model.to_bytes().expect("bytes").len(), before.len());
}

/// A mapping may have several minima; the class is at one of them in every space.
#[test]
fn a_class_is_at_a_minimum_in_every_latent_space() {
    let learner = Settings { bottom_up: Some(BottomUpName::Latem), ..settings(TopDownName::Lsm) };
    let mut model = fitted(&learner);
    model.add_classes(&[invented(&model, "unicorn", 0.5)], &Silent).expect("described");
    let (fitted, last) = (model.latent().expect("a space"), model.unseen.len() - 1);
    assert!(fitted.embedding.converged);
    for rows in block_rows(fitted.space.dim(), fitted.space.spaces()) {
        let landmarks = rows.of(fitted.landmarks.points.as_ref()).to_owned();
        let points = rows.of(fitted.embedding.points.as_ref()).to_owned();
        for i in 0..points.nrows() {
            let at = |step: f64| {
                let mut moved = points.clone();
                moved[(i, last)] += step;
                stress_from(landmarks.as_ref(), moved.as_ref(), &model.semantics.distances, last)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(slope.abs() < 1e-6, "{slope}");
        }
    }
}

/// Methods that score classes by a map from descriptions score a class that came later as if it had been there.
#[test]
fn compared_methods_take_new_classes_or_say_that_they_must_be_fitted_again() {
    let (mut extended, mut refused) = (Vec::new(), Vec::new());
    let data = dataset();
    let task = Task::new(&data, &data.trials(None).expect("a split")[0], &Choice::default(), &Silent)
        .expect("a task");
    for info in METHODS.iter().filter(|info| info.kind == crate::method::Kind::Inductive) {
        if info.name == MethodName::Bidilel || info.name == MethodName::Cosine {
            continue;
        }
        let model = fitted(&Settings { method: Some(info.name), ..Settings::default() });
        let name = model.unseen.last().expect("a class").clone();
        let mut other = model.clone();
        if let Err(error) = other.remove_classes(&[name.as_str()]) {
            assert!(error.to_string().contains("another fit"), "{error}");
            assert_eq!(other, model, "a failure changes nothing");
            refused.push(info.name.to_string());
            continue;
        }
        let without = other.clone();
        match other.add_classes(&[description(&model, &name)], &Silent) {
            Err(error) => {
                assert!(error.to_string().contains("another fit"), "{error}");
                assert_eq!(other, without, "a failure changes nothing");
                refused.push(info.name.to_string());
                continue;
            }
            Ok(()) => extended.push(info.name.to_string()),
        }
        let file = other.to_bytes().expect("bytes");
        let other = Model::from_bytes(&file).expect("a model");
        let raw = task.test.features.as_ref();
        let scores = |model: &Model| model.recognize(raw, Candidates::All).expect("scores").scores.values;
        let away = (scores(&other) - scores(&model)).norm_max();
        assert!(away < 1e-6 * scores(&model).norm_max().max(1.0), "{}: {away}", info.name);
    }
    let expected =
        ["ale", "conse", "devise", "eszsl", "rr", "rr-reverse", "sje", "sse", "jlse", "latem", "sync", "sae"];
    assert_eq!(extended, expected);
    assert_eq!(refused, ["dap", "iap", "hat", "kdica", "exem", "exem-1nn"]);
}

#[test]
fn another_name_changes_nothing_else() {
    let mut model = fitted(&Settings::default());
    let before = model.clone();
    let (known, unseen) = (model.known[2].clone(), model.unseen[1].clone());
    model.rename_class(&known, "horse").expect("a free name");
    model.rename_class(&unseen, "zebra").expect("a free name");
    assert_eq!((model.known[2].as_str(), model.unseen[1].as_str()), ("horse", "zebra"));
    assert_eq!((&model.fitted, &model.semantics), (&before.fitted, &before.semantics));
    let error = model.rename_class("zebra", "horse").expect_err("it is taken");
    assert!(error.to_string().contains("has a class `horse` already; it is known"), "{error}");
    model.rename_class("zebra", &unseen).expect("its own name");
    model.rename_class("horse", &known).expect("its own name");
    assert_eq!(model, before);
    assert!(model.rename_class(&known, " ").is_err() && model.rename_class(&known, "a\nb").is_err());
}

/// The instances of an unseen class of the dataset, which nobody had labeled.
fn instances_of(task: &Task, class: usize) -> Mat<f32> {
    let own: Vec<usize> = (0..task.test.labels.len()).filter(|&i| task.test.labels[i] == class).collect();
    Mat::from_fn(task.test.features.nrows(), own.len(), |i, j| task.test.features[(i, own[j])])
}

#[test]
fn a_class_that_becomes_known_is_the_landmark_of_its_instances() {
    let data = dataset();
    let task = Task::new(&data, &data.trials(None).expect("a split")[0], &Choice::default(), &Silent)
        .expect("a task");
    for others in [Others::Stay, Others::EmbedAnew] {
        let mut model = fitted(&settings(TopDownName::LsmKrr));
        let before = model.clone();
        let features = instances_of(&task, 1);
        let fitted = model.latent().expect("a space");
        let points = fitted.space.project(features.as_ref()).expect("points");
        let labels = vec![0; points.ncols()];
        let expected = Landmarks::of(&fitted.space, features.as_ref(), &labels, 1).expect("a landmark");
        let name = model.unseen[1].clone();
        model.promote_class(&name, points.as_ref(), others, &Silent).expect("it is unseen");
        assert_eq!(model.known.last(), Some(&name));
        assert!(!model.unseen.contains(&name));
        let now = model.latent().expect("a space");
        let landmark = now.landmarks.points.col(model.known.len() - 1);
        assert!((landmark - expected.points.col(0)).norm_max() < 1e-12);
        assert_eq!(now.space, before.latent().expect("a space").space);
        // Everybody else's answer among the unseen classes stays, unless they are embedded anew.
        let (old, new) = (&before.latent().expect("a space").embedding.points, &now.embedding.points);
        assert_eq!(new.col(1) == old.col(2), others == Others::Stay);
        assert_eq!(Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model"), model);
        // No unit vector is nearer to its instances, where the description had put it included.
        let nearness = |class: faer::ColRef<'_, f64>| {
            let dots = points
                .col_iter()
                .map(|point| point.iter().zip(class.iter()).map(|(a, b)| a * b).sum::<f64>());
            dots.sum::<f64>() / class.norm_l2()
        };
        assert!(nearness(landmark) > nearness(old.col(1)));
        let error = model.promote_class(&name, points.as_ref(), others, &Silent).expect_err("it is known");
        assert!(error.to_string().contains("is known already"), "{error}");
    }
}

#[test]
fn instances_that_cancel_make_no_landmark() {
    let mut model = fitted(&Settings::default());
    let before = model.clone();
    let dim = model.latent().expect("a space").space.dim();
    let opposite = Mat::from_fn(dim, 2, |i, j| if i == 0 { 1.0 - 2.0 * j as f64 } else { 0.0 });
    for points in [opposite, Mat::zeros(dim, 0)] {
        let name = model.unseen[0].clone();
        let error = model.promote_class(&name, points.as_ref(), Others::Stay, &Silent).expect_err("nowhere");
        assert!(error.to_string().contains("no common direction"), "{error}");
        assert_eq!(model, before);
    }
}

#[test]
fn descriptions_that_do_not_fit_are_refused_and_change_nothing() {
    let mut model = fitted(&Settings::default());
    let before = model.clone();
    let name = model.semantics.representations[0].name.clone();
    let dim = model.semantics.representations[0].raw.nrows();
    let mut refused = |class: &str, key: &str, vector: Vec<f64>| {
        let semantics = BTreeMap::from([(key.to_owned(), vector)]);
        let new = NewClass { name: class.to_owned(), semantics };
        let error = model.add_classes(&[new], &Silent).expect_err("it does not fit");
        assert_eq!(model, before);
        error.to_string()
    };
    let known = before.known[0].clone();
    assert!(refused(&known, &name, vec![1.0; dim]).contains("already; it is known"));
    assert!(refused("unicorn", "nothing", vec![1.0; dim]).contains("no semantic representation `nothing`"));
    assert!(refused("unicorn", &name, vec![1.0; 2]).contains(&format!("expected {dim} numbers")));
    assert!(refused("unicorn", &name, vec![f64::NAN; dim]).contains("number 0"));
    assert!(refused("unicorn", &name, vec![0.0; dim]).contains("all zero"));
    let nothing = NewClass { name: "unicorn".to_owned(), semantics: BTreeMap::new() };
    let error = model.add_classes(&[nothing], &Silent).expect_err("nothing is said of it");
    assert!(error.to_string().contains("has no vector for"), "{error}");
    let twice = [invented(&model, "unicorn", 0.5), invented(&model, "unicorn", 0.6)];
    assert!(model.add_classes(&twice, &Silent).expect_err("twice").to_string().contains("given twice"));
    assert!(
        model.remove_classes(&["unicorn"]).expect_err("it is not there").to_string().contains("no class")
    );
    let all: Vec<String> = model.unseen.clone();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert!(model.remove_classes(&all).expect_err("the last").to_string().contains("last unseen class"));
    assert_eq!(model, before);
}

/// Attributes that are all given are the vector; those of another class bring the rest of its description.
#[test]
fn missing_attributes_are_taken_from_the_classes_that_agree_in_the_others() {
    let mut model = fitted(&Settings::default());
    let one = &mut model.semantics.representations[0];
    let dim = one.raw.nrows();
    let names: Vec<String> = (0..dim).map(|i| format!("has_trait::{i}")).collect();
    one.dimension_names = None;
    let error = model.complete_attributes("x", &[("a".to_owned(), 1.0)]).expect_err("no names");
    assert!(error.to_string().contains("no names of attributes"), "{error}");
    let one = &mut model.semantics.representations[0];
    one.dimension_names = Some(names.clone());
    let raw = one.raw.clone();
    let all: Vec<(String, f64)> = (0..dim).map(|i| (names[i].clone(), raw[(i, 4)])).collect();
    let whole = model.complete_attributes("x", &all).expect("names");
    assert_eq!(whole.vector, raw.col_as_slice(4));
    assert!(whole.filled.is_empty() && whole.neighbors.is_empty() && whole.beyond.is_empty());
    let part = model.complete_attributes("x", &all[..dim - 3]).expect("names");
    assert_eq!(part.filled, names[dim - 3..]);
    assert_eq!(part.neighbors[0].class, model.known[4]);
    assert!(part.neighbors[0].weight > 0.9, "{:?}", part.neighbors);
    assert!((part.neighbors.iter().map(|one| one.weight).sum::<f64>() - 1.0).abs() < 1e-12);
    for i in dim - 3..dim {
        let expected: f64 = part
            .neighbors
            .iter()
            .map(|one| one.weight * raw[(i, model.position(model.class(&one.class).expect("a class")))])
            .sum();
        assert!((part.vector[i] - expected).abs() < 1e-12);
    }
    // Spelled otherwise, and beyond what any class has.
    let far = model.complete_attributes("x", &[("Has trait 2".to_owned(), 99.0)]).expect("a name");
    assert_eq!(far.beyond[0].0, names[2]);
    let error = model.complete_attributes("x", &[("wings".to_owned(), 1.0)]).expect_err("no such");
    assert!(error.to_string().contains("no attribute `wings`"), "{error}");
}

#[test]
fn refiners_of_the_fit_stay_with_the_model() {
    let refined = Settings { post: Some(vec![PostName::SelfTraining]), ..Settings::default() };
    let mut model = fitted(&refined);
    model.add_classes(&[invented(&model, "unicorn", 0.5)], &Silent).expect("described");
    assert_eq!(model.method.post().len(), 1);
}
