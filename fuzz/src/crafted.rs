//! Structure-aware targets: bytes are a recipe for a file whose parts are well-formed and refer to each other in any way.
//!
//! Random bytes hardly ever become a B-tree node, and 17 million of them found nothing that the files below do not. A recipe
//! is read byte by byte; where it ends it goes on with zeros, so that every recipe makes a file.

/// Choices, one per byte.
pub struct Recipe<'a>(&'a [u8]);

impl<'a> Recipe<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most.max(1)
    }

    fn small(&mut self, most: u8) -> u8 {
        self.byte() % most
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

const SLOT: u64 = 256;
const FIRST: u64 = 96;
const NONE: u64 = u64::MAX;

fn words(into: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| into.extend(word.to_le_bytes()));
}

/// An HDF5 file of groups, B-trees, links, heaps and datasets, each in a slot, that name each other's slots.
pub fn hdf5_graph(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let mut file = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec();
    words(&mut file, &[0, NONE, NONE, NONE, 0, FIRST, 0, 0, 0]);
    let count = 2 + recipe.below(40);
    for slot in 0..count {
        let reference = |recipe: &mut Recipe<'_>| FIRST + SLOT * recipe.below(count + 1) as u64;
        let mut part = Vec::new();
        // The first is the root.
        match if slot == 0 { 0 } else { recipe.below(5) } {
            0 => {
                part.extend([1, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 16, 0, 0, 0, 0, 0]);
                let (tree, heap) = (reference(recipe), reference(recipe));
                words(&mut part, &[tree, heap]);
            }
            1 => {
                let children = recipe.small(8);
                part.extend([b'T', b'R', b'E', b'E', recipe.small(2), recipe.small(4), children, 0]);
                words(&mut part, &[NONE, NONE, 0]);
                for _ in 0..children {
                    let child = reference(recipe);
                    words(&mut part, &[child, 8]);
                }
            }
            2 => {
                let links = recipe.small(6);
                part.extend([b'S', b'N', b'O', b'D', 1, 0, links, 0]);
                for _ in 0..links {
                    let (name, object) = (8 * recipe.below(5) as u64, reference(recipe));
                    words(&mut part, &[name, object, 0, 0, 0]);
                }
            }
            3 => {
                part.extend(b"HEAP\0\0\0\0");
                words(&mut part, &[48, NONE, FIRST + SLOT * slot as u64 + 32]);
                for name in [
                    *b"\0\0\0\0\0\0\0\0",
                    *b"a\0\0\0\0\0\0\0",
                    *b"b\0\0\0\0\0\0\0",
                    *b"#refs#\0\0",
                    *b"longnam\0",
                ] {
                    part.extend(name);
                }
                part.extend([0; 8]);
            }
            _ => {
                let rows = recipe.below(20) as u64;
                part.extend([1, 0, 3, 0, 1, 0, 0, 0, 96, 0, 0, 0, 0, 0, 0, 0]);
                part.extend([1, 0, 16, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]);
                words(&mut part, &[rows]);
                part.extend([3, 0, 24, 0, 0, 0, 0, 0, 0x11, 0x20, 0x3f, 0, 8, 0, 0, 0]);
                part.extend([0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0, 0, 0, 0, 0]);
                part.extend([8, 0, 24, 0, 0, 0, 0, 0, 3, recipe.byte() % 3]);
                let data = reference(recipe);
                words(&mut part, &[data, 8 * rows]);
                part.extend([0; 6]);
            }
        }
        part.resize(256, 0);
        file.extend(part);
    }
    file
}

/// A Parquet file that is a footer with any schema: names, types, repetitions, numbers of children.
pub fn parquet_schema(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let varint = |into: &mut Vec<u8>, mut value: u64| {
        while value > 0x7f {
            into.push(0x80 | value.to_le_bytes()[0]);
            value >>= 7;
        }
        into.push(value.to_le_bytes()[0]);
    };
    let mut elements = Vec::new();
    let mut count = 0;
    while count == 0 || (!recipe.is_empty() && count < 4000) {
        count += 1;
        let choice = recipe.byte();
        if choice & 1 != 0 {
            elements.push(0x15);
            varint(&mut elements, 2 * u64::from(recipe.byte() % 9));
        } else {
            elements.extend([0x05, 2, 0]);
        }
        // Repetition (field 3), name (4), number of children (5).
        elements.extend([if choice & 1 != 0 { 0x25 } else { 0x15 }, 2 * (choice >> 6)]);
        elements.push(0x18);
        varint(&mut elements, u64::from(choice & 7));
        elements.extend(vec![b'n'; usize::from(choice & 7)]);
        if choice & 1 == 0 {
            elements.push(0x15);
            let children = if choice & 0x20 == 0 {
                u64::from(recipe.byte() % 4)
            } else {
                u64::from(recipe.byte()) << 20
            };
            varint(&mut elements, 2 * children);
        }
        elements.push(0);
    }
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    varint(&mut footer, count);
    footer.extend(elements);
    // No rows in no row groups.
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = u32::try_from(footer.len()).expect("recipes are short").to_le_bytes();
    [b"PAR1".as_slice(), &footer, &length, b"PAR1"].concat()
}

/// A MATLAB file of cells and structures within each other, around numbers.
pub fn matlab_nesting(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let element = |kind: u32, content: &[u8]| {
        let mut bytes =
            [kind.to_le_bytes(), u32::try_from(content.len()).expect("recipes are short").to_le_bytes()]
                .concat();
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let numbers = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let matrix = |class: u32, sizes: [u32; 2], rest: &[Vec<u8>]| {
        let mut body = element(6, &numbers(&[class, 0]));
        body.extend(element(5, &numbers(&sizes)));
        body.extend(element(1, b"a"));
        rest.iter().for_each(|part| body.extend(part));
        element(14, &body)
    };
    let mut inner = matrix(6, [1, 1], &[element(9, &[0; 8])]);
    while !recipe.is_empty() && inner.len() < 1 << 20 {
        let copies = 1 + u32::from(recipe.small(3));
        let claimed = if recipe.byte() == 0 { u32::from(recipe.byte()) << 24 } else { copies };
        let content = vec![inner.clone(); copies as usize];
        inner = if recipe.byte() & 1 == 0 {
            matrix(1, [claimed, 1], &content)
        } else {
            let names = [element(5, &numbers(&[8])), element(1, b"field\0\0\0")];
            matrix(2, [claimed, 1], &[&names[..], &content].concat())
        };
    }
    let mut file = vec![b' '; 124];
    file.extend(b"\x00\x01IM");
    file.extend(inner);
    file
}
