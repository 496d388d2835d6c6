//! All of it: files to rows, rows to a file.
//!
//! Files go through in chunks: a batch of pictures, or one video. One chunk is decoded on all threads while the network runs on the one
//! before. What is finished is kept beside the output, so that a run that is killed goes on where it was, and since
//! chunks begin at the same files then, with the same bytes.

mod output;
mod runner;
mod unfinished;

use std::path::PathBuf;
use std::sync::mpsc::sync_channel;

use bidilel_data::Precision;
use rayon::prelude::*;

use crate::decode::{Decoded, Decoding};
use crate::discover::{Found, Item};
use crate::error::{Contradiction, Error, Result};
use crate::kind::Kind;
use crate::network::{Network, NetworkFile, Pool};
use crate::picture::Picture;
use crate::preprocess::Preprocess;
use crate::video;
use output::Sides;
use runner::Runner;
use unfinished::Unfinished;

/// How videos are taken apart.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VideoOptions {
    /// The program `ffmpeg`.
    #[serde(skip)]
    pub program: PathBuf,
    /// Frames that an image network sees of a video, spread over its length.
    pub frames: usize,
    /// Instead: that many frames per second.
    pub frames_per_second: Option<f64>,
    /// Frames of a clip, where the network takes any number.
    pub clip: usize,
    /// Frames that a clip has in common with the one before.
    pub overlap: usize,
}

impl Default for VideoOptions {
    fn default() -> Self {
        Self { program: "ffmpeg".into(), frames: 16, frames_per_second: None, clip: 16, overlap: 8 }
    }
}

/// How features are made and where they go.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct ExtractOptions {
    /// The most bytes that the pixels of one picture may take.
    pub most_bytes: u64,
    /// From pixels to the network's input.
    pub preprocess: Preprocess,
    /// From the network's output to a row.
    pub pool: Pool,
    /// Pictures at a time.
    pub batch: usize,
    /// The number type of the file.
    #[serde(skip)]
    pub precision: Precision,
    /// For videos.
    pub video: VideoOptions,
    /// The `.npy` file; lists of what is in it and of what is not go beside it.
    #[serde(skip)]
    pub out: PathBuf,
    /// Whether a run that was stopped is continued.
    #[serde(skip)]
    pub resume: bool,
    /// Whether names in the lists are kept from being formulas of a spreadsheet.
    #[serde(skip)]
    pub csv_safe: bool,
    /// Whether a file that cannot be read is an error.
    #[serde(skip)]
    pub stop_at_bad: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// Rows of the file.
    pub rows: usize,
    /// Numbers a row.
    pub dimensions: usize,
    /// Files without a row, and why.
    pub skipped: Vec<(String, String)>,
    /// Files that an earlier run had done.
    pub resumed: usize,
    /// The list of rows.
    pub list: PathBuf,
    /// The list of files without a row.
    pub skipped_list: PathBuf,
    /// The record of the network.
    pub network_record: PathBuf,
}

/// Makes a row of features for every file that was found.
///
/// `progress` hears how many files are done, and of those how many were skipped.
pub fn extract(
    found: &Found,
    file: &NetworkFile,
    network: &mut Network,
    options: &ExtractOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Extracted> {
    let input = file.input()?;
    check(found, &input, options)?;
    let sides = Sides::of(&options.out)?;
    let mut runner = Runner::new(network, input, options);
    let dimensions = runner.dimensions()?;
    let row = dimensions * if options.precision == Precision::Float16 { 2 } else { 4 };
    bidilel_data::probe(&options.out, (found.items.len() * row) as u64)?;
    let fingerprint = fingerprint(found, file.fingerprint()?, &runner, options)?;
    let mut unfinished = Unfinished::open(&options.out, fingerprint, dimensions, options)?;
    let resumed = unfinished.files().min(found.items.len());
    let mut skipped = unfinished.skipped.len();
    progress(resumed, skipped);

    let chunks = chunks(&found.items[resumed..], options.batch);
    std::thread::scope(|scope| -> Result<()> {
        let (send, receive) = sync_channel(1);
        let chunks = &chunks;
        scope.spawn(move || {
            for chunk in chunks {
                let decoded: Vec<_> = chunk.par_iter().map(|item| prepare(item, options)).collect();
                // Nobody listens any more once the other side has failed.
                if send.send(decoded).is_err() {
                    return;
                }
            }
        });
        let mut done = resumed;
        for (chunk, prepared) in chunks.iter().zip(receive) {
            let rows = runner.chunk(chunk, prepared)?;
            if options.stop_at_bad
                && let Some((item, Err(problem))) = chunk.iter().zip(&rows).find(|(_, row)| row.is_err())
            {
                return Err(Error::Unreadable { picture: item.path.clone(), problem: problem.clone() });
            }
            done += chunk.len();
            skipped += rows.iter().filter(|row| row.is_err()).count();
            unfinished.append(chunk, rows)?;
            progress(done, skipped);
        }
        Ok(())
    })?;
    let record = file.record(runner.names().2, options)?;
    let (rows, skipped) = sides.write(&found.items, &options.out, unfinished, options)?;
    let network_record = bidilel_data::write_network_record(&options.out, &record, None)?;
    let Sides { list, skipped_list } = sides;
    Ok(Extracted { rows, dimensions, skipped, resumed, list, skipped_list, network_record })
}

/// Up to `batch` files at a time; a video, which is long, for itself.
///
/// Each chunk depends only on the files from its first on, so that a resumed run has the same chunks.
fn chunks(mut items: &[Item], batch: usize) -> Vec<&[Item]> {
    let is_video = |item: &Item| item.kind == Ok(Kind::Video);
    let mut chunks = Vec::new();
    while let Some(first) = items.first() {
        let pictures = items.iter().take(batch).take_while(|item| !is_video(item)).count();
        let (chunk, rest) = items.split_at(if is_video(first) { 1 } else { pictures });
        chunks.push(chunk);
        items = rest;
    }
    chunks
}

/// A file on its way to the network.
enum Prepared {
    Views(Vec<Picture>),
    Video,
}

fn prepare(item: &Item, options: &ExtractOptions) -> std::result::Result<Prepared, String> {
    let kind = item.kind.clone()?;
    if kind == Kind::Video {
        return Ok(Prepared::Video);
    }
    if item.length > options.most_bytes {
        return Err(format!("is a file of {} MiB, more than allowed", item.length >> 20));
    }
    let bytes = std::fs::read(&item.file).map_err(|error| format!("cannot be read: {error}"))?;
    let decoding = Decoding { background: options.preprocess.background, most_bytes: options.most_bytes };
    Decoded::read(&bytes, kind, decoding, |decoded| options.preprocess.views(decoded)).map(Prepared::Views)
}

fn check(found: &Found, input: &crate::network::Input, options: &ExtractOptions) -> Result<()> {
    let preprocess = &options.preprocess;
    preprocess.check()?;
    if let Some(size) = input.size
        && size != preprocess.size
    {
        return Err(Contradiction::PictureSize { expected: size, found: preprocess.size }.into());
    }
    if let Some(expected) = input.layout
        && expected != preprocess.layout
    {
        return Err(Contradiction::ChannelOrder { expected }.into());
    }
    let video = &options.video;
    if let Some(expected @ 1..) = input.frames
        && expected != video.clip
    {
        return Err(Contradiction::ClipFrames { expected, found: video.clip }.into());
    }
    if input.frames.is_some() && video.overlap >= video.clip {
        return Err(Contradiction::ClipOverlap { frames: video.clip, overlap: video.overlap }.into());
    }
    if let Some(first) = found.items.iter().find(|item| item.kind == Ok(Kind::Video))
        && let Err(problem) = video::check(&video.program)
    {
        let program = video.program.display().to_string();
        return Err(Error::NoFfmpeg { path: first.file.clone(), program, problem });
    }
    Ok(())
}

/// A number that changes with whatever changes a byte of the output.
fn fingerprint(found: &Found, network: u64, runner: &Runner<'_>, options: &ExtractOptions) -> Result<u64> {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    let (runtime, version, layer) = runner.names();
    let half = options.precision == Precision::Float16;
    let what = (env!("CARGO_PKG_VERSION"), network, runtime, version, layer, half, options);
    let text = serde_json::to_string(&what).map_err(Error::Record)?;
    hash.update(text.as_bytes());
    for item in &found.items {
        let (seconds, nanoseconds) = item.changed.unwrap_or_default();
        hash.update(item.path.as_bytes());
        hash.update(&[0]);
        hash.update(&item.length.to_le_bytes());
        hash.update(&seconds.to_le_bytes());
        hash.update(&nanoseconds.to_le_bytes());
    }
    Ok(hash.digest())
}
