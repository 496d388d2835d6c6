//! What holds for every row of the table.

use std::collections::HashSet;

use serde_json::Value;

use super::*;
use crate::synthetic::Synthetic;
use crate::tune::Axis;

/// Some value of a setting, and another.
fn samples(row: &Setting) -> [Vec<String>; 2] {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    match (row.range, row.kind) {
        (Range::Shares, _) => [texts(&["a=1", "b=3"]), texts(&["a=1", "b=2"])],
        (Range::Kernels, _) => [texts(&["rbf"]), texts(&["linear"])],
        (_, Kind::Float) => [texts(&["0.25"]), texts(&["0.75"])],
        (_, Kind::Count) => [texts(&["3"]), texts(&["4"])],
        (_, Kind::Flag) => [texts(&["true"]), texts(&["false"])],
        (_, Kind::Name(names) | Kind::Names(names)) => [texts(&names[..1]), texts(&names[names.len() - 1..])],
        (_, Kind::Texts) => [texts(&["a", "b"]), texts(&["a"])],
        (_, Kind::Floats) => [texts(&["0.5", "0.5"]), texts(&["1"])],
    }
}

fn assigned(base: &Settings, row: &Setting, texts: &[String]) -> Settings {
    let mut settings = base.clone();
    assert!(settings.assign(row.name, texts), "{} = {texts:?}", row.name);
    settings
}

/// Every choice of a learner, an embedder, refiners and views.
fn pipelines() -> Vec<Settings> {
    let mut all = Vec::new();
    for &learner in BottomUpName::NAMES {
        for &embedder in TopDownName::NAMES {
            for &refiner in PostName::NAMES {
                for views in [&["a"][..], &["a", "b"]] {
                    all.push(Settings {
                        visual: Some(views.iter().map(|&name| name.to_owned()).collect()),
                        bottom_up: BottomUpName::parse(learner),
                        top_down: TopDownName::parse(embedder),
                        post: PostName::parse(refiner).map(|refiner| vec![refiner]),
                        ..Settings::default()
                    });
                }
            }
        }
    }
    all
}

/// Rows that a part of the pipeline reads, and that do not choose the part.
fn parameters() -> impl Iterator<Item = &'static Setting> {
    TABLE.iter().filter(|row| {
        matches!(row.owner, Owner::BottomUp(_) | Owner::TopDown(_) | Owner::Refiner(_) | Owner::Shared(..))
            || (row.owner == Owner::Fusion && row.range != Range::Kernels)
    })
}

#[test]
fn names_are_unique_and_rows_complete() {
    let names: HashSet<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), TABLE.len());
    for row in TABLE {
        assert!(
            !row.help.is_empty() && row.value_name.is_empty() == (row.kind == Kind::Flag),
            "{}",
            row.name
        );
        assert!(row.excludes.is_none_or(|other| setting(other).is_some()), "{}", row.name);
        assert!(row.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{}", row.name);
    }
    for checked in [
        "view_weights",
        "semantic_weights",
        "kernel",
        "gamma",
        "alpha",
        "neighbors",
        "ridge",
        "svr_c",
        "svr_epsilon",
        "svr_nu",
        "svr_gamma",
        "nystrom_rank",
        "kernel_memory",
        "self_training_neighbors",
    ] {
        assert_ne!(setting(checked).map(|row| row.range), Some(Range::Any), "{checked}");
        assert!(setting(checked).is_some(), "{checked}");
    }
}

#[test]
fn every_setting_comes_back_from_a_file_and_is_a_key_of_grids() {
    for row in TABLE {
        for texts in samples(row) {
            let given = assigned(&Settings::default(), row, &texts);
            given.check().unwrap_or_else(|error| panic!("{texts:?}: {error}"));
            let entries = given.entries();
            assert_eq!(entries.keys().collect::<Vec<_>>(), [row.name]);
            assert_eq!(Settings::default().with(&entries).unwrap(), given);
            let file = serde_json::to_string(&given).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&file).unwrap(), given);
            let dashed = Map::from_iter([(row.name.replace('_', "-"), entries[row.name].clone())]);
            assert_eq!(Settings::default().with(&dashed).unwrap(), given, "dashes are as good");
            let axis = Axis { name: row.name.to_owned(), values: vec![entries[row.name].clone()] };
            assert_eq!(axis.over(&Settings::default()).unwrap(), [given]);
        }
        let wrong = Map::from_iter([(row.name.to_owned(), Value::from(vec![Value::Null]))]);
        assert!(Settings::default().with(&wrong).is_err(), "{}", row.name);
        assert!(!Settings::default().assign(row.name, &[]) || row.kind.is_list(), "{}", row.name);
    }
    let unknown = Map::from_iter([("alfa".to_owned(), Value::from(1))]);
    assert!(Settings::default().with(&unknown).unwrap_err().to_string().contains("unknown field `alfa`"));
}

#[test]
fn numbers_out_of_range_are_refused_by_the_name_of_their_setting() {
    for row in TABLE.iter().filter(|row| row.range != Range::Any && !row.kind.is_list()) {
        let outside = if row.kind == Kind::Count { "0" } else { "-1" };
        let error = assigned(&Settings::default(), row, &[outside.to_owned()]).check().unwrap_err();
        assert!(matches!(&error, Error::Setting { setting, .. } if *setting == row.name), "{error}");
        let expected = format!("{} must be {}, found {outside}", row.name.replace('_', "-"), row.range);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn what_does_not_matter_is_left_out_and_read_by_no_part() {
    for base in pipelines() {
        for row in TABLE {
            let [texts, _] = samples(row);
            let given = assigned(&base, row, &texts);
            let effective = given.effective();
            assert_eq!(effective.entries().contains_key(row.name), row.matters(&given), "{}", row.name);
            assert_eq!(
                BottomUp::from_settings(&given, 1),
                BottomUp::from_settings(&effective, 1),
                "{}",
                row.name
            );
            assert_eq!(
                TopDown::from_settings(&given, 1),
                TopDown::from_settings(&effective, 1),
                "{}",
                row.name
            );
            assert_eq!(Post::from_settings(&given), Post::from_settings(&effective), "{}", row.name);
            assert_eq!(effective.effective(), effective);
        }
    }
}

#[test]
fn what_matters_makes_a_difference() {
    for base in pipelines() {
        for row in parameters() {
            let [one, other] = samples(row).map(|texts| assigned(&base, row, &texts));
            let differ = one.pipeline(1) != other.pipeline(1);
            assert_eq!(differ, row.matters(&one) && row.matters(&other), "{} in {base:?}", row.name);
        }
    }
}

#[test]
fn defaults_that_are_shown_are_those_in_force() {
    for base in pipelines() {
        for row in TABLE {
            let SettingDefault::Is(text) = row.default else { continue };
            // The learner and its like are given in `base`; fused views have the regularizer of kernels.
            let fused = base.is_fused() && row.name == "regularizer";
            if base.entries().contains_key(row.name) || fused {
                continue;
            }
            let given = assigned(&base, row, &[text.to_owned()]);
            assert_eq!(given.pipeline(1), base.pipeline(1), "{} = {text}", row.name);
        }
    }
    let mut plain = Settings::default();
    for name in ["method", "bottom_up", "top_down", "post"] {
        let row = setting(name).unwrap();
        let SettingDefault::Is(text) = row.default else { panic!("{name} has a default") };
        plain = assigned(&plain, row, &[text.to_owned()]);
    }
    assert_eq!(plain.pipeline(1), Settings::default().pipeline(1));
    assert_eq!(Settings::default().pipeline(0), Pipeline::default());
}

#[test]
fn defaults_of_the_data_are_those_in_force() {
    let dataset = Synthetic::preset("small").unwrap().generate(0).unwrap();
    let semantic = dataset.semantic.iter().take(2).map(|one| one.name.clone()).collect();
    let base = Settings { semantic: Some(semantic), ..Settings::default() };
    let choice = |settings: &Settings| {
        let choice = settings.choice(&dataset).unwrap();
        (choice.visual, choice.semantic, choice.normalize)
    };
    for row in TABLE.iter().filter(|row| row.owner == Owner::Data) {
        let SettingDefault::Is(text) = row.default else { continue };
        assert_eq!(choice(&assigned(&base, row, &[text.to_owned()])), choice(&base), "{}", row.name);
    }
}

#[test]
fn settings_of_other_learners_and_methods_do_not_matter() {
    let given = Settings {
        bottom_up: Some(BottomUpName::Cca),
        alpha: Some(1.0),
        neighbors: Some(5),
        ridge: Some(2.0),
        self_training_neighbors: Some(20),
        ..Settings::default()
    };
    let kept: Vec<String> = given.effective().entries().keys().cloned().collect();
    assert_eq!(kept, ["bottom_up", "ridge"]);
    let compared = Setting { owner: Owner::Compared(&[]), ..Setting::BASE };
    assert!(!compared.matters(&given));
    let own = Setting { owner: Owner::Compared(&[MethodName::Bidilel]), ..Setting::BASE };
    assert!(own.matters(&given));
}
