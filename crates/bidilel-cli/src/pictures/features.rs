//! From what was typed to files of feature rows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bidilel::Model;
use bidilel::networks::NetworkRecord;
use bidilel_data::TemporaryFolder;
use bidilel_math::Observer;
use bidilel_vision::{
    ExtractOptions, Item, LabelFrom, NetworkOptions, Only, VideoOptions, discover, extract, is_visual,
};

use crate::args::InputArgs;
use crate::commands::expanded;
use crate::failure::{hinted, usage};
use crate::networks::Places;
use crate::progress::Progress;

/// Skipped pictures that are named on the terminal.
const MAX_NAMED: usize = 5;

/// What is to be recognized.
pub(crate) struct Instances<'a> {
    /// Where feature rows are.
    pub(crate) input: Cow<'a, InputArgs>,
    /// The pictures of the rows; none for feature rows.
    pub(crate) files: Option<Vec<PathBuf>>,
    /// Pictures that could not be read, and why.
    pub(crate) skipped: Vec<(String, String)>,
    /// The features of pictures, for as long as they are needed.
    _scratch: Option<TemporaryFolder>,
}

/// Feature rows as they are; pictures, videos and folders of them become feature rows by the model's own networks.
///
/// A picture that cannot be read is an error, or with `skip_bad` is left out and listed.
pub(crate) fn instances<'a>(
    args: &'a InputArgs,
    model: &Model,
    skip_bad: bool,
    progress: &Progress,
) -> Result<Instances<'a>> {
    let mut visual = Vec::new();
    for typed in &args.features {
        // What cannot be found is reported by whoever opens feature rows.
        let paths = expanded(typed).unwrap_or_else(|_| vec![PathBuf::from(typed)]);
        visual.extend(paths.into_iter().map(|path| is_for_network(&path, model).then_some(path)));
    }
    let pictures: Vec<PathBuf> = visual.iter().flatten().cloned().collect();
    if pictures.is_empty() {
        return Ok(Instances {
            input: Cow::Borrowed(args),
            files: None,
            skipped: Vec::new(),
            _scratch: None,
        });
    }
    if pictures.len() < visual.len() {
        return Err(usage("pictures and files of feature rows cannot be mixed: give one kind at a time"));
    }
    let items = found(&pictures, progress)?;
    let records = records(model)?;
    let scratch = TemporaryFolder::new()?;
    let work = Extraction { args, model, skip_bad, folder: scratch.path(), progress };
    let (items, skipped) = work.all_views(&records, items)?;
    report_skipped(&skipped, progress);
    let mut input = args.clone();
    input.features = match &records[..] {
        [_] => vec![view_path(scratch.path(), 0).to_string_lossy().into_owned()],
        several => several
            .iter()
            .enumerate()
            .map(|(view, (name, _))| format!("{name}={}", view_path(scratch.path(), view).display()))
            .collect(),
    };
    // These are said of feature files.
    (input.key, input.columns, input.transpose) = (Vec::new(), Vec::new(), false);
    (input.id_column, input.label_column) = (None, None);
    let files = items.into_iter().map(|item| item.file).collect();
    Ok(Instances { input: Cow::Owned(input), files: Some(files), skipped, _scratch: Some(scratch) })
}

/// Whether a path is a picture or a video, or a folder of these.
fn is_for_network(path: &Path, model: &Model) -> bool {
    if !path.is_dir() {
        return is_visual(path);
    }
    // A model that never saw a picture is not asked about folders without one: that is another mistake.
    !model.networks.visual.is_empty() || discover(path, Only::Both, LabelFrom::Top).is_ok()
}

/// The pictures and videos of everything that was typed, each once, by the path that leads to it.
fn found(typed: &[PathBuf], progress: &Progress) -> Result<Vec<Item>> {
    let (mut items, mut others): (Vec<Item>, usize) = (Vec::new(), 0);
    let mut seen = std::collections::HashSet::new();
    for path in typed {
        let found = discover(path, Only::Both, LabelFrom::Top)?;
        others += found.others;
        for mut item in found.items {
            item.path = if path.is_dir() {
                format!("{}/{}", path.display().to_string().trim_end_matches('/'), item.path)
            } else {
                path.display().to_string()
            };
            item.raw_path = item.path.clone().into_bytes();
            if seen.insert(item.path.clone()) {
                items.push(item);
            }
        }
    }
    if others > 0 {
        progress.note(&format!("{others} files are neither pictures nor videos, and are left out"));
    }
    Ok(items)
}

/// The network of every view.
fn records(model: &Model) -> Result<Vec<(&str, &NetworkRecord)>> {
    let record = |view: &'_ str| {
        model.networks.visual.get_key_value(view).ok_or_else(|| {
            let message = format!("the model does not say which network made its features (view `{view}`), so it cannot look at pictures");
            let hint = "`extract` records its network beside the features: fit a dataset with these; or extract the pictures by the \
                        network of the training features, and predict the rows";
            hinted(message, hint)
        })
    };
    let views = model.views.parts.iter();
    views.map(|view| record(&view.name).map(|(name, record)| (name.as_str(), record))).collect()
}

fn view_path(folder: &Path, view: usize) -> PathBuf {
    folder.join(format!("view-{view}.npy"))
}

/// Pictures without a row, each with its reason.
type Skipped = Vec<(String, String)>;

struct Extraction<'a> {
    args: &'a InputArgs,
    model: &'a Model,
    skip_bad: bool,
    folder: &'a Path,
    progress: &'a Progress,
}

impl Extraction<'_> {
    /// Extracts every view; what one network cannot take is left out of all views.
    fn all_views(
        &self,
        records: &[(&str, &NetworkRecord)],
        mut items: Vec<Item>,
    ) -> Result<(Vec<Item>, Skipped)> {
        let mut skipped = Skipped::new();
        loop {
            let before = skipped.len();
            for (view, (_, record)) in records.iter().enumerate() {
                let more = self.view(record, &items, &view_path(self.folder, view))?;
                items.retain(|item| more.iter().all(|(path, _)| *path != item.path));
                skipped.extend(more);
            }
            // Views before the one that left something out have rows too many.
            if records.len() == 1 || skipped.len() == before {
                return Ok((items, skipped));
            }
        }
    }

    /// Extracts one view.
    fn view(&self, record: &NetworkRecord, items: &[Item], out: &Path) -> Result<Skipped> {
        let pictures = &self.args.pictures;
        let places = Places { model: self.model, model_path: &self.args.model, given: &pictures.network };
        let file = places.network(record)?;
        let recorded = ExtractOptions::from_record(record)?;
        let options = ExtractOptions {
            video: VideoOptions { program: pictures.ffmpeg.clone(), ..recorded.video.clone() },
            out: out.to_owned(),
            resume: false,
            csv_safe: false,
            stop_at_bad: !self.skip_bad,
            ..recorded
        };
        let network_options = NetworkOptions {
            runtime: pictures.runtime.runtime,
            library: pictures.runtime.onnxruntime.clone(),
            layer: Some(record.layer.clone()),
            threads: rayon::current_num_threads(),
        };
        let mut network = file.load(&network_options)?;
        let found = bidilel_vision::Found { items: items.to_vec(), others: 0 };
        self.progress.stage("extract");
        let told = |done, _| self.progress.progress(done, items.len());
        let extracted = extract(&found, &file, &mut network, &options, &told)?;
        Ok(extracted.skipped)
    }
}

fn report_skipped(skipped: &Skipped, progress: &Progress) {
    for (path, problem) in skipped.iter().take(MAX_NAMED) {
        progress.note(&format!("skipped `{path}`: {problem}"));
    }
    if skipped.len() > MAX_NAMED {
        progress.note(&format!("and {} more are skipped", skipped.len() - MAX_NAMED));
    }
}
