//! An HDF5 dataset in chunks whose sizes and index claim anything, from a recipe.

use super::checksum::lookup3;
use super::crafted::Recipe;

const NONE: u64 = u64::MAX;
/// Where the object header of the dataset begins, after those of the root group.
const OBJECT: u64 = 280;

fn words(into: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| into.extend(word.to_le_bytes()));
}

/// A size: mostly small, now and then of any power of two.
fn size(recipe: &mut Recipe<'_>) -> u64 {
    match recipe.below(4) {
        0 => 1 << recipe.below(64),
        1 => recipe.below(256) as u64 * 100,
        _ => recipe.below(9) as u64,
    }
}

fn message(into: &mut Vec<u8>, kind: u8, mut content: Vec<u8>) {
    content.resize(content.len().next_multiple_of(8), 0);
    let length = u16::try_from(content.len()).expect("recipes are short").to_le_bytes();
    into.extend([kind, 0, length[0], length[1], 0, 0, 0, 0]);
    into.extend(content);
}

/// The file.
pub fn hdf5_chunks(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let mut file = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec();
    words(&mut file, &[0, NONE, NONE, NONE, 0, 96, 0, 0, 0]);
    // The root: an object header, a heap with the name `a`, a B-tree of one node, one link.
    file.extend([1, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 16, 0, 0, 0, 0, 0]);
    words(&mut file, &[184, 136]);
    file.extend(b"HEAP\0\0\0\0");
    words(&mut file, &[16, NONE, 168, 0, u64::from(b'a')]);
    file.extend(b"TREE\0\0\x01\0");
    words(&mut file, &[NONE, NONE, 0, 232, 8]);
    file.extend(b"SNOD\x01\0\x01\0");
    words(&mut file, &[8, OBJECT, 0, 0, 0]);

    let rank = 1 + recipe.below(3);
    let mut messages = Vec::new();
    let mut space = vec![1, u8::try_from(rank).expect("small"), 0, 0, 0, 0, 0, 0];
    (0..rank).for_each(|_| words(&mut space, &[size(recipe)]));
    message(&mut messages, 1, space);
    let element = [1_u8, 8, 4][recipe.below(3)];
    let bits = 8 * element;
    message(&mut messages, 3, vec![0x10, 0, 0, 0, element, 0, 0, 0, 0, 0, bits, 0]);
    let index = 1 + u8::try_from(recipe.below(5)).expect("small");
    let mut layout = vec![4, 2, recipe.byte() & 3, u8::try_from(rank + 1).expect("small"), 8];
    (0..rank).for_each(|_| words(&mut layout, &[size(recipe)]));
    words(&mut layout, &[element.into()]);
    layout.push(index);
    match index {
        1 if layout[2] & 2 != 0 => {
            words(&mut layout, &[size(recipe)]);
            layout.extend([0; 4]);
        }
        3 => layout.push(recipe.byte()),
        4 => layout.extend([recipe.byte(), recipe.byte(), recipe.byte(), recipe.byte(), recipe.byte()]),
        _ => {}
    }
    let address = layout.len();
    words(&mut layout, &[0]);
    let length = layout.len();
    message(&mut messages, 8, layout);
    let address = messages.len() - length.next_multiple_of(8) + address;
    let here = OBJECT + 16 + messages.len() as u64;
    messages[address..address + 8].copy_from_slice(&here.to_le_bytes());
    file.extend([1, 0, 3, 0, 1, 0, 0, 0]);
    file.extend(u32::try_from(messages.len()).expect("recipes are short").to_le_bytes());
    file.extend([0; 4]);
    file.extend(messages);

    // The header of an index, and what it refers to.
    let extensible = index == 4;
    let mut part = if extensible { b"EAHD\0".to_vec() } else { b"FAHD\0".to_vec() };
    part.extend([recipe.byte() & 1, 8, recipe.byte()]);
    if extensible {
        part.extend([recipe.byte(), recipe.byte(), recipe.byte(), recipe.byte()]);
        words(&mut part, &[0, 0, 0, 0]);
    }
    words(&mut part, &[size(recipe)]);
    if extensible {
        words(&mut part, &[0]);
    }
    let next = here + part.len() as u64 + 12;
    words(&mut part, &[next]);
    part.extend(lookup3(&part).to_le_bytes());
    file.extend(part);
    let mut block = if extensible { b"EAIB\0".to_vec() } else { b"FADB\0".to_vec() };
    block.push(recipe.byte() & 1);
    words(&mut block, &[here]);
    while !recipe.is_empty() && block.len() < 4096 {
        words(&mut block, &[if recipe.byte() & 1 == 0 { NONE } else { here + recipe.below(256) as u64 }]);
    }
    block.extend(lookup3(&block).to_le_bytes());
    file.extend(block);
    file
}
