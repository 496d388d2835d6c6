//! Arguments of `bidilel extract`.

use std::path::PathBuf;

use bidilel_data::Precision;
use bidilel_vision::{
    Channels, Crops, Filter, Fit, LabelFrom, Layout, Only, Pool, Preset, Range, Runtime, Size,
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// A folder of pictures and videos, with a subfolder for every class; or one file
    #[arg(value_hint = ValueHint::AnyPath, required_unless_present = "list_layers")]
    pub(crate) folder: Option<PathBuf>,
    /// The network, an ONNX file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) network: PathBuf,
    /// The features to write, a .npy file; paths and labels go to a .csv of the same name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "list_layers")]
    pub(crate) out: Option<PathBuf>,
    /// The tensor to take, averaged over positions [default: the first output]
    #[arg(long, value_name = "NAME")]
    pub(crate) layer: Option<String>,
    /// List the tensors of the network with their shapes, and stop
    #[arg(long)]
    pub(crate) list_layers: bool,
    /// Continue an extraction that was stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// End with status 1 if a picture could not be read; all others are extracted all the same
    #[arg(long)]
    pub(crate) strict: bool,
    /// Also write a dataset folder with these features and the subfolders as classes
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) dataset: Option<PathBuf>,
    /// Number type of the features
    #[arg(long, value_name = "TYPE", default_value = "float32", value_parser = one_of(PRECISIONS))]
    pub(crate) dtype: Precision,
    /// Pictures that go through the network at a time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) batch: u16,
    /// How a tensor with positions or tokens is pooled
    #[arg(long, value_name = "POOL", default_value = "mean", value_parser = one_of(POOLS))]
    pub(crate) pool: Pool,
    #[cfg(feature = "text")]
    #[command(flatten)]
    pub(crate) describe: DescriptionArgs,
    #[command(flatten)]
    pub(crate) preprocess: PreprocessArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) runtime: RuntimeArgs,
    #[command(flatten)]
    pub(crate) video: VideoArgs,
}

#[cfg(feature = "text")]
#[derive(Debug, Args)]
#[command(next_help_heading = "Descriptions of the classes of --dataset")]
pub(crate) struct DescriptionArgs {
    /// Names and descriptions of all classes, as `describe` takes them; those without pictures are the unseen ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires_all = ["dataset", "text_network", "tokenizer"])]
    pub(crate) describe: Option<PathBuf>,
    /// The text network that makes vectors of them, an ONNX file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "describe")]
    pub(crate) text_network: Option<PathBuf>,
    /// The tokenizer.json that comes with the text network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "describe")]
    pub(crate) tokenizer: Option<PathBuf>,
    /// A sentence with {} for the description, else the name (may be repeated)
    #[arg(long, value_name = "TEXT", requires = "describe")]
    pub(crate) template: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Preprocessing")]
pub(crate) struct PreprocessArgs {
    /// What the network was trained with; the options below change single settings of it
    #[arg(long, value_name = "NAME", default_value = "torchvision", value_parser = one_of(PRESETS))]
    pub(crate) preset: Preset,
    /// Size of the network's input, 224 or WIDTHxHEIGHT [default: the network's, else the preset's]
    #[arg(long, value_name = "PIXELS", value_parser = Size::parse)]
    pub(crate) size: Option<Size>,
    /// Shorter side before the edges are cut off, or WIDTHxHEIGHT for --fit stretch [default: the preset's]
    #[arg(long, value_name = "PIXELS", value_parser = Size::parse)]
    pub(crate) resize: Option<Size>,
    /// How a picture gets the shape of the input: cropped at the center, padded, or stretched
    #[arg(long, value_name = "FIT", value_parser = one_of(FITS))]
    pub(crate) fit: Option<Fit>,
    /// Kernel of the resizing
    #[arg(long, value_name = "KERNEL", value_parser = one_of(FILTERS))]
    pub(crate) filter: Option<Filter>,
    /// Average over this many crops: 1, or 10 for the center, the corners, and all of them mirrored
    #[arg(long, value_name = "N", default_value = "1", value_parser = one_of(CROPS))]
    pub(crate) crops: Crops,
    /// Numbers run from 0 to this before mean and std: 1 or 255
    #[arg(long, value_name = "X", value_parser = one_of(RANGES))]
    pub(crate) range: Option<Range>,
    /// Subtracted from each channel: three numbers, or one for all
    #[arg(long, value_name = "X,X,X", value_parser = three, allow_hyphen_values = true)]
    pub(crate) mean: Option<[f32; 3]>,
    /// What each channel is then divided by: three numbers, or one for all
    #[arg(long, value_name = "X,X,X", value_parser = three, allow_hyphen_values = true)]
    pub(crate) std: Option<[f32; 3]>,
    /// Channels first or last [default: the network's]
    #[arg(long, value_name = "LAYOUT", value_parser = one_of(LAYOUTS))]
    pub(crate) layout: Option<Layout>,
    /// Red first or blue first; mean and std follow the same order
    #[arg(long, value_name = "ORDER", value_parser = one_of(CHANNELS))]
    pub(crate) channels: Option<Channels>,
    /// What shows through transparent pixels and fills up: white, black, gray or #rrggbb
    #[arg(long, value_name = "COLOR", default_value = "white", value_parser = color)]
    pub(crate) background: [u8; 3],
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Take only pictures, or only videos
    #[arg(long, value_name = "KIND", value_parser = one_of(ONLY))]
    pub(crate) only: Option<Only>,
    /// Which folder of a path is the label: the first, or the one that the picture is in
    #[arg(long, value_name = "FOLDER", default_value = "top", value_parser = one_of(LABELS))]
    pub(crate) label_from: LabelFrom,
    /// Memory that the pixels of one picture may take; larger pictures are reported and skipped
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) picture_memory: u64,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Runtime")]
pub(crate) struct RuntimeArgs {
    /// What runs the network: onnxruntime where its library is found and rten otherwise, or one of them
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = one_of(RUNTIMES))]
    pub(crate) runtime: Runtime,
    /// The shared library of ONNX Runtime [default: ORT_DYLIB_PATH, else where the system looks]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) onnxruntime: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Videos")]
pub(crate) struct VideoArgs {
    /// The program that takes videos apart
    #[arg(long, value_name = "FILE", default_value = "ffmpeg", value_hint = ValueHint::FilePath)]
    pub(crate) ffmpeg: PathBuf,
    /// Frames of a video that an image network sees, spread over its length
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) frames: u16,
    /// Instead: this many frames per second
    #[arg(long, value_name = "X", value_parser = positive, conflicts_with = "frames")]
    pub(crate) frames_per_second: Option<f64>,
    /// Frames of a clip, for networks that take clips [default: the network's, else 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) clip: Option<u16>,
    /// Frames that a clip shares with the one before [default: half a clip]
    #[arg(long, value_name = "N")]
    pub(crate) clip_overlap: Option<u16>,
}

const PRECISIONS: &[(&str, Precision)] = &[("float32", Precision::Float32), ("float16", Precision::Float16)];
const POOLS: &[(&str, Pool)] =
    &[("mean", Pool::Mean), ("max", Pool::Max), ("first", Pool::First), ("flatten", Pool::Flatten)];
const PRESETS: &[(&str, Preset)] = &{
    let mut named = [("", Preset::Torchvision); Preset::ALL.len()];
    let mut index = 0;
    while index < named.len() {
        named[index] = (Preset::ALL[index].name(), Preset::ALL[index]);
        index += 1;
    }
    named
};
const FITS: &[(&str, Fit)] = &[("crop", Fit::Crop), ("pad", Fit::Pad), ("stretch", Fit::Stretch)];
const FILTERS: &[(&str, Filter)] =
    &[("nearest", Filter::Nearest), ("bilinear", Filter::Bilinear), ("bicubic", Filter::Bicubic)];
const CROPS: &[(&str, Crops)] = &[("1", Crops::Center), ("10", Crops::Ten)];
const RANGES: &[(&str, Range)] = &[("1", Range::One), ("255", Range::Bytes)];
const LAYOUTS: &[(&str, Layout)] = &[("nchw", Layout::Nchw), ("nhwc", Layout::Nhwc)];
const CHANNELS: &[(&str, Channels)] = &[("rgb", Channels::Rgb), ("bgr", Channels::Bgr)];
const ONLY: &[(&str, Only)] = &[("pictures", Only::Pictures), ("videos", Only::Videos)];
const LABELS: &[(&str, LabelFrom)] = &[("top", LabelFrom::Top), ("parent", LabelFrom::Parent)];
const RUNTIMES: &[(&str, Runtime)] =
    &[("auto", Runtime::Auto), ("rten", Runtime::Rten), ("ort", Runtime::Ort)];

/// A parser for one of several names, which help and completions show.
fn one_of<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).map(move |typed| {
        let found = names.iter().find(|(name, _)| *name == typed);
        found.expect("clap lets only these through").1
    })
}

fn three(text: &str) -> Result<[f32; 3], String> {
    let wrong = || "expected three numbers such as 0.485,0.456,0.406, or one for all channels".to_owned();
    let numbers: Vec<f32> = text
        .split(',')
        .map(|number| number.trim().parse::<f32>().ok().filter(|number| number.is_finite()))
        .collect::<Option<_>>()
        .ok_or_else(wrong)?;
    match numbers[..] {
        [one] => Ok([one; 3]),
        [a, b, c] => Ok([a, b, c]),
        _ => Err(wrong()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1000.0 => Ok(number),
        _ => Err("expected a number above 0 and up to 1000".to_owned()),
    }
}

fn color(text: &str) -> Result<[u8; 3], String> {
    match text {
        "white" => return Ok([255; 3]),
        "black" => return Ok([0; 3]),
        "gray" | "grey" => return Ok([128; 3]),
        _ => {}
    }
    let wrong = || "expected white, black, gray or a color such as #ff8800".to_owned();
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
    let [_, red, green, blue] = number.to_be_bytes();
    Ok([red, green, blue])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_colors_are_read_or_refused() {
        assert_eq!(three("127"), Ok([127.0; 3]));
        assert_eq!(three("-1, 2,3.5"), Ok([-1.0, 2.0, 3.5]));
        assert!(["", "1,2", "a,b,c", "1,2,3,4", "nan"].into_iter().all(|text| three(text).is_err()));
        assert_eq!(color("#ff8000"), Ok([255, 128, 0]));
        assert!(["", "red", "#ff", "#gggggg", "+12345"].into_iter().all(|text| color(text).is_err()));
        assert!(["0", "-1", "inf", "x"].into_iter().all(|text| positive(text).is_err()));
    }
}
