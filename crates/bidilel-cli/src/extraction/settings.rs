//! Settings of `extract`, from its arguments and the declared input of the network.

use bidilel_vision::{ExtractOptions, Input, Layout, NetworkOptions, Preprocess, Size, VideoOptions};

use super::args::{ExtractArgs, PreprocessArgs};

/// The preprocessing: what was typed, else what the network shows, else the preset.
pub(crate) fn preprocess(args: &PreprocessArgs, input: &Input) -> Preprocess {
    let size = args.size.or(input.size);
    let preset = args.preset.settings(size);
    let resize = args.resize.map(|resize| resized(resize, preset.size));
    Preprocess {
        resize: resize.unwrap_or(preset.resize),
        fit: args.fit.unwrap_or(preset.fit),
        filter: args.filter.unwrap_or(preset.filter),
        crops: args.crops,
        range: args.range.unwrap_or(preset.range),
        mean: args.mean.unwrap_or(preset.mean),
        std: args.std.unwrap_or(preset.std),
        layout: args.layout.or(input.layout).unwrap_or(Layout::Nchw),
        channels: args.channels.unwrap_or(preset.channels),
        background: args.background,
        ..preset
    }
}

/// One number is the shorter side, for an input that need not be square.
fn resized(resize: Size, size: Size) -> Size {
    if resize.width != resize.height || size.width == size.height {
        return resize;
    }
    let short = size.width.min(size.height);
    let side = |side: u32| resize.width * side / short;
    Size { width: side(size.width), height: side(size.height) }
}

/// Frames of a clip, and how many of them two clips share.
pub(crate) fn clip(args: &ExtractArgs, input: &Input) -> (usize, usize) {
    let typed = args.video.clip.map(usize::from);
    let clip = typed.or(input.frames.filter(|&frames| frames > 0)).unwrap_or(16);
    (clip, args.video.clip_overlap.map_or(clip / 2, usize::from))
}

pub(crate) fn network(args: &ExtractArgs) -> NetworkOptions {
    NetworkOptions {
        runtime: args.runtime.runtime,
        library: args.runtime.onnxruntime.clone(),
        layer: args.layer.clone(),
        threads: rayon::current_num_threads(),
    }
}

pub(crate) fn options(args: &ExtractArgs, input: &Input, out: &std::path::Path) -> ExtractOptions {
    let (clip, overlap) = clip(args, input);
    ExtractOptions {
        most_bytes: args.files.picture_memory << 20,
        preprocess: preprocess(&args.preprocess, input),
        pool: args.pool,
        batch: usize::from(args.batch),
        precision: args.dtype,
        video: VideoOptions {
            program: args.video.ffmpeg.clone(),
            frames: usize::from(args.video.frames),
            frames_per_second: args.video.frames_per_second,
            clip,
            overlap,
        },
        out: out.to_owned(),
        resume: args.resume,
        csv_safe: crate::output::is_csv_safe(),
        stop_at_bad: false,
    }
}
