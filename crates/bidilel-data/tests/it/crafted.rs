//! Files that were made to exhaust whoever reads them: each ends in an error, soon and with little memory.

use std::time::{Duration, Instant};

use bidilel_data::container::{Container, EntryKind};

use crate::support::{container, fixture_bytes};

#[path = "../../../../fuzz/src/checksum.rs"]
#[expect(unreachable_pub, reason = "it is part of a crate of its own elsewhere")]
mod checksum;
use checksum::lookup3;

/// Opens a file and reads all that it lists; the first error.
fn error_of(bytes: Vec<u8>) -> String {
    let read = |container: Container| {
        let entries = container.entries()?;
        let mut numbers = entries.iter().filter(|entry| entry.kind == EntryKind::Numbers);
        numbers.try_for_each(|entry| container.array(Some(&entry.key)).map(drop))
    };
    let begun = Instant::now();
    let error = container(bytes).and_then(read).map_or_else(|error| error.to_string(), |()| String::new());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {error}", begun.elapsed());
    error
}

#[test]
fn b_tree_nodes_that_share_their_children_are_not_followed_along_every_path() {
    let error = error_of(fixture_bytes("hostile/dag21.h5"));
    assert!(error.contains("refer to each other more often"), "{error}");
    // Deeper ones took hours, or all memory.
    for levels in [22, 40, 60] {
        let error = error_of(dag(levels));
        assert!(error.contains("refer to each other more often"), "{levels}: {error}");
    }
    assert_eq!(error_of(dag(3)), "", "a few shared nodes are read, as other programs do");
}

#[test]
fn groups_within_groups_end_where_nobody_looks() {
    for groups in [3, 100, 20_000] {
        let bytes = chain_of_groups(groups);
        let container = container(bytes).unwrap();
        assert!((1..20).contains(&container.entries().unwrap().len()), "{groups}");
    }
}

#[test]
fn a_long_name_is_not_copied_for_every_link_to_it() {
    // 20,000 links in 200 nodes, all to one name of 400 KB: 8 GB of copies.
    let (nodes, links, name) = (200_u64, 100_u64, 400_000_u64);
    let mut file = Old::new();
    let tree = 136;
    let node = |place: u64| tree + 32 + 16 * nodes + place * (8 + 40 * links);
    let heap = node(nodes);
    file.group(tree, heap);
    file.0.extend([b'T', b'R', b'E', b'E', 0, 0, u8::try_from(nodes).unwrap(), 0]);
    file.words(&[NONE, NONE, 0]);
    (0..nodes).for_each(|place| file.words(&[node(place), 8]));
    for place in 0..nodes {
        assert_eq!(file.here(), node(place));
        file.0.extend([b'S', b'N', b'O', b'D', 1, 0, u8::try_from(links).unwrap(), 0]);
        (0..links).for_each(|_| file.words(&[8, 96, 0, 0, 0]));
    }
    let data = file.here() + 32;
    file.0.extend(b"HEAP\0\0\0\0");
    file.words(&[name, NONE, data, 0]);
    file.0.resize(file.0.len() + usize::try_from(name).unwrap() - 9, b'n');
    file.0.push(0);
    let error = error_of(file.0);
    assert!(error.contains("refer to each other more often"), "{error}");
}

#[test]
fn types_within_types_are_read_on_a_stack_that_holds_them() {
    // Sequences of sequences of sequences: eight bytes each, as many as a message can hold.
    let levels = 8180;
    let mut datatype: Vec<u8> = [0x19, 0, 0, 0, 16, 0, 0, 0].repeat(levels);
    datatype.extend([0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0]);
    let mut file = Old::new();
    let (heap, tree, link, object) = (136, 184, 232, 280);
    file.group(tree, heap);
    file.heap();
    file.tree(0, &[link]);
    file.link(object);
    assert_eq!(file.here(), object);
    let length = u16::try_from(datatype.len()).unwrap();
    file.0.extend([1, 0, 3, 0, 1, 0, 0, 0]);
    file.0.extend((u32::from(length) + 64).to_le_bytes());
    file.0.extend([0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]);
    file.words(&[1]);
    file.0.extend([3, 0]);
    file.0.extend(length.to_le_bytes());
    file.0.extend([0, 0, 0, 0]);
    file.0.extend(&datatype);
    file.0.extend([8, 0, 24, 0, 0, 0, 0, 0, 3, 1]);
    file.words(&[object, 16]);
    file.0.extend([0; 6]);
    let bytes = file.0;
    let worker = std::thread::Builder::new().stack_size(128 << 10);
    let read = move || container(bytes).unwrap().entries().unwrap();
    let entries = worker.spawn(read).unwrap().join().unwrap();
    assert_eq!((entries[0].key.as_str(), entries[0].kind), ("a", EntryKind::Other));
}

#[test]
fn an_extensible_array_lists_no_more_blocks_than_the_file_has_addresses() {
    let good = fixture_bytes("latest.h5");
    let start = good.windows(4).position(|bytes| bytes == b"EAHD").expect("an extensible array");
    let mut bytes = good.clone();
    // 2^255 elements in data blocks of one element, all listed in the index block.
    (bytes[start + 7], bytes[start + 9], bytes[start + 10]) = (255, 1, 255);
    let end = start + 12 + 6 * 8 + 8;
    assert_eq!(lookup3(&good[start..end]).to_le_bytes(), good[end..end + 4], "the checksum is the file's");
    let checksum = lookup3(&bytes[start..end]);
    bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
    let error = container(bytes).unwrap().array(Some("growing")).unwrap_err().to_string();
    assert!(error.contains("refer to each other more often"), "{error}");
}

#[test]
fn a_dataset_cannot_claim_more_chunks_than_the_file_can_name() {
    // Chunks of one byte that need no index: 60 million of them, of which the library makes a list.
    let mut file = Old::new();
    let (heap, tree, link, object) = (136, 184, 232, 280);
    file.group(tree, heap);
    file.heap();
    file.tree(0, &[link]);
    file.link(object);
    assert_eq!(file.here(), object);
    file.0.extend([1, 0, 3, 0, 1, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0]);
    file.0.extend([1, 0, 16, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]);
    file.words(&[60_000_000]);
    file.0.extend([3, 0, 16, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
    file.0.extend([8, 0, 24, 0, 0, 0, 0, 0, 4, 2, 0, 2, 4, 1, 0, 0, 0, 1, 0, 0, 0, 2]);
    file.words(&[object]);
    file.0.extend([0; 2]);
    file.0.resize(64 << 10, 0);
    let error = error_of(file.0);
    assert!(error.ends_with("claims 60000000 chunks in a file of 65536 bytes"), "{error}");
}

#[test]
fn a_schema_of_nested_groups_is_refused_before_it_is_built() {
    let error = error_of(fixture_bytes("hostile/nest12000.parquet"));
    assert!(error.contains("nested more than 128 levels deep"), "{error}");
    // As from a worker thread, whose stack is small.
    let worker = std::thread::Builder::new().stack_size(128 << 10);
    let error =
        worker.spawn(|| error_of(fixture_bytes("hostile/nest12000.parquet"))).unwrap().join().unwrap();
    assert!(error.contains("nested more than 128 levels deep"), "{error}");
}

#[test]
fn a_schema_that_claims_more_children_than_it_has_reserves_nothing() {
    // `FileMetaData { version: 1, schema: [{name: "s", num_children: 2^31 - 1}] }`
    let footer = [0x15, 0x02, 0x19, 0x1c, 0x48, 0x01, b's', 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x00];
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    let error = error_of([b"PAR1".as_slice(), &footer, &length, b"PAR1"].concat());
    assert!(error.contains("claims 2147483647 children, but only 0 elements follow"), "{error}");
}

#[test]
fn deep_structures_of_matlab_files_are_refused() {
    // A cell in a cell in a cell ...: every level is an element of type 14 with flags, sizes and a name.
    let mut body: Vec<u8> = Vec::new();
    for _ in 0..5000 {
        let mut level = Vec::new();
        for word in [6_u32, 8, 1, 0, 5, 8, 1, 1, 1, 1] {
            level.extend(word.to_le_bytes());
        }
        level.extend(b"a\0\0\0\0\0\0\0");
        level.extend(&body);
        body = [14_u32.to_le_bytes(), u32::try_from(level.len()).unwrap().to_le_bytes()].concat();
        body.extend(level);
    }
    let mut file = vec![b' '; 124];
    file.extend(b"\x00\x01IM");
    file.extend(body);
    assert_ne!(error_of(file), "");
}

/// An HDF5 file of the old style, built from its parts.
struct Old(Vec<u8>);

const NONE: u64 = u64::MAX;

impl Old {
    /// A superblock; the root's object header is to begin at byte 96.
    fn new() -> Self {
        let mut file = Self(b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec());
        file.words(&[0, NONE, NONE, NONE, 0, 96, 0, 0, 0]);
        assert_eq!(file.0.len(), 96);
        file
    }

    fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.0.extend(word.to_le_bytes()));
    }

    fn here(&self) -> u64 {
        self.0.len() as u64
    }

    /// An object header with one message: a symbol table.
    fn group(&mut self, tree: u64, heap: u64) {
        self.0.extend([1, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 16, 0, 0, 0, 0, 0]);
        self.words(&[tree, heap]);
    }

    /// A node of a B-tree over groups.
    fn tree(&mut self, level: u8, children: &[u64]) {
        self.0.extend([b'T', b'R', b'E', b'E', 0, level, u8::try_from(children.len()).unwrap(), 0]);
        self.words(&[NONE, NONE, 0]);
        children.iter().for_each(|&child| self.words(&[child, 8]));
    }

    /// A symbol table node with one link, named by the first entry of the heap.
    fn link(&mut self, object: u64) {
        self.0.extend(b"SNOD\x01\0\x01\0");
        self.words(&[8, object, 0, 0, 0]);
    }

    /// A heap with the name `a`.
    fn heap(&mut self) {
        let data = self.here() + 32;
        self.0.extend(b"HEAP\0\0\0\0");
        self.words(&[16, NONE, data, 0, u64::from(b'a')]);
    }
}

/// One group whose B-tree has so many levels, each of which names the next one twice.
fn dag(levels: u64) -> Vec<u8> {
    let mut file = Old::new();
    let (heap, link) = (96 + 40, 96 + 40 + 48);
    let leaf = link + 48;
    let node = |level: u64| leaf + if level == 0 { 0 } else { 48 + 64 * (level - 1) };
    file.group(node(levels), heap);
    file.heap();
    assert_eq!(file.here(), link);
    // The group itself: it is listed, and not walked into for ever.
    file.link(96);
    assert_eq!(file.here(), leaf);
    file.tree(0, &[link]);
    for level in 1..=levels {
        assert_eq!(file.here(), node(level));
        file.tree(u8::try_from(level).unwrap(), &[node(level - 1); 2]);
    }
    file.0
}

/// A group in a group in a group.
fn chain_of_groups(groups: usize) -> Vec<u8> {
    let mut file = Old::new();
    // Every level: header, tree, link; the heap at the end is shared.
    let step = 40 + 48 + 48;
    let heap = 96 + step * (groups as u64 + 1);
    for level in 0..=groups as u64 {
        let here = 96 + step * level;
        assert_eq!(file.here(), here);
        file.group(here + 40, heap);
        let last = level == groups as u64;
        // The last one has no entry in use, of the same size.
        let at = file.0.len();
        file.tree(0, &[here + 88]);
        if last {
            file.0[at + 6] = 0;
        }
        file.link(here + step);
    }
    file.heap();
    file.0
}
