//! The checksum that HDF5 has behind its newer parts: without it, nothing in them is looked at.

/// The checksum of HDF5's metadata: Bob Jenkins' `hashlittle` of `lookup3.c`, with a seed of zero.
pub fn lookup3(bytes: &[u8]) -> u32 {
    let length = u32::try_from(bytes.len()).expect("recipes are short");
    let (mut a, mut b, mut c) = {
        let start = 0xdead_beef_u32.wrapping_add(length);
        (start, start, start)
    };
    let blocks = bytes.len().saturating_sub(1) / 12;
    for (place, block) in bytes.chunks(12).enumerate() {
        let mut padded = [0; 12];
        padded[..block.len()].copy_from_slice(block);
        let word =
            |at: usize| u32::from_le_bytes([padded[at], padded[at + 1], padded[at + 2], padded[at + 3]]);
        (a, b, c) = (a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)));
        if place < blocks {
            for [first, second, third] in [[4, 6, 8], [16, 19, 4]] {
                a = a.wrapping_sub(c) ^ c.rotate_left(first);
                c = c.wrapping_add(b);
                b = b.wrapping_sub(a) ^ a.rotate_left(second);
                a = a.wrapping_add(c);
                c = c.wrapping_sub(b) ^ b.rotate_left(third);
                b = b.wrapping_add(a);
            }
        } else {
            c = (c ^ b).wrapping_sub(b.rotate_left(14));
            a = (a ^ c).wrapping_sub(c.rotate_left(11));
            b = (b ^ a).wrapping_sub(a.rotate_left(25));
            c = (c ^ b).wrapping_sub(b.rotate_left(16));
            a = (a ^ c).wrapping_sub(c.rotate_left(4));
            b = (b ^ a).wrapping_sub(a.rotate_left(14));
            c = (c ^ b).wrapping_sub(b.rotate_left(24));
        }
    }
    c
}
