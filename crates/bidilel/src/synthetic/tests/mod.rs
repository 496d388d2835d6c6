//! Laws that every synthetic task keeps.

mod difficulty;

use super::*;
use crate::dataset::{Split, SplitKind};
use crate::error::Error;

fn draw(settings: &Synthetic, seed: u64) -> Dataset {
    settings.generate(seed).expect("settings are in range")
}

fn preset(name: &str, scale: f64) -> Synthetic {
    Synthetic { scale, ..Synthetic::preset(name).expect("a preset") }
}

fn rows(visual: &Visual) -> Vec<Vec<f64>> {
    let mut row = vec![0.0_f32; visual.rows.dim()];
    (0..visual.rows.count())
        .map(|i| {
            visual.rows.read(i, &mut row);
            row.iter().map(|&v| f64::from(v)).collect()
        })
        .collect()
}

fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-12);
    for value in &mut vector {
        *value /= length;
    }
    vector
}

fn mean<'a>(vectors: impl Iterator<Item = &'a Vec<f64>>, dim: usize) -> Vec<f64> {
    let mut sum = vec![0.0; dim];
    let mut count = 0.0;
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += v);
        count += 1.0;
    }
    sum.iter().map(|s| s / count).collect()
}

fn unseen(dataset: &Dataset) -> Vec<usize> {
    match &dataset.splits[0] {
        Split { kind: SplitKind::Classes { unseen, .. }, .. } => unseen.clone(),
        other => panic!("the first split is class-wise, not {other:?}"),
    }
}

#[test]
fn the_seed_decides_every_byte() {
    let settings = Synthetic::default();
    let bits = |seed| {
        let dataset = draw(&settings, seed);
        let features: Vec<u64> = dataset.visual.iter().flat_map(rows).flatten().map(f64::to_bits).collect();
        let semantics: Vec<u64> = dataset
            .semantic
            .iter()
            .flat_map(|s| (0..s.vectors.ncols()).flat_map(|c| s.vectors.col_as_slice(c)))
            .map(|v| v.to_bits())
            .collect();
        (features, semantics, dataset.labels, dataset.splits)
    };
    assert!(bits(3) == bits(3));
    let (this, other) = (bits(3), bits(4));
    assert!(this.0 != other.0 && this.1 != other.1 && this.2 != other.2 && this.3 != other.3);
}

#[test]
fn threads_do_not_change_a_bit() {
    let settings = Synthetic { instances_per_class: 60.0, ..Synthetic::default() };
    let drawn = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| rows(&draw(&settings, 1).visual[0]))
    };
    assert!(drawn(1) == drawn(4));
}

#[test]
fn presets_have_the_sizes_of_the_benchmarks() {
    for (name, classes, unseen_count, attributes, instances) in
        [("small", 25, 5, 40, 1_000), ("awa", 50, 10, 85, 30_475), ("cub", 200, 50, 312, 11_788)]
    {
        let settings = preset(name, 0.2);
        let dataset = draw(&settings, 0);
        assert_eq!(dataset.classes.len(), classes);
        assert_eq!(unseen(&dataset).len(), unseen_count);
        assert_eq!(dataset.semantic[0].vectors.shape(), (attributes, classes));
        assert!(dataset.labels.len().abs_diff(instances / 5) <= 1, "{name}: {}", dataset.labels.len());
        for visual in &dataset.visual {
            assert_eq!(visual.rows.count(), dataset.labels.len());
        }
        assert!((0..classes).all(|class| dataset.labels.iter().filter(|&&l| l == class).count() >= 2));
        let mut names = dataset.classes.clone();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), classes);
    }
}

#[test]
fn splits_are_disjoint_sorted_and_of_the_asked_size() {
    let settings = Synthetic::default();
    let dataset = draw(&settings, 0);
    let SplitKind::Classes { unseen, validation } = &dataset.splits[0].kind else { panic!("class-wise") };
    let SplitKind::Family { trials } = &dataset.splits[1].kind else { panic!("a family") };
    assert_eq!((unseen.len(), validation.len(), trials.len()), (5, 5, 5));
    assert!(unseen.iter().all(|class| !validation.contains(class)));
    for classes in trials.iter().chain([unseen, validation]) {
        assert!(classes.is_sorted() && classes.len() == 5 && classes.iter().all(|&class| class < 25));
    }
    let without = draw(&Synthetic { trials: 0, validation: 0, ..settings }, 0);
    assert_eq!(without.splits.len(), 1);
}

#[test]
fn attributes_are_percentages_and_correlated() {
    let dataset = draw(&preset("awa", 0.01), 0);
    let vectors = &dataset.semantic[0].vectors;
    let centered: Vec<Vec<f64>> = (0..vectors.nrows())
        .map(|a| {
            let values: Vec<f64> = vectors.row(a).iter().copied().collect();
            assert!(values.iter().all(|v| (0.0..=100.0).contains(v)));
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            unit(values.iter().map(|v| v - mean).collect())
        })
        .collect();
    let mut strongest = 0.0;
    for (a, one) in centered.iter().enumerate() {
        let correlation = |other: &Vec<f64>| one.iter().zip(other).map(|(x, y)| x * y).sum::<f64>().abs();
        strongest += centered.iter().skip(a + 1).map(correlation).fold(0.0, f64::max);
    }
    // Of 42 independent attributes of 50 classes, the strongest correlation would be about 0.35.
    assert!(strongest / centered.len() as f64 > 0.45, "{}", strongest / centered.len() as f64);
}

#[test]
fn features_have_the_asked_for_share_of_zeros() {
    for sparsity in [0.0, 0.3, 0.6, 0.8] {
        let dataset = draw(&Synthetic { sparsity, ..Synthetic::default() }, 0);
        for visual in &dataset.visual {
            let features: Vec<f64> = rows(visual).into_iter().flatten().collect();
            assert!(features.iter().all(|v| v.is_finite() && *v >= 0.0));
            let zeros = features.iter().filter(|&&v| v == 0.0).count() as f64 / features.len() as f64;
            assert!((zeros - sparsity).abs() < 0.05, "{zeros} for {sparsity}");
        }
    }
}

#[test]
fn extreme_but_valid_settings_give_finite_features() {
    let settings = Synthetic {
        known: 2,
        unseen: 1,
        validation: 0,
        groups: 7,
        factors: 2,
        attributes: 1,
        word_dim: 1,
        instances_per_class: 2.0,
        spread: 0.0,
        noise: 0.0,
        view_overlap: 0.0,
        ..Synthetic::default()
    };
    let dataset = draw(&settings, 0);
    assert!(dataset.visual.iter().flat_map(rows).flatten().all(f64::is_finite));
}

#[test]
fn settings_out_of_range_are_named() {
    let message = |settings: Synthetic| settings.generate(0).expect_err("out of range").to_string();
    let sound = Synthetic::default;
    assert_eq!(message(Synthetic { unseen: 0, ..sound() }), "unseen must be at least 1, found 0");
    assert_eq!(
        message(Synthetic { validation: 20, ..sound() }),
        "validation must be below known (20), found 20"
    );
    assert_eq!(
        message(Synthetic { semantic_gap: f64::NAN, ..sound() }),
        "semantic_gap must be at least 0 and at most 1, found NaN"
    );
    assert_eq!(message(Synthetic { scale: 0.0, ..sound() }), "scale must be above 0 and at most 1, found 0");
    assert_eq!(message(Synthetic { views: vec![], ..sound() }), "views must be at least 1, found 0");
    let twice = vec![View { name: "cnn".to_owned(), dim: 4 }; 2];
    assert_eq!(
        message(Synthetic { views: twice, ..sound() }),
        "a view's name must be not empty and unique, found `cnn`"
    );
    assert!(matches!(Synthetic::preset("sun"), Err(Error::Setting { setting: "preset", .. })));
    assert!(PRESETS.iter().all(|name| Synthetic::preset(name).is_ok_and(|preset| preset.name == *name)));
}

#[test]
fn settings_survive_json_and_default_what_is_left_out() {
    let settings = preset("cub", 0.5);
    let text = serde_json::to_string(&settings).expect("plain data");
    assert_eq!(serde_json::from_str::<Synthetic>(&text).expect("what was written"), settings);
    let partial: Synthetic = serde_json::from_str(r#"{"spread": 0.5}"#).expect("one knob");
    assert_eq!(partial, Synthetic { spread: 0.5, ..Synthetic::default() });
    assert!(serde_json::from_str::<Synthetic>(r#"{"spraed": 0.5}"#).is_err());
}

#[test]
fn every_class_has_an_attribute_however_few_there_are() {
    let settings = Synthetic { attributes: 2, ..Synthetic::default() };
    for seed in 0..20 {
        let dataset = settings.generate(seed).expect("sound settings");
        for column in dataset.semantic[0].vectors.col_iter() {
            assert!(column.iter().any(|&value| value > 0.0));
        }
    }
}
