//! Whatever is in a file: a reason or a row, never a panic.

use std::fs;

use bidilel_vision::{NetworkFile, NetworkOptions, Runtime};

use crate::support::{Work, bitmap, fixture, plain};

/// Numbers without meaning, the same every time.
fn noise(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_extracted() {
    let mut work = Work::new("mean", plain(8));
    let jpeg = fs::read(fixture("pictures/photo.jpg")).unwrap();
    work.put("a/cut.jpg", &jpeg[..jpeg.len() - 300]);
    work.put("a/empty.jpg", b"");
    work.put("a/text.png", b"I am a text.");
    work.put("a/good.bmp", &bitmap(5, 5, [1, 2, 3]));
    work.put("a/notes.txt", b"nobody's business");
    work.put_picture("cmyk.jpg");
    // 30,000 x 30,000 pixels as the header says; not one of them is there.
    let mut huge = bitmap(1, 1, [0; 3]);
    huge[18..22].copy_from_slice(&30_000_u32.to_le_bytes());
    huge[22..26].copy_from_slice(&30_000_u32.to_le_bytes());
    work.put("a/huge.bmp", &huge);
    let extracted = work.run().unwrap();
    assert_eq!(extracted.rows, 2);
    let problems: Vec<String> =
        extracted.skipped.iter().map(|(path, problem)| format!("{path} {problem}")).collect();
    assert_eq!(
        problems,
        [
            "a/cut.jpg is cut off: the file ends before the picture does",
            "a/empty.jpg is empty",
            "a/huge.bmp its 30000 x 30000 pixels would take 2575 MiB, more than the 1024 MiB allowed",
            "a/text.png is no picture or video, whatever its name says",
        ]
    );
    let list = fs::read_to_string(extracted.skipped_list).unwrap();
    assert!(list.starts_with("path,problem\na/cut.jpg,is cut off"), "{list}");
    work.options.most_bytes = 10;
    let error = work.run().unwrap_err().to_string();
    assert!(error.contains("none of the 6 pictures can be read"), "{error}");
}

#[test]
fn damaged_pictures_never_panic() {
    let work = Work::new("mean", plain(8));
    let mut seed = 5;
    for entry in fs::read_dir(fixture("pictures")).unwrap() {
        let path = entry.unwrap().path();
        let (name, bytes) =
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        for round in 0..24 {
            let mut damaged = bytes.clone();
            if round % 3 == 0 {
                damaged.truncate(noise(&mut seed) as usize % bytes.len());
            }
            for _ in 0..round % 7 {
                if !damaged.is_empty() {
                    let at = noise(&mut seed) as usize % damaged.len();
                    damaged[at] = noise(&mut seed) as u8;
                }
            }
            work.put(&format!("{round}-{name}"), &damaged);
        }
    }
    work.put("good.bmp", &bitmap(5, 5, [1, 2, 3]));
    let extracted = work.run().unwrap();
    assert!(extracted.rows > 1 && extracted.skipped.len() > 50);
    for (path, problem) in extracted.skipped {
        assert!(!problem.contains("the decoder gave up"), "{path}: {problem}");
    }
}

#[test]
fn damaged_networks_are_errors() {
    let mut work = Work::new("layers", plain(16));
    work.put("good.bmp", &bitmap(5, 5, [1, 2, 3]));
    let bytes = fs::read(fixture("networks/layers.onnx")).unwrap();
    work.network = work.out("damaged.onnx");
    let mut seed = 11;
    let (mut errors, mut good) = (0, 0);
    for round in 0..400 {
        let mut damaged = bytes.clone();
        if round % 2 == 0 {
            damaged.truncate(1 + noise(&mut seed) as usize % (bytes.len() - 1));
        } else {
            for _ in 0..=round % 5 {
                // The first bytes are names and operations; weights make up the rest.
                let at = noise(&mut seed) as usize % 400;
                damaged[at] = noise(&mut seed) as u8;
            }
        }
        fs::write(&work.network, &damaged).unwrap();
        match work.run() {
            Ok(_) => good += 1,
            Err(_) => errors += 1,
        }
        for name in ["features.npy.part", "features.npy.part.jsonl"] {
            let _ = fs::remove_file(work.out(name));
        }
    }
    assert!(errors > 200, "{errors} errors, {good} good");
    for bytes in [&b"hello"[..], b"", b"\x08\x08", &[0xff; 100], b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"]
    {
        fs::write(&work.network, bytes).unwrap();
        assert!(NetworkFile::open(&work.network).is_err());
    }
}

#[test]
fn a_library_that_is_none_is_an_error() {
    let file = NetworkFile::open(&fixture("networks/mean.onnx")).unwrap();
    let library = fixture("networks/mean.onnx");
    let options = NetworkOptions { runtime: Runtime::Ort, library: Some(library), layer: None, threads: 1 };
    let error = file.load(&options).err().expect("it is no library");
    assert!(error.to_string().starts_with("ONNX Runtime cannot be used"), "{error}");
    assert!(error.hint().unwrap().contains("ORT_DYLIB_PATH"));
}
