//! Videos, through a stand-in for `ffmpeg` that writes known frames.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Work, bitmap, plain};

/// Frame `n` is all `n`: 10 pixels wide, 8 high.
fn film(work: &mut Work, frames: u8, ending: &str) {
    let mut pixmaps = Vec::new();
    for frame in 0..frames {
        pixmaps.extend(b"P6\n10 8\n255\n");
        pixmaps.extend(vec![frame; 10 * 8 * 3]);
    }
    fs::write(work.out("frames.ppm"), pixmaps).unwrap();
    let mut script = "#!/bin/sh\n".to_owned();
    let _ = writeln!(script, "[ \"$1\" = -version ] && exit 0");
    let _ = writeln!(script, "echo \"$@\" > '{}'", work.out("arguments").display());
    let _ = writeln!(script, "cat '{}'\n{ending}", work.out("frames.ppm").display());
    let program = work.out("ffmpeg");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    work.options.video.program = program;
    work.put("run/film.avi", b"RIFF\0\0\0\0AVI LIST");
}

#[test]
fn clips_of_sixteen_frames_overlap_by_eight_and_are_averaged() {
    let mut work = Work::new("clip", plain(8));
    // Clips begin at 0, 8, 16; frames 32 to 36 make no whole clip.
    film(&mut work, 37, "");
    let extracted = work.run().unwrap();
    assert_eq!((extracted.rows, extracted.dimensions), (1, 48));
    let expected: Vec<f32> = (0..48).map(|index| 8.0 + (index % 16) as f32).collect();
    assert_eq!(work.rows(), [expected]);
    let arguments = fs::read_to_string(work.out("arguments")).unwrap();
    assert!(arguments.contains("-i file:") && arguments.contains("-map 0:v:0"), "{arguments}");
    assert!(arguments.trim_end().ends_with("-f image2pipe -c:v ppm pipe:1"), "{arguments}");
    assert_eq!(fs::read_to_string(extracted.list).unwrap(), "index,path,label\n0,run/film.avi,run\n");
}

#[test]
fn a_short_film_stands_still_and_a_picture_is_no_clip() {
    let mut work = Work::new("clip", plain(8));
    film(&mut work, 3, "");
    work.put("picture.bmp", &bitmap(9, 9, [1, 1, 1]));
    let extracted = work.run().unwrap();
    let expected: Vec<f32> = (0..48).map(|index| ((index % 16) as f32).min(2.0)).collect();
    assert_eq!(work.rows(), [expected]);
    assert!(extracted.skipped[0].1.contains("takes clips"));
}

#[test]
fn an_image_network_sees_frames_from_all_over_the_film() {
    let mut work = Work::new("mean", plain(8));
    film(&mut work, 200, "");
    work.options.video.frames = 4;
    work.run().unwrap();
    let mean = work.rows()[0][0];
    assert!((mean - 99.5).abs() < 10.0, "{mean}");
    work.options.video.frames_per_second = Some(2.5);
    work.run().unwrap();
    assert_eq!(work.rows()[0][0], 99.5, "all that ffmpeg gives are averaged");
    assert!(fs::read_to_string(work.out("arguments")).unwrap().contains("-vf fps=2.5"));
}

#[test]
fn a_film_that_fails_is_skipped_with_what_ffmpeg_says() {
    for (frames, ending, words) in [
        (20, "echo 'moov atom not found' >&2; exit 1", "ffmpeg: moov atom not found"),
        (0, "", "has no frames"),
        (2, "printf 'P6 10 8 255\\nabc'", "ffmpeg stopped within a frame"),
        (0, "echo hello", "something else than frames"),
        (0, "printf 'P6 99999 99999 255\\n'", "which are not read"),
        (0, "printf 'P6 99999999999 1 255\\n'", "impossible size"),
    ] {
        let mut work = Work::new("mean", plain(8));
        film(&mut work, frames, ending);
        work.put("good.bmp", &bitmap(9, 9, [1, 1, 1]));
        let extracted = work.run().unwrap();
        assert_eq!((extracted.rows, extracted.skipped.len()), (1, 1), "{ending}");
        assert!(extracted.skipped[0].1.contains(words), "{:?}", extracted.skipped);
    }
}

#[test]
fn without_ffmpeg_it_says_what_to_install() {
    let mut work = Work::new("mean", plain(8));
    film(&mut work, 2, "");
    work.options.video.program = "no-such-program-here".into();
    let error = work.run().unwrap_err();
    assert!(error.to_string().contains("film.avi` is a video"), "{error}");
    assert!(error.hint().unwrap().contains("apt install ffmpeg"));
    assert!(!work.options.out.exists());
}
