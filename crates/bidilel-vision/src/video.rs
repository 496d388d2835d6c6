//! Frames of a video, through the program `ffmpeg`.
//!
//! `ffmpeg` writes every frame as a portable pixmap (`P6 width height 255` and the bytes), so that each tells its own
//! size and nothing must be asked before. Frames are read one by one; a film of any length takes little memory.

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::picture::Picture;

/// The most pixels that a frame may have: 16K in both directions.
const MOST_PIXELS: u64 = 16_384 * 16_384;

/// Whether the program can be started.
pub(crate) fn check(program: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("`-version` ends with {status}")) }
}

/// The frames of one video.
pub(crate) struct Frames {
    child: Child,
    out: BufReader<ChildStdout>,
    errors: Option<std::thread::JoinHandle<String>>,
    ended: bool,
}

impl Frames {
    /// Starts to decode; with `rate`, that many frames per second.
    pub(crate) fn open(program: &Path, file: &Path, rate: Option<f64>) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(["-nostdin", "-v", "error", "-i"]);
        // `file:` keeps a name with a colon from being taken for an address.
        let mut name = std::ffi::OsString::from("file:");
        name.push(file);
        command.arg(name).args(["-map", "0:v:0", "-an", "-sn"]);
        match rate {
            Some(rate) => command.args(["-vf", &format!("fps={rate}")]),
            // Every frame once: none is doubled or dropped to keep time.
            None => command.args(["-fps_mode", "passthrough"]),
        };
        command.args(["-f", "image2pipe", "-c:v", "ppm", "pipe:1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
        let out = child.stdout.take().expect("it was asked for");
        let err = child.stderr.take().expect("it was asked for");
        // Read aside, so that a talkative program is not held up; more than this nobody reads.
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut err = err;
            let _ = err.by_ref().take(4096).read_to_end(&mut text);
            let _ = std::io::copy(&mut err, &mut std::io::sink());
            String::from_utf8_lossy(&text).trim().replace('\n', "; ")
        });
        Ok(Self { child, out: BufReader::with_capacity(1 << 16, out), errors: Some(errors), ended: false })
    }

    /// The next frame; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Picture>, String> {
        if self.ended {
            return Ok(None);
        }
        let mut magic = [0_u8; 2];
        if self.out.read(&mut magic[..1]).map_err(broken)? == 0 {
            self.ended = true;
            return self.finish().map(|()| None);
        }
        self.out.read_exact(&mut magic[1..]).map_err(broken)?;
        if &magic != b"P6" {
            return Err("ffmpeg gave something else than frames".to_owned());
        }
        let (width, height, most) = (self.number()?, self.number()?, self.number()?);
        if most != 255 || width == 0 || height == 0 || u64::from(width) * u64::from(height) > MOST_PIXELS {
            return Err(format!(
                "has frames of {width} x {height} with values to {most}, which are not read"
            ));
        }
        let mut pixels = vec![0; width as usize * height as usize * 3];
        self.out.read_exact(&mut pixels).map_err(broken)?;
        Ok(Some(Picture { width, height, pixels }))
    }

    /// A number of the header with the white space before it and the one byte after it.
    fn number(&mut self) -> Result<u32, String> {
        let mut number = None;
        loop {
            let mut byte = [0];
            self.out.read_exact(&mut byte).map_err(broken)?;
            match (byte[0], number) {
                (digit @ b'0'..=b'9', _) => {
                    let sum = number
                        .unwrap_or(0_u32)
                        .checked_mul(10)
                        .and_then(|n| n.checked_add(u32::from(digit - b'0')));
                    number = Some(sum.ok_or("ffmpeg gave a frame of impossible size")?);
                }
                (space, None) if space.is_ascii_whitespace() => {}
                (space, Some(number)) if space.is_ascii_whitespace() => return Ok(number),
                _ => return Err("ffmpeg gave something else than frames".to_owned()),
            }
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        let status = self.child.wait().map_err(|error| error.to_string())?;
        let said = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let said = without_addresses(&said);
        Err(if said.is_empty() { format!("ffmpeg ends with {status}") } else { format!("ffmpeg: {said}") })
    }
}

/// `[mov @ 0x55d0c0ffee00] no atom` without the place in memory, which is another in every run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split(" @ 0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

impl Drop for Frames {
    fn drop(&mut self) {
        // Frames that nobody wants need not be made; if it has ended by itself, so much the better.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn broken(error: std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "ffmpeg stopped within a frame".to_owned(),
        _ => format!("ffmpeg cannot be listened to: {error}"),
    }
}

/// Frames from all over a film whose length is not known until its end.
///
/// Every `stride`-th frame is kept; when twice as many as wanted are there, every other is dropped and the stride
/// doubles. In the end `wanted` of them are taken at equal distances.
pub(crate) struct Sample<T> {
    wanted: usize,
    stride: usize,
    seen: usize,
    kept: Vec<T>,
}

impl<T> Sample<T> {
    pub(crate) fn new(wanted: usize) -> Self {
        Self { wanted, stride: 1, seen: 0, kept: Vec::new() }
    }

    /// Whether the next frame is to be kept.
    pub(crate) fn wants(&self) -> bool {
        self.seen.is_multiple_of(self.stride)
    }

    /// Counts a frame, with its content if it was wanted.
    pub(crate) fn put(&mut self, frame: Option<T>) {
        self.seen += 1;
        self.kept.extend(frame);
        if self.kept.len() >= 4 * self.wanted {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// The frames in the middle of `wanted` equal parts of the film.
    pub(crate) fn take(self) -> Vec<T> {
        let count = self.kept.len();
        if count <= self.wanted {
            return self.kept;
        }
        let mut chosen = (0..self.wanted).map(|part| (2 * part + 1) * count / (2 * self.wanted)).peekable();
        let kept = self.kept.into_iter().enumerate();
        kept.filter(|(index, _)| chosen.next_if_eq(index).is_some()).map(|(_, frame)| frame).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_has_the_same_words() {
        assert_eq!(without_addresses("[mov,mp4 @ 0x5588e4f0] a; [h264 @ 0x0] b"), "[mov,mp4] a; [h264] b");
        assert_eq!(without_addresses("nothing"), "nothing");
    }

    #[test]
    fn a_sample_is_spread_over_films_of_any_length() {
        for length in [1, 3, 16, 17, 63, 64, 65, 1000, 12_345] {
            let mut sample = Sample::new(16);
            for frame in 0..length {
                let wanted = sample.wants().then_some(frame);
                sample.put(wanted);
                assert!(sample.kept.len() < 64);
            }
            let frames = sample.take();
            assert_eq!(frames.len(), length.min(16));
            for (part, frame) in frames.iter().enumerate() {
                let middle = (part as f64 + 0.5) / frames.len() as f64 * length as f64;
                assert!((*frame as f64 - middle).abs() <= length as f64 / 16.0 + 1.0, "{length}: {frames:?}");
            }
        }
    }
}
