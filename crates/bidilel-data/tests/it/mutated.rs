//! Good containers with some bytes changed: an error or entries that can be read, and memory that the file fills.

use bidilel_data::array::Base;
use bidilel_data::container::EntryKind;
use proptest::prelude::*;

use crate::hostile_matlab::{matlab, words};
use crate::support::{container, fixture_bytes};

const FIXTURES: [&str; 16] = [
    "numbers.mat",
    "numbers-compressed.mat",
    "texts.mat",
    "texts-compressed.mat",
    "little.mat",
    "big.mat",
    "stored.npz",
    "deflated.npz",
    "tensors.safetensors",
    "plain.h5",
    "latest.h5",
    "cycle.h5",
    "v73.mat",
    "table.parquet",
    "wide-snappy.parquet",
    "gaps.parquet",
];

/// Reads everything that a container claims to have; what an array claims must be in memory.
fn exhaust(bytes: Vec<u8>) {
    let size = bytes.len();
    let Ok(container) = container(bytes) else { return };
    let Ok(entries) = container.entries() else { return };
    for entry in entries {
        assert!(entry.key.len() <= size + 8);
        if entry.kind == EntryKind::Numbers
            && let Ok(array) = container.array(Some(&entry.key))
        {
            let claimed = array.rows() * array.columns() * array.element().size();
            // Deflate's best ratio, or a sparse matrix made dense.
            assert!(claimed <= (size * 1032).max(8 << 20), "{entry:?} of {size} bytes");
            if claimed < 1 << 20 {
                let _ = array.to_matrix();
                let _ = array.to_indices(Base::One);
            }
        }
        let _ = container.strings(&entry.key);
        let _ = container.has(&format!("{}(1).x", entry.key));
    }
    let _ = container.array(None);
}

proptest! {
    #[test]
    fn changed_bytes_give_an_error_or_readable_entries(
        name in prop::sample::select(&FIXTURES[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = fixture_bytes(name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        exhaust(bytes);
    }

    #[test]
    fn cut_files_give_an_error_or_fewer_entries(
        name in prop::sample::select(&FIXTURES[..]),
        length in any::<prop::sample::Index>(),
    ) {
        let bytes = fixture_bytes(name);
        exhaust(bytes[..length.index(bytes.len())].to_vec());
    }

    #[test]
    fn spliced_files_give_an_error_or_readable_entries(
        name in prop::sample::select(&FIXTURES[..]),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        length in 1..64_usize,
    ) {
        let mut bytes = fixture_bytes(name);
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        let length = length.min(bytes.len() - from).min(bytes.len() - to);
        bytes.copy_within(from..from + length, to);
        exhaust(bytes);
    }

    #[test]
    fn any_words_after_a_matlab_header_give_no_panic(
        tail in prop::collection::vec(
            prop::sample::select(vec![0_u32, 1, 2, 4, 5, 6, 8, 9, 14, 15, 16, 24, 56, 0x0001_0001, 0x0004_0005, u32::MAX]),
            0..60,
        ),
    ) {
        exhaust(matlab(&[words(&tail)]));
    }
}
