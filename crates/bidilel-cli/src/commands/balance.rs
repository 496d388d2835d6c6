//! What `predict` says about the classes of a batch to balanced refinement.

use anyhow::Result;
use bidilel::model::Model;
use bidilel::post::{Post, Prior};
use bidilel_math::Observer;

use crate::args::PredictArgs;
use crate::failure::{usage, worded};
use crate::shares;

/// Gives balanced refinement the shares and the strength that were typed.
pub(super) fn apply(
    args: &PredictArgs,
    model: &Model,
    post: &mut [Post],
    watch: &dyn Observer,
) -> Result<()> {
    let prior = args.balanced_prior.as_deref().map(shares::resolved).transpose()?;
    if let Some(texts) = &prior {
        let prior = Prior::parse(texts).map_err(|error| usage(worded(&error)))?;
        prior.require_among(model.known.iter().chain(&model.unseen))?;
    }
    let (mut used, mut held) = (false, false);
    for refiner in post {
        if let Post::Balanced(settings) = refiner {
            used = true;
            settings.balanced_prior = prior.clone().or(settings.balanced_prior.take());
            settings.balanced_strength = args.balanced_strength.unwrap_or(settings.balanced_strength);
            held |= settings.balanced_strength > 0.0;
        }
    }
    if !used && (prior.is_some() || args.balanced_strength.is_some()) {
        watch.note("without balanced its settings have no effect: add --post balanced");
    }
    if used && !held && prior.is_some() {
        watch.note("--balanced-prior has no effect where the shares of the classes are free: add --balanced-strength 0.5");
    }
    Ok(())
}
