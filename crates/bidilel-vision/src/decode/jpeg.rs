//! Whether a JPEG file is all there.
//!
//! The decoder fills what is missing with gray and says nothing. A file that ends within its pixels has no
//! end-of-image marker after its last scan, so that is looked for.

/// Fails where the file ends before the picture does.
pub(super) fn check_end(bytes: &[u8]) -> Result<(), String> {
    const START_OF_SCAN: u8 = 0xda;
    const END: u8 = 0xd9;
    let cut = || "is cut off: the file ends before the picture does".to_owned();
    let mut at = 2;
    let mut scans = 0;
    while at + 1 < bytes.len() {
        if bytes[at] != 0xff {
            if scans == 0 {
                // No marker where one should be: the decoder knows better what is wrong.
                return Ok(());
            }
            at += 1;
            continue;
        }
        match bytes[at + 1] {
            // A fill byte, a byte 255 among the pixels, a restart: two bytes without a length.
            0xff => at += 1,
            0x00 | 0x01 | 0xd0..=0xd8 => at += 2,
            END if scans > 0 => return Ok(()),
            END => return Err("has no pixels".to_owned()),
            marker => {
                let length = bytes.get(at + 2..at + 4).ok_or_else(cut)?;
                at += 2 + usize::from(u16::from_be_bytes([length[0], length[1]]));
                scans += usize::from(marker == START_OF_SCAN);
            }
        }
    }
    Err(cut())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_only_with_its_last_marker() {
        // Start, a table with an end marker inside (as a thumbnail has), a scan with an escaped 255, end, rubbish.
        let file = b"\xff\xd8\xff\xe1\0\x04\xff\xd9\xff\xda\0\x03x12\xff\0\xff\xd034\xff\xd9rubbish";
        assert_eq!(check_end(file), Ok(()));
        let end = file.len() - b"rubbish".len();
        for length in 2..end {
            assert!(check_end(&file[..length]).is_err(), "{length}");
        }
        assert!(check_end(b"\xff\xd8\xff\xd9").is_err());
    }
}
