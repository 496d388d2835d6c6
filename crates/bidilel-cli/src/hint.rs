//! Hints: what to type when a command failed, by the variant of the error.

use bidilel::Error;

/// The hint for a failure of the library: what its options can do about it, or what the library knows of the data.
pub(crate) fn hint(error: &Error) -> Option<String> {
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
        Error::NoEdges => {
            "raise --neighbors, or use --neighborhood within-class; classes of one instance have no neighbors"
                .to_owned()
        }
        other => return other.hint(),
    };
    Some(text)
}
