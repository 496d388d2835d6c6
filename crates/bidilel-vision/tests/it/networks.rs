//! Networks of every shape, and those that are refused.

use bidilel_vision::{Layout, NetworkFile, Pool, Preprocess, Runtime};

use crate::support::{Work, bitmap, fixture, plain};

const COLOURS: [[u8; 3]; 6] = [[1, 2, 3], [10, 20, 30], [255, 0, 7], [0, 0, 0], [9, 9, 9], [200, 100, 50]];

fn coloured(work: &Work) {
    for (index, colour) in COLOURS.into_iter().enumerate() {
        work.put(&format!("{}/{index}.bmp", index % 2), &bitmap(9 + index as u32, 12, colour));
    }
}

fn expected() -> Vec<Vec<f32>> {
    [0, 2, 4, 1, 3, 5].map(|index: usize| COLOURS[index].map(f32::from).to_vec()).to_vec()
}

#[test]
fn rows_are_in_the_order_of_paths_and_labels_are_subfolders() {
    let work = Work::new("mean", plain(8));
    coloured(&work);
    let extracted = work.run().unwrap();
    assert_eq!((extracted.rows, extracted.dimensions), (6, 3));
    assert_eq!(work.rows(), expected());
    let list = std::fs::read_to_string(&extracted.list).unwrap();
    assert!(list.starts_with("index,path,label\n0,0/0.bmp,0\n1,0/2.bmp,0\n"), "{list}");
    assert_eq!(
        work.written(),
        ["features.csv", "features.network.json", "features.npy", "features.skipped.csv"]
    );
}

#[test]
fn a_network_for_a_fixed_batch_is_filled_up() {
    let work = Work::new("four", plain(8));
    coloured(&work);
    work.run().unwrap();
    assert_eq!(work.rows(), expected());
}

#[test]
fn channels_last_and_blue_first_are_what_they_say() {
    let mut work = Work::new("last", Preprocess { layout: Layout::Nhwc, ..plain(2) });
    work.options.pool = Pool::Flatten;
    work.put("a.bmp", &bitmap(2, 2, [1, 2, 3]));
    work.run().unwrap();
    assert_eq!(work.rows(), [[1., 2., 3., 1., 2., 3., 1., 2., 3., 1., 2., 3.]]);
    work.options.preprocess.channels = bidilel_vision::Channels::Bgr;
    work.options.preprocess.mean = [3.0, 0.0, 1.0];
    work.options.preprocess.std = [1.0, 2.0, 1.0];
    work.run().unwrap();
    assert_eq!(work.rows()[0][..3], [0.0, 1.0, 0.0]);
    work.options.preprocess.layout = Layout::Nchw;
    assert!(work.run().unwrap_err().to_string().contains("channels last"));
}

#[test]
fn any_layer_is_had_by_name_and_pooled() {
    let mut work = Work::new("layers", plain(16));
    work.put_picture("photo.png");
    work.run().unwrap();
    assert_eq!(work.rows()[0].len(), 7);
    let rows = |work: &mut Work, layer: &str| {
        work.layer = Some(layer.to_owned());
        work.run().unwrap();
        work.rows().remove(0)
    };
    let (pool, relu, flat) = (rows(&mut work, "pool"), rows(&mut work, "relu"), rows(&mut work, "flat"));
    assert_eq!(pool.len(), 5);
    assert_eq!(pool, flat);
    // The network's own average and ours differ in the order of sums only.
    assert!(pool.iter().zip(&relu).all(|(a, b)| (a - b).abs() < 1e-4), "{pool:?} {relu:?}");
    work.layer = Some("Relu".to_owned());
    let error = work.run().unwrap_err();
    assert!(error.to_string().ends_with("has no layer `Relu`"));
    assert!(error.hint().unwrap().contains("`relu`"));
    let file = NetworkFile::open(&work.network).unwrap();
    work.layer = None;
    let layers = file.layers(&work.network_options(), &plain(16), 16).unwrap();
    let shown: Vec<(&str, &[usize], bool)> =
        layers.iter().map(|layer| (layer.name.as_str(), &layer.shape[..], layer.output)).collect();
    let expected: [(&str, &[usize], bool); 5] = [
        ("conv", &[1, 5, 7, 7], false),
        ("relu", &[1, 5, 7, 7], false),
        ("pool", &[1, 5, 1, 1], false),
        ("flat", &[1, 5], false),
        ("logits", &[1, 7], true),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn weights_may_lie_beside_the_network() {
    let mut inside = Work::new("layers", plain(16));
    let beside = Work::new("beside", plain(16));
    for work in [&inside, &beside] {
        work.put_picture("photo.png");
        work.run().unwrap();
    }
    assert_eq!(inside.rows(), beside.rows());
    // Without them it is no network.
    let alone = inside.out("alone.onnx");
    std::fs::copy(&beside.network, &alone).unwrap();
    inside.network = alone;
    assert!(inside.run().unwrap_err().to_string().contains("beside.onnx.data"));
}

#[test]
fn networks_that_take_no_picture_are_refused_with_what_they_take() {
    for (network, words) in [
        ("two", "expected a network with one input, found 2: input, other"),
        ("bytes", "expected float32"),
        ("greedy", "a batch of 2147483647 x 3 x 8 x 8 numbers is too large"),
        ("vector", "its input `input` is ? x 10, expected pictures"),
    ] {
        let work = Work::new(network, plain(8));
        work.put_picture("photo.png");
        let error = work.run().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(work.written().is_empty());
    }
    let work = Work::new("layers", plain(8));
    work.put_picture("photo.png");
    assert!(work.run().unwrap_err().to_string().contains("takes pictures of 16x16, not of 8x8"));
}

#[test]
fn numbers_that_are_none_are_reported() {
    let mut work = Work::new("infinite", plain(8));
    work.put("black.bmp", &bitmap(8, 8, [0, 0, 0]));
    work.put("grey.bmp", &bitmap(8, 8, [99, 99, 99]));
    let extracted = work.run().unwrap();
    assert_eq!(
        extracted.skipped,
        [("black.bmp".to_owned(), "makes the network give NaN or infinity".to_owned())]
    );
    assert!((work.rows()[0][0] - 99.0_f32.ln()).abs() < 1e-5);
    work.options.precision = bidilel_data::Precision::Float16;
    work.run().unwrap();
    assert!((work.rows()[0][0] - 99.0_f32.ln()).abs() < 4e-3);
    let mut large = Work::new("mean", plain(8));
    large.options.preprocess.std = [1e-3; 3];
    large.options.precision = bidilel_data::Precision::Float16;
    large.put("a.bmp", &bitmap(8, 8, [99, 99, 99]));
    let error = large.run().unwrap_err().to_string();
    assert!(error.contains("float16 holds at most 65504"), "{error}");
    assert!(!large.options.out.exists());
}

#[test]
fn both_runtimes_agree() {
    let Some(library) = std::env::var_os("ORT_DYLIB_PATH") else {
        eprintln!("not tested: ORT_DYLIB_PATH names no library of ONNX Runtime");
        return;
    };
    for (network, layer) in [("layers", None), ("layers", Some("relu")), ("beside", None), ("mean", None)] {
        let mut work = Work::new(network, plain(16));
        for name in ["photo.png", "photo.jpg", "alpha.png", "turned-6.jpg", "drawing.svg"] {
            work.put_picture(name);
        }
        work.layer = layer.map(str::to_owned);
        work.run().unwrap();
        let one = work.rows();
        work.runtime = Runtime::Ort;
        work.library = Some(library.clone().into());
        work.run().unwrap();
        let other = work.rows();
        let pairs = one.iter().flatten().zip(other.iter().flatten());
        assert!(one.len() == 5 && pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs().max(1.0)));
        let file = NetworkFile::open(&fixture("networks/layers.onnx")).unwrap();
        let layers = file.layers(&work.network_options(), &plain(16), 16);
        if layer.is_none() {
            assert_eq!(layers.unwrap()[0].shape, [1, 5, 7, 7]);
        }
    }
}
