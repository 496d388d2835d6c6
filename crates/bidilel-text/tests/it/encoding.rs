//! Vectors of sentences.

use bidilel_text::{Error, Pooling, Template, TextSettings, describe};
use bidilel_vision::{NetworkOptions, Runtime};
use faer::Mat;

use crate::support::{class, encoder, files, fixture, runtimes};

/// Both compute in single precision, in another order.
const TOLERANCE: f64 = 1e-6;

fn references() -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(fixture("references.json")).unwrap()).unwrap()
}

fn sentences() -> Vec<String> {
    serde_json::from_value(references()["sentences"].clone()).unwrap()
}

fn expected(key: &str) -> Vec<Vec<f64>> {
    serde_json::from_value(references()[key].clone()).unwrap()
}

/// Vectors of the reference sentences, each as a class that has it as its description.
fn vectors(network: &str, settings: TextSettings, runtime: Runtime, batch: usize) -> Mat<f64> {
    let sentences = sentences();
    let classes: Vec<_> =
        sentences.iter().enumerate().map(|(i, text)| class(&i.to_string(), &[text])).collect();
    describe(&mut encoder(network, settings, runtime, batch), &classes, &|_, _| {}).unwrap().vectors
}

fn assert_close(found: &Mat<f64>, expected: &[Vec<f64>], what: &str) {
    assert_eq!((found.ncols(), found.nrows()), (expected.len(), expected[0].len()), "{what}");
    for (class, row) in expected.iter().enumerate() {
        for (value, expected) in found.col_as_slice(class).iter().zip(row) {
            assert!(
                (value - expected).abs() < TOLERANCE,
                "{what}: {value} instead of {expected} in row {class}"
            );
        }
    }
}

#[test]
fn every_pooling_is_that_of_python() {
    for runtime in runtimes() {
        for (name, pooling) in [
            ("mean", Pooling::Mean),
            ("cls", Pooling::Cls),
            ("eos", Pooling::Eos),
            ("pooled", Pooling::Pooled),
        ] {
            let settings = || TextSettings { pooling: Some(pooling), ..TextSettings::default() };
            assert_close(&vectors("tokens", settings(), runtime, 32), &expected(name), name);
            // Batches of one need no padding, and give the same.
            assert_close(&vectors("tokens", settings(), runtime, 1), &expected(name), name);
        }
    }
}

#[test]
fn what_is_not_said_is_found_out() {
    for runtime in runtimes() {
        let auto = TextSettings::default;
        // Tokens of BERT are averaged; its pooled output is for something else.
        assert_close(&vectors("tokens", auto(), runtime, 2), &expected("mean"), "tokens");
        // One input of int32 with a fixed length, at which long texts are cut.
        assert_close(&vectors("sentence", auto(), runtime, 2), &expected("sentence"), "sentence");
        // Without a mask, padding would change the mean: texts of other lengths go through by themselves.
        assert_close(&vectors("unmasked", auto(), runtime, 3), &expected("unmasked"), "unmasked");
    }
}

#[test]
fn long_texts_are_cut_and_said() {
    let classes = [class("short", &["a cat"]), class("long", &[&sentences()[3]])];
    let settings = TextSettings { max_tokens: Some(6), ..TextSettings::default() };
    let mut encoder = encoder("tokens", settings, Runtime::Rten, 8);
    let described = describe(&mut encoder, &classes, &|_, _| {}).unwrap();
    let uncut = references()["ids"][3].as_array().unwrap().len();
    let note = described.notes.join("\n");
    assert!(
        note.contains("1 of 2 texts have more than 6 tokens") && note.contains(&format!("({uncut})")),
        "{note}"
    );
    let exact = [class("short", &["a cat"]), class("long", &["it is a small"])];
    assert_eq!(describe(&mut encoder, &exact, &|_, _| {}).unwrap().vectors, described.vectors);
}

#[test]
fn several_sentences_are_the_mean_of_their_unit_vectors() {
    let template = |text: &str| Template::parse(text).unwrap();
    let templates = vec![template("a photo of a {}"), template("the {}")];
    let classes = [class("striped_cat", &[]), class("blue", &[])];
    let mut ensemble =
        encoder("tokens", TextSettings { templates, ..TextSettings::default() }, Runtime::Rten, 4);
    let found = describe(&mut ensemble, &classes, &|_, _| {}).unwrap();
    assert_eq!(found.sentences, 4);
    assert!(ensemble.settings.unit, "it is written down");
    let texts = ["a photo of a striped cat", "the striped cat", "a photo of a blue", "the blue"];
    let single: Vec<_> = texts.iter().map(|text| class(text, &[text])).collect();
    let mut plain = encoder("tokens", TextSettings::default(), Runtime::Rten, 4);
    let rows = describe(&mut plain, &single, &|_, _| {}).unwrap().vectors;
    assert!(!plain.settings.unit);
    let expected = |class: usize| -> Vec<f64> {
        let unit = |text: usize| {
            let row = rows.col(text).to_owned();
            let norm = row.norm_l2();
            (0..row.nrows()).map(move |i| row[i] / norm)
        };
        unit(2 * class).zip(unit(2 * class + 1)).map(|(a, b)| f64::midpoint(a, b)).collect()
    };
    assert_close(&found.vectors, &[expected(0), expected(1)], "ensemble");
    let settings = TextSettings { normalize: true, ..TextSettings::default() };
    let unit =
        describe(&mut encoder("tokens", settings, Runtime::Rten, 4), &single, &|_, _| {}).unwrap().vectors;
    (0..4).for_each(|text| assert!((unit.col(text).norm_l2() - 1.0).abs() < 1e-12));
}

#[test]
fn other_networks_and_texts_are_refused_with_reasons() {
    let options = NetworkOptions { runtime: Runtime::Rten, threads: 1, ..NetworkOptions::default() };
    let load = |settings: TextSettings, options: &NetworkOptions| {
        bidilel_text::SentenceEncoder::load(&files("tokens"), settings, options, 1).err().unwrap()
    };
    let layer = NetworkOptions { layer: Some("nothing".to_owned()), ..options.clone() };
    assert!(load(TextSettings::default(), &layer).to_string().contains("has no layer `nothing`"));
    let picture = fixture("../../../bidilel-vision/tests/fixtures/networks/mean.onnx");
    let files = bidilel_text::EncoderFiles::open(&picture, &fixture("tokenizer.json")).unwrap();
    let error =
        bidilel_text::SentenceEncoder::load(&files, TextSettings::default(), &options, 1).err().unwrap();
    assert!(error.to_string().contains("expected a text network"), "{error}");
    let mut eos = encoder(
        "sentence",
        TextSettings { pooling: Some(Pooling::Eos), ..TextSettings::default() },
        Runtime::Rten,
        1,
    );
    let error = describe(&mut eos, &[class("x", &[])], &|_, _| {}).unwrap_err();
    assert!(matches!(&error, Error::Pooling { .. }), "{error}");
    assert!(error.hint().is_some());
}
