//! What every implementation of a role promises.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::BottomUp;
use bidilel::dataset::Metric;
use bidilel::method::AnyFitted;
use bidilel::model::{FORMAT_VERSION, Header, Model};
use bidilel::pipeline::Pipeline;
use bidilel::post::Batch;
use bidilel::task::{Normalize, Samples};
use bidilel::top_down::{Kernel, Svr, TopDown};
use bidilel_math::Silent;
use faer::Mat;
use safetensors::tensor::TensorView;

use crate::support::{pipelines, task};

#[test]
fn every_pipeline_fits_with_the_right_shapes_and_finite_numbers() {
    let task = task(1);
    for pipeline in pipelines() {
        let fitted = pipeline.fit(&task, &Silent).unwrap_or_else(|error| panic!("{pipeline:?}: {error}"));
        let dim = fitted.space.dim();
        assert_eq!(fitted.space.visual_dim(), 24);
        assert_eq!(fitted.landmarks.points.shape(), (dim, 9));
        assert_eq!(fitted.embedding.points.shape(), (dim, 4));
        assert!(fitted.stress.is_finite() && fitted.stress >= 0.0);
        for column in fitted.landmarks.points.col_iter() {
            assert!((column.norm_l2() - 1.0).abs() < 1e-9, "landmarks are unit vectors");
        }
        let found = pipeline.recognize(&fitted, task.test.prepared(), &Silent).expect("a recognition");
        assert_eq!(found.scores.distances().shape(), (4, task.test.labels.len()));
        assert!(found.scores.distances().norm_max().is_finite());
    }
}

#[test]
fn settings_and_models_survive_being_written_and_read() {
    let task = task(2);
    for pipeline in pipelines() {
        let json = serde_json::to_string(&pipeline).expect("settings are serialisable");
        assert_eq!(serde_json::from_str::<Pipeline>(&json).expect("and back"), pipeline, "{json}");
        let fitted = pipeline.fit(&task, &Silent).expect("a fit");
        let model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
        let bytes = model.to_bytes().expect("a file");
        assert_eq!(Model::from_bytes(&bytes).expect("the same model"), model);
    }
}

#[test]
fn a_feature_matrix_of_the_wrong_width_is_refused() {
    let task = task(3);
    let pipeline = Pipeline::default();
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let narrow = Samples { features: task.test.features.subrows(0, 7).to_owned(), labels: Vec::new() };
    let error =
        pipeline.recognize(&fitted, narrow.prepared(), &Silent).expect_err("seven features are not 24");
    assert!(error.to_string().contains("expected 24") && error.to_string().contains("found 7"), "{error}");
}

#[test]
fn what_was_left_open_is_written_down_as_it_turned_out() {
    let task = task(9);
    let top_down = TopDown::Svr(Svr::default());
    let pipeline = Pipeline { top_down, ..Pipeline::default() };
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let resolved = pipeline.resolved(&task, &fitted);
    let BottomUp::Slpp(slpp) = &resolved.bottom_up else { panic!("the default") };
    assert_eq!(slpp.locality.dim, Some(24));
    let TopDown::Svr(Svr { kernel: Kernel::Rbf { gamma: Some(gamma) }, .. }) = resolved.top_down else {
        panic!("a settled width")
    };
    assert!(gamma > 0.0);
    assert_eq!(resolved.fit(&task, &Silent).expect("the same fit"), fitted);
}

/// The same file with another header.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let (_, metadata) = safetensors::SafeTensors::read_metadata(bytes).expect("a header");
    let mut entries = metadata.metadata().clone().expect("entries");
    let mut header: serde_json::Value = serde_json::from_str(&entries["bidilel"]).expect("JSON");
    change(&mut header);
    entries.insert("bidilel".to_owned(), header.to_string());
    let file = safetensors::SafeTensors::deserialize(bytes).expect("tensors");
    safetensors::serialize(file.tensors(), Some(entries)).expect("a file")
}

#[test]
fn models_that_claim_the_impossible_are_refused() {
    let task = task(4);
    let pipeline = Pipeline::default();
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let sound = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
    let refused = |change: &dyn Fn(&mut Header)| {
        let bytes = sound.to_bytes().expect("a file");
        let lie = with_header(&bytes, |header| {
            let mut typed: Header = serde_json::from_value(header.clone()).expect("a header");
            change(&mut typed);
            *header = serde_json::to_value(typed).expect("JSON");
        });
        Model::from_bytes(&lie).expect_err("a lie").to_string()
    };
    assert!(refused(&|header| header.unseen.clear()).contains("semantic.attributes"));
    assert!(refused(&|header| header.known.clear()).contains("no known class"));
    assert!(
        refused(&|header| header.semantic[0].metric = Metric::Precomputed).contains("semantic.attributes")
    );
    assert!(refused(&|header| header.visual_dim = 7).contains("7 dimensions"));
    let overflowing = |header: &mut Header| {
        let view = header.visual.parts[0].clone();
        header.visual.parts.push(view);
        header.visual.parts.iter_mut().for_each(|view| view.dim = usize::MAX);
    };
    assert!(refused(&overflowing).contains("dimensions together"));
    assert!(refused(&|header| header.stress = None).contains("stress"));
    let AnyFitted::Bidilel(mut fitted) = sound.fitted.clone() else { panic!("the paper's method") };
    fitted.embedding.points[(0, 0)] = f64::NAN;
    let lie = Model { fitted: fitted.into(), ..sound };
    let error = Model::from_bytes(&lie.to_bytes().expect("a file")).expect_err("a lie").to_string();
    assert!(error.contains("embedding"), "{error}");
}

#[test]
fn damaged_model_files_are_refused_without_a_panic() {
    let task = task(4);
    let pipeline = Pipeline::default();
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let bytes = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into())
        .to_bytes()
        .expect("a file");
    for length in [0, 1, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
    for place in (0..bytes.len().min(4000)).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        // Some damage only changes a number or a name; none may panic.
        let _ = Model::from_bytes(&damaged);
    }
}

#[test]
fn headers_of_strangers_are_refused_without_a_panic() {
    let file = |header: &str| {
        let entries = [("bidilel".to_owned(), header.to_owned())].into();
        safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), Some(entries)).expect("a file")
    };
    for header in
        ["[1]", "[[1]]", "1", "null", "\"1\"", "[]", "{}", "{\"format\": 1}", "{\"format\": -1}", ""]
    {
        let error = Model::from_bytes(&file(header)).expect_err(header).to_string();
        assert!(error.starts_with("not a usable model"), "{header}: {error}");
    }
    assert!(Model::from_bytes(&file("[1]")).expect_err("a list").to_string().contains("not a JSON object"));
}

#[test]
fn a_newer_format_and_a_foreign_file_say_so() {
    let task = task(5);
    let pipeline = Pipeline::default();
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
    let bytes = with_header(&model.to_bytes().expect("a file"), |header| {
        header["format"] = (FORMAT_VERSION + 1).into();
    });
    let newer = Model::from_bytes(&bytes).expect_err("from the future");
    assert!(newer.to_string().contains(&format!("format version {}", FORMAT_VERSION + 1)), "{newer}");
    let foreign =
        safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), None).expect("an empty file");
    let foreign = Model::from_bytes(&foreign).expect_err("not ours");
    assert!(foreign.to_string().contains("bidilel did not write it"), "{foreign}");
}

#[test]
fn a_model_of_the_first_format_is_read_as_one_of_a_single_view() {
    let task = task(5);
    let pipeline = Pipeline::default();
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let mut model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
    // Vectors had unit norm in files then, and their dimensions no names.
    for one in &mut model.semantics.representations {
        one.raw = one.values.clone();
        one.dimension_names = None;
    }
    let bytes = with_header(&model.to_bytes().expect("a file"), |header| {
        header["format"] = 1.into();
        header["visual"] = "cnn".into();
        header.as_object_mut().expect("an object").remove("fusion");
        let method = header["method"].as_object_mut().expect("an object");
        method.remove("fusion");
        method.remove("name");
    });
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).expect("a header");
    let entries = metadata.metadata().clone().expect("entries");
    let file = safetensors::SafeTensors::deserialize(&bytes).expect("tensors");
    // Files had all distances among the unseen classes then, each pair twice.
    let among = model.semantics.distances.unseen_unseen.to_matrix();
    let whole: Vec<u8> = (0..among.ncols())
        .flat_map(|j| among.col_as_slice(j).iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
        .collect();
    let shape = vec![among.ncols(), among.nrows()];
    let whole = TensorView::new(safetensors::Dtype::F64, shape, &whole).expect("a matrix");
    let mut tensors = file.tensors();
    tensors.retain(|(name, _)| name != "semantic_distances.unseen_pairs");
    tensors.push(("semantic_distances.unseen_unseen".to_owned(), whole));
    let old = safetensors::serialize(tensors, Some(entries)).expect("a file");
    assert_eq!(Model::from_bytes(&old).expect("an older model"), model);
}

#[test]
fn rows_recognized_side_by_side_are_those_recognized_at_once_in_their_order() {
    let task = task(5);
    let pipeline = Pipeline::default();
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
    let rows = Mat::<f32>::from_fn(24, 2500, |i, j| ((i * 7 + j * 13 + j * j % 31) % 29) as f32 - 14.0);
    let parts = model
        .recognize_views(&[(&rows, "rows")], 100..2400, |first, found| (first, found.scores.distances()))
        .expect("a recognition");
    assert!(parts.len() > 1);
    let points = model.project_rows(&rows, 100..2400, "rows").expect("a projection");
    let whole = pipeline
        .recognize_points(model.latent().expect("a space"), points, &Batch::UNNAMED, |_, _| ())
        .expect("a recognition");
    let mut next = 100;
    for (first, distances) in parts {
        assert_eq!(first, next);
        assert_eq!(distances, whole.scores.distances().subcols(first - 100, distances.ncols()));
        next += distances.ncols();
    }
    assert_eq!(next, 2400);
    let bad = Mat::<f32>::from_fn(24, 2500, |i, j| if (i, j) == (3, 1999) { f32::NAN } else { 1.0 });
    let error = model.recognize_views(&[(&bad, "rows")], 0..2500, |_, _| ()).expect_err("not a number");
    assert!(error.to_string().contains("1999"), "{error}");
}
