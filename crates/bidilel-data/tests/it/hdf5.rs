//! Files of h5py, plain and in MATLAB's clothes, hold what was put there.

use bidilel_data::array::{Array, Base, Element};
use bidilel_data::container::{Container, EntryKind};

use crate::support::{features, fixture};

fn open(name: &str) -> Container {
    Container::open(&fixture(name)).unwrap()
}

fn numbers(container: &Container, key: &str) -> Array {
    container.array(Some(key)).unwrap()
}

fn message(container: &Container, key: &str) -> String {
    let message = container.array(Some(key)).unwrap_err().to_string();
    message[message.find("`: ").unwrap() + 3..].to_owned()
}

#[test]
fn numbers_of_every_layout() {
    let container = open("plain.h5");
    assert_eq!(container.format_name(), "an HDF5 file");
    for (key, element) in [("contiguous", Element::F32), ("big_endian", Element::F64), ("half", Element::F16)]
    {
        let array = numbers(&container, key);
        assert_eq!((array.element(), array.to_matrix()), (element, features(3, 4)), "{key}");
    }
    for key in ["packed.deep.features", "/packed/deep/features", "packed/deep/features"] {
        assert_eq!(numbers(&container, key).to_matrix(), features(40, 6), "{key}");
    }
    assert_eq!(numbers(&container, "flags").element(), Element::Bool);
    assert_eq!(numbers(&container, "labels").to_indices(Base::Zero).unwrap(), [2, 0, 1]);
    assert_eq!(numbers(&container, "scalar").to_matrix().col_as_slice(0), [7.5]);
    assert_eq!(numbers(&container, "unwritten").to_matrix().col_as_slice(1), [1.5, 1.5]);
    assert_eq!(container.entry(Some("packed"), &[EntryKind::Struct]).unwrap().key, "packed");
}

#[test]
fn newer_structures_of_the_format() {
    let container = open("latest.h5");
    assert_eq!(numbers(&container, "contiguous").to_matrix(), features(3, 4));
    assert_eq!(numbers(&container, "packed").to_matrix(), features(40, 6));
    assert_eq!(numbers(&container, "growing").to_matrix(), features(5, 3));
    assert_eq!(numbers(&container, "lzf").to_matrix().col_as_slice(8), [8.0, 8.0]);
    assert_eq!(message(&open("hdf5-2.h5"), "packed"), "a dataset in the layout of HDF5 2.0 cannot be read");
    assert_eq!(numbers(&container, "group.item11").to_indices(Base::Zero).unwrap(), [11]);
}

#[test]
fn strings_of_both_kinds() {
    let container = open("plain.h5");
    assert_eq!(container.strings("fixed").unwrap(), ["cat", "polar bear", ""]);
    assert_eq!(container.strings("variable").unwrap(), ["Kätzchen", "ox", ""]);
}

#[test]
fn says_what_it_does_not_read() {
    let container = open("plain.h5");
    assert_eq!(
        message(&container, "cube"),
        "expected numbers in 1 or 2 dimensions, found an array of 2 x 2 x 2"
    );
    assert_eq!(message(&container, "complex"), "an array of records or complex numbers cannot be read");
    assert!(message(&container, "nowhere").starts_with("has no key `nowhere`: it has `"));
    assert_eq!(message(&container, "fixed"), "key `fixed`: expected numbers, found strings");
    assert!(!container.has("soft") && !container.has("broken") && !container.has("outside"));
}

#[test]
fn matlab_arrays_have_the_shape_that_matlab_shows() {
    let container = open("v73.mat");
    assert_eq!(numbers(&container, "features").to_matrix(), features(5, 3));
    assert_eq!(numbers(&container, "plain").to_matrix(), features(5, 3));
    assert_eq!(numbers(&container, "Label.UCF.WordVec").to_matrix(), features(2, 3));
    let labels = numbers(&container, "labels");
    assert_eq!((labels.rows(), labels.columns()), (3, 1));
    assert_eq!(labels.to_indices(Base::One).unwrap(), [0, 2, 1]);
    assert_eq!(numbers(&container, "mask").element(), Element::Bool);
    assert!(numbers(&container, "nothing").to_indices(Base::One).unwrap().is_empty());
    let keys: Vec<_> = container.entries().unwrap().into_iter().map(|entry| entry.key).collect();
    assert!(!keys.iter().any(|key| key.contains('#')), "{keys:?}");
}

#[test]
fn matlab_text_is_in_characters_and_cells() {
    let container = open("v73.mat");
    assert_eq!(container.strings("title").unwrap(), ["Größe"]);
    assert_eq!(container.strings("rows").unwrap(), ["cat", "lynx"]);
    assert_eq!(container.strings("names").unwrap(), ["killer+whale", "ox", "雪豹", ""]);
    for key in ["mixed", "blocks", "loop"] {
        let kind = container.entries().unwrap().into_iter().find(|entry| entry.key == key).unwrap().kind;
        assert_eq!(kind, EntryKind::Other, "{key}");
    }
    assert_eq!(message(&container, "sparse"), "a sparse matrix cannot be read");
    assert_eq!(message(&container, "modern"), "a MATLAB object of class `string` cannot be read");
}

#[test]
fn circles_of_groups_end() {
    let container = open("cycle.h5");
    assert_eq!(numbers(&container, "a.x").to_indices(Base::Zero).unwrap(), [0, 1, 2]);
    assert!(container.entries().unwrap().len() <= 1 << 16);
}

#[test]
fn honest_files_of_many_parts_stay_within_what_reading_may_take() {
    let mut builder = hdf5_pure::FileBuilder::new();
    for clip in 0..5000_u16 {
        let name = format!("clip_{clip:05}_of_a_video_with_a_rather_long_name");
        builder.create_dataset(&name).with_f32_data(&[f32::from(clip), 1.0, 2.0]);
    }
    let names: Vec<String> = (0..20_000).map(|class| format!("class number {class}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    builder.create_dataset("names").with_vlen_strings(&names);
    // 10,000 chunks of 20 numbers.
    let numbers: Vec<f64> = (0..200_000).map(f64::from).collect();
    builder.create_dataset("chunked").with_f64_data(&numbers).with_shape(&[200_000]).with_chunks(&[20]);
    let bytes = builder.finish().unwrap();
    let container = crate::support::container(bytes).unwrap();
    assert_eq!(container.entries().unwrap().len(), 5002);
    let clip = numbers_of(&container, "clip_04321_of_a_video_with_a_rather_long_name");
    assert_eq!(clip, [4321.0, 1.0, 2.0]);
    assert_eq!(container.strings("names").unwrap()[19_999], "class number 19999");
    assert_eq!(numbers_of(&container, "chunked"), numbers);
}

fn numbers_of(container: &Container, key: &str) -> Vec<f64> {
    let matrix = numbers(container, key).to_matrix();
    (0..matrix.ncols()).map(|row| matrix[(0, row)]).collect()
}
