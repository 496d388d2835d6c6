//! What every fuzz target does with its bytes: read all that they claim to hold.
//!
//! A target fails by a panic, by the time limit, or by the memory limit of the fuzzer; errors are what it expects.

mod checksum;
mod chunks;
pub mod crafted;
pub mod headers;
pub mod journals;
mod streams;

use std::panic::{set_hook, take_hook};
use std::path::Path;
use std::sync::Arc;

use bidilel_data::array::Base;
use bidilel_data::container::{Container, EntryKind};
use bidilel_data::words::{Missing, WordVectors, class_vectors};
use crafted::Recipe;

/// Makes every panic of ours a finding; called once, before the first input.
///
/// Readers catch panics and call the file damaged. That is right for libraries, whose panics stay caught here, too. In the
/// code of this repository a panic is a mistake.
pub fn report_own_panics() {
    // The readers' hook first: the one that is set last is asked first.
    let _ = Container::from_bytes(Path::new("empty"), Arc::new(b"1\n".to_vec()));
    let others = take_hook();
    set_hook(Box::new(move |panic| {
        if panic.location().is_some_and(|place| place.file().contains("crates/bidilel")) {
            eprintln!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
            std::process::abort();
        }
        others(panic);
    }));
}

/// A `.npy` file.
pub fn npy(bytes: &[u8]) {
    container(bytes, "a NumPy array");
}

/// A `.npz` archive.
pub fn npz(bytes: &[u8]) {
    container(bytes, "a zip archive");
}

/// A MATLAB file of version 5, 6 or 7.
pub fn mat5(bytes: &[u8]) {
    container(bytes, "a MATLAB file");
}

/// A safetensors file.
pub fn safetensors(bytes: &[u8]) {
    container(bytes, "a safetensors file");
}

/// A table of text.
pub fn csv(bytes: &[u8]) {
    container(bytes, "a text table");
}

/// An HDF5 file, or a MATLAB file of version 7.3.
pub fn hdf5(bytes: &[u8]) {
    container(bytes, "an HDF5 file");
}

/// A Parquet table.
pub fn parquet(bytes: &[u8]) {
    container(bytes, "a Parquet table");
}

/// A file of word vectors.
pub fn words(bytes: &[u8]) {
    let Ok(vectors) = WordVectors::from_bytes(Path::new("words"), Arc::new(bytes.to_vec())) else { return };
    assert!(vectors.dim() <= bytes.len(), "{vectors:?} of {} bytes", bytes.len());
    let names = ["a", "the", "killer+whale", "Bär's", ""].map(str::to_owned);
    if let Ok(found) = vectors.find(&names.iter().cloned().collect()) {
        assert!(found.values().all(|vector| vector.len() == vectors.dim()));
    }
    let _ = class_vectors(&names, &vectors, Missing::Mean);
}

/// A text file with one item per line.
pub fn text_list(bytes: &[u8]) {
    if let Ok(list) = bidilel_data::text::list_from_bytes(Path::new("list.txt"), bytes) {
        assert!(list.items.iter().all(|item| !item.is_empty()));
        let _ = list.unique();
    }
}

/// The text of a `dataset.toml`.
pub fn manifest(bytes: &[u8]) {
    let _ = bidilel_data::check_manifest(Path::new("dataset.toml"), bytes);
}

/// HDF5 objects that refer to each other, from a recipe.
pub fn hdf5_graph(recipe: &[u8]) {
    container(&crafted::hdf5_graph(&mut Recipe::new(recipe)), "an HDF5 file");
}

/// Chunks of an HDF5 dataset and their index, from a recipe.
pub fn hdf5_chunks(recipe: &[u8]) {
    container(&chunks::hdf5_chunks(&mut Recipe::new(recipe)), "an HDF5 file");
}

/// A schema of a Parquet table, from a recipe.
pub fn parquet_schema(recipe: &[u8]) {
    container(&crafted::parquet_schema(&mut Recipe::new(recipe)), "a Parquet table");
}

/// Cells and structures of a MATLAB file, from a recipe.
pub fn matlab_nesting(recipe: &[u8]) {
    container(&crafted::matlab_nesting(&mut Recipe::new(recipe)), "a MATLAB file");
}

/// The header of a model, from a recipe.
pub fn model_header(recipe: &[u8]) {
    headers::open_model(&headers::model_header(&mut Recipe::new(recipe)));
}

/// The header of an encoder, from a recipe.
pub fn encoder_header(recipe: &[u8]) {
    headers::open_encoder(&headers::encoder_header(&mut Recipe::new(recipe)));
}

/// Reads everything in a container, if it is one of that format.
fn container(bytes: &[u8], format: &str) {
    let size = bytes.len();
    let Ok(container) = Container::from_bytes(Path::new("file"), Arc::new(bytes.to_vec())) else { return };
    if container.format_name() != format {
        return;
    }
    let Ok(entries) = container.entries() else { return };
    let numbers = entries.iter().filter(|entry| entry.kind == EntryKind::Numbers);
    let keys: Vec<String> = numbers.map(|entry| entry.key.clone()).take(4).collect();
    streams::compare(bytes, &keys);
    // Enough of them: an answer that nothing has a key lists all keys, so that asking for all of thousands takes long.
    for entry in entries.into_iter().take(500) {
        if entry.kind == EntryKind::Numbers
            && let Ok(array) = container.array(Some(&entry.key))
        {
            let claimed = array.rows() * array.columns() * array.element().size();
            // Deflate's best ratio, or a sparse matrix made dense.
            assert!(claimed <= (size * 1032).max(8 << 20), "{entry:?} claims {claimed} of {size} bytes");
            let _ = array.to_matrix();
            let _ = array.to_indices(Base::One);
        }
        let _ = container.strings(&entry.key);
    }
}
