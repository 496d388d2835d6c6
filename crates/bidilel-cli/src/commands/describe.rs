//! `bidilel describe CLASSES --network TEXT.onnx --tokenizer tokenizer.json --out VECTORS`: words to semantic vectors.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use bidilel_data::{ClassTexts, TextColumns, VectorFile, write_network_record};
use bidilel_math::Observer;
use bidilel_report::Format;
use bidilel_text::{Described, EncoderFiles, Pooling, SentenceEncoder, TextSettings};
use bidilel_vision::NetworkOptions;
use serde::Serialize;

use crate::failure::usage;
use crate::output;
use crate::progress::Progress;
use crate::texts::args::DescribeArgs;
use crate::texts::templates;

/// The object that `describe --format json` prints.
#[derive(Serialize)]
struct Description<'a> {
    classes: usize,
    dimensions: usize,
    sentences: usize,
    vectors: &'a Path,
    record: &'a Path,
    network: &'a Path,
    tokenizer: &'a Path,
    layer: &'a str,
    runtime: &'a str,
    runtime_version: &'a str,
    settings: &'a TextSettings,
    notes: &'a [String],
    seconds: f64,
}

pub(super) fn run(args: &DescribeArgs, format: Format, progress: &Progress) -> Result<()> {
    output::text_or_json(format)?;
    output::need_name(&args.out, "an array with a record of its network")?;
    let kind = VectorFile::of(&args.out).ok_or_else(|| {
        usage(format!("`{}`: vectors of classes are written as .npy, .npz or .csv", args.out.display()))
    })?;
    let templates = templates(&args.template)?;
    output::check_target(&args.out)?;
    progress.stage("open");
    let columns =
        TextColumns { name: args.name_column.clone(), description: args.description_column.clone() };
    let texts = ClassTexts::read(&args.classes, &columns)?;
    texts.notes.iter().for_each(|note| progress.note(note));
    let files = EncoderFiles::open(&args.network, &args.tokenizer)?;
    let settings = TextSettings {
        pooling: Pooling::parse(&args.pooling)?,
        templates,
        max_tokens: args.max_tokens,
        unit: false,
        normalize: args.normalize == "l2",
    };
    let options = NetworkOptions {
        runtime: args.runtime.runtime,
        library: args.runtime.onnxruntime.clone(),
        layer: args.layer.clone(),
        threads: rayon::current_num_threads(),
    };
    let mut encoder = SentenceEncoder::load(&files, settings, &options, usize::from(args.batch))?;
    progress.stage("describe");
    let started = Instant::now();
    let told = |done, all| progress.progress(done, all);
    let Described { vectors, sentences, notes } =
        bidilel_text::describe(&mut encoder, &texts.classes, &told)?;
    let seconds = started.elapsed().as_secs_f64();
    notes.iter().for_each(|note| progress.note(note));
    let names: Vec<String> = texts.classes.iter().map(|class| class.name.clone()).collect();
    kind.write(&args.out, &names, &vectors)?;
    let record =
        write_network_record(&args.out, &encoder.record(&files)?, kind.needs_names().then_some(&names))?;
    progress.finish();
    let (runtime, runtime_version) = encoder.runtime();
    let description = Description {
        classes: names.len(),
        dimensions: vectors.nrows(),
        sentences,
        vectors: &args.out,
        record: &record,
        network: &args.network,
        tokenizer: &args.tokenizer,
        layer: encoder.layer(),
        runtime,
        runtime_version,
        settings: &encoder.settings,
        notes: &notes,
        seconds,
    };
    match format {
        Format::Json => output::print_json(&description),
        _ => output::print(&description.text()),
    }
}

impl Description<'_> {
    fn text(&self) -> String {
        let pooling = self.settings.pooling.map_or("auto", Pooling::name);
        let mut text = format!(
            "{}: {} classes x {} dimensions, float32; names and network in {}\n",
            self.vectors.display(),
            self.classes,
            self.dimensions,
            self.record.display()
        );
        let _ = writeln!(
            text,
            "layer `{}`, pooling {pooling}, {} {}: {} sentences in {:.1} s",
            self.layer, self.runtime, self.runtime_version, self.sentences, self.seconds
        );
        text
    }
}
