//! Hints: what to type when a command failed, by the variant of the error.

#[cfg(feature = "vision")]
use bidilel_vision::{Contradiction, Unfinished};

/// The hint for a failure of the library: what its options can do about it, or what the library knows of the data.
pub(crate) fn for_library(error: &bidilel::Error) -> Option<String> {
    use bidilel::Error;
    use bidilel::error::{ClassProblem, Part, SplitProblem};
    let text = match error {
        Error::Math { source: bidilel_math::Error::NotPositiveDefinite { .. }, .. } => {
            "raise --alpha or --ridge".to_owned()
        }
        Error::NoDescriptors { .. } => {
            "remove the item, or give it a row of zeros with `--empty zero`".to_owned()
        }
        Error::Codebook { source: bidilel_math::Error::Parameter { .. } } => {
            "lower --components, raise --sample, or bring more descriptors".to_owned()
        }
        Error::Negative { view, .. } => {
            format!("use --kernel {view}=rbf or {view}=linear for features that are no histograms")
        }
        Error::KernelMemory { .. } => {
            "raise --kernel-memory, or approximate: --kernel-method nystrom with --nystrom-rank".to_owned()
        }
        Error::ApproximateFolds => {
            "leave --search out here, and give it to `evaluate` and `fit` afterwards".to_owned()
        }
        Error::Setting { setting: "balanced_prior", .. } => {
            "give every unseen class a share, by its name: as CLASS=SHARE, comma-separated, or in a .csv or .json file"
                .to_owned()
        }
        Error::NoEdges => {
            "raise --neighbors, or use --neighborhood within-class; classes of one instance have no neighbors"
                .to_owned()
        }
        Error::NotInDataset { what: Part::Split, available, .. } if available.is_empty() => {
            format!("{}; or divide them at random with --random-splits", error.hint().unwrap_or_default())
        }
        Error::Split { problem: SplitProblem::NoSeenTest, .. } => {
            "draw some with --test-seen-share 0.2, or name a split by instances, as `proposed` of the benchmarks is"
                .to_owned()
        }
        Error::Split { problem: SplitProblem::TestsKnown { .. }, .. } => {
            "leave out --test-seen-share".to_owned()
        }
        Error::Uncalibrated => {
            "leave out --post, give --post none, or fit with --generalized and these refiners".to_owned()
        }
        Error::Transductive { .. } => {
            "`evaluate` and `compare` run it; `bidilel methods` lists the inductive ones".to_owned()
        }
        Error::Classes { problem: ClassProblem::NotDescribed { representation, .. } } => format!(
            "give it with --semantic {representation}=FILE, with --attribute where its dimensions have names, or with \
             --words FILE where it was made of word vectors"
        ),
        Error::Classes { problem: ClassProblem::NeedsFit { .. } } => {
            "change the dataset, and run `bidilel fit` again".to_owned()
        }
        Error::Classes { problem: ClassProblem::NoAttributeNames } => {
            "name them in the dataset (`names` of a semantic representation in dataset.toml, or the header of a table) and \
             fit again; or give a vector with --semantic NAME=FILE"
                .to_owned()
        }
        Error::Classes { problem: ClassProblem::NoAttribute { .. } } => {
            "`bidilel class describe` shows attributes of a class".to_owned()
        }
        Error::Classes { problem: ClassProblem::Unknown { .. } } => {
            "`bidilel class list` shows the classes".to_owned()
        }
        Error::Classes { problem: ClassProblem::Exists { .. } } => {
            "choose another name, or remove the class first with `bidilel class remove`".to_owned()
        }
        other => return other.hint(),
    };
    Some(text)
}

/// What to do about a file that cannot be used.
pub(crate) fn for_data(error: &bidilel_data::Error) -> Option<String> {
    use bidilel_data::Error;
    let hint = match error {
        Error::WhichKey { keys, .. } if !keys.is_empty() => {
            "say which one: `key = \"…\"` in dataset.toml, `--key` on the command line"
        }
        Error::SeveralLabels { .. } => {
            "`bidilel tag` evaluates such a dataset, `bidilel fit` and `predict --tags` use it"
        }
        Error::MissingColumns { .. } => {
            "the model was fitted to columns of these names; name others in their order with `--columns`"
        }
        Error::NoColumns { .. } => {
            "say which columns are features: `columns = [\"…\"]` in dataset.toml, `--columns` on the command line"
        }
        Error::Suspect { .. } => {
            "take the column out of the file, or say which ones to use: `--columns 1..129`"
        }
        Error::NoMemory { .. } => {
            "convert it to .npy, which is mapped; `predict` also reads CSV, Parquet, HDF5 and compressed arrays in blocks"
        }
        _ => return error.hint(),
    };
    Some(hint.to_owned())
}

/// What to do about pictures, networks and settings that cannot be used.
#[cfg(feature = "vision")]
pub(crate) fn for_vision(error: &bidilel_vision::Error) -> Option<String> {
    use bidilel_vision::Error;
    let more = match error {
        Error::Data(error) => return for_data(error),
        Error::NoLayer { .. } => "--list-layers shows all of them",
        Error::Unreadable { .. } => "--skip-bad-rows leaves such files out, and says which",
        Error::Run { runtime: "rten", .. } => "--onnxruntime FILE names the library in it",
        Error::Library { .. } => "--onnxruntime FILE names it, too, and --runtime rten does without",
        Error::NoFfmpeg { .. } => "--ffmpeg FILE names it, and --only pictures leaves videos out",
        Error::Unfinished { state: Unfinished::Begun, .. } => "--resume continues it",
        Error::Unfinished { state: Unfinished::Foreign, .. } => "--out names it",
        Error::Settings(contradiction) => return for_contradiction(contradiction).map(str::to_owned),
        _ => return error.hint(),
    };
    Some(error.hint().map_or_else(|| more.to_owned(), |hint| format!("{hint}; {more}")))
}

/// What to do about texts, tokenizers and text networks that cannot be used.
#[cfg(feature = "text")]
pub(crate) fn for_text(error: &bidilel_text::Error) -> Option<String> {
    match error {
        bidilel_text::Error::Data(error) => for_data(error),
        bidilel_text::Error::Network(bidilel_vision::Error::NoLayer { .. }) => error.hint(),
        bidilel_text::Error::Network(error) => for_vision(error),
        _ => error.hint(),
    }
}

#[cfg(feature = "vision")]
fn for_contradiction(contradiction: &Contradiction) -> Option<&'static str> {
    match contradiction {
        Contradiction::Resize { .. } => Some("give a larger --resize, or a smaller --size"),
        Contradiction::StandardDeviation => Some("--std takes three numbers, as in --std 0.229,0.224,0.225"),
        Contradiction::TenCrops => {
            Some("give a --resize that is larger than --size, and --fit other than pad")
        }
        Contradiction::Batch { .. } => Some("give a smaller --batch or --size"),
        Contradiction::PictureSize { .. } => Some("--size sets it; without it, the network decides"),
        Contradiction::ChannelOrder { .. } => Some("--layout sets it; without it, the network decides"),
        _ => None,
    }
}
