//! Learns an encoder: a sample, its PCA, a mixture or words; later the PCA of feature rows.

use faer::{Mat, MatRef};

use bidilel_math::mixture::{self, Mixture};
use bidilel_math::pca::{self, ColumnSource};
use bidilel_math::{Observer, kmeans};

use super::file::{FORMAT_VERSION, Header, RowReduction};
use super::items::AnyError;
use super::settings::{Method, Reduction, Settings};
use super::{Codebook, Encoder, Items, sample};
use crate::error::{Error, Result};

/// Fewer descriptors per component than this are noted.
const FEW_PER_COMPONENT: usize = 10;

pub(super) fn fit(items: &dyn Items, settings: &Settings, watch: &dyn Observer) -> Result<Encoder> {
    settings.check()?;
    watch.stage("sample");
    let (sample, total) = sample::draw(items, settings.sample, settings.seed)?;
    let (dim, count) = (sample.nrows(), sample.ncols());
    if count < settings.components.max(2) {
        return Err(Error::Setting {
            setting: "components",
            expected: format!("at most the number of descriptors to learn from, {count} of {total}").into(),
            found: settings.components.to_string(),
        });
    }
    if count < FEW_PER_COMPONENT * settings.components {
        watch.note(&format!("{count} descriptors are few for {} components", settings.components));
    }
    let mut header = Header {
        format: FORMAT_VERSION,
        settings: settings.clone(),
        descriptor_dim: dim,
        descriptors: total,
        sampled: count,
        items: items.count(),
        variance_kept: None,
        log_likelihood: None,
        iterations: 0,
        converged: false,
        reduction: None,
    };
    watch.stage("pca");
    let principal = match pca_dim(settings.pca, dim)? {
        None => None,
        Some(wanted) => {
            let most = wanted.min(count - 1);
            let found = pca::principal_components(&sample.as_ref(), most, pca::Method::Exact, watch);
            let found = found.map_err(Error::in_stage("pca"))?;
            let kept = found.projection.directions.ncols();
            if kept < wanted {
                watch.note(&format!(
                    "descriptors vary in {kept} dimensions only, so `pca = {wanted}` is {kept}"
                ));
            }
            Some(found)
        }
    };
    header.variance_kept = principal.as_ref().map(|found| found.explained_variance_ratio);
    let projection = principal.map(|found| found.projection);
    let points = match &projection {
        None => Mat::from_fn(dim, count, |i, j| f64::from(sample[(i, j)])),
        Some(projection) => project(projection, sample.as_ref()),
    };
    drop(sample);
    watch.stage("codebook");
    let codebook = match settings.method {
        Method::Fisher => Codebook::Mixture(learn_mixture(points.as_ref(), &mut header, watch)?),
        Method::Bag => Codebook::Words(learn_words(points.as_ref(), &mut header, watch)?),
    };
    Ok(Encoder { header, projection, codebook, reduction: None })
}

/// The dimensions that are asked for.
fn pca_dim(reduction: Reduction, dim: usize) -> Result<Option<usize>> {
    match reduction {
        Reduction::None => Ok(None),
        Reduction::Half => Ok(Some((dim / 2).max(1))),
        Reduction::To(wanted) if (1..=dim).contains(&wanted) => Ok(Some(wanted)),
        Reduction::To(wanted) => Err(Error::Setting {
            setting: "pca",
            expected: format!("between 1 and {dim}, the dimensions of the descriptors").into(),
            found: wanted.to_string(),
        }),
    }
}

/// Projects in blocks, so that the sample is never widened to `f64` as a whole.
fn project(projection: &pca::Projection, sample: MatRef<'_, f32>) -> Mat<f64> {
    const BLOCK_DESCRIPTORS: usize = 8192;
    let mut points = Mat::zeros(projection.directions.ncols(), sample.ncols());
    for first in (0..sample.ncols()).step_by(BLOCK_DESCRIPTORS) {
        let count = BLOCK_DESCRIPTORS.min(sample.ncols() - first);
        let wide = Mat::from_fn(sample.nrows(), count, |i, j| f64::from(sample[(i, first + j)]));
        points.subcols_mut(first, count).copy_from(projection.project(wide.as_ref()));
    }
    points
}

/// Wraps a failed codebook; one that was canceled has not failed.
fn codebook(source: bidilel_math::Error) -> Error {
    match source {
        bidilel_math::Error::Cancelled => Error::Cancelled,
        source => Error::Codebook { source },
    }
}

fn learn_mixture(points: MatRef<'_, f64>, header: &mut Header, watch: &dyn Observer) -> Result<Mixture> {
    let settings = &header.settings;
    let floor = mixture::variance_floor(points, settings.variance_floor);
    let init = mixture::init(points, settings.components, &floor, settings.seed, watch).map_err(codebook)?;
    let stop = mixture::Settings { max_iterations: settings.iterations, tolerance: settings.tolerance };
    watch.stage("mixture");
    let found = mixture::fit(points, init, &floor, stop, watch).map_err(codebook)?;
    if let (false, [.., before, last]) = (found.converged, &found.log_likelihoods[..]) {
        watch.note(&format!(
            "the mixture was still improving after {} steps, by {:.2e} per step: raise `iterations` to go on",
            found.log_likelihoods.len() - 1,
            last - before
        ));
    }
    header.log_likelihood = found.log_likelihoods.last().copied();
    (header.iterations, header.converged) = (found.log_likelihoods.len() - 1, found.converged);
    Ok(found.mixture)
}

fn learn_words(points: MatRef<'_, f64>, header: &mut Header, watch: &dyn Observer) -> Result<Mat<f64>> {
    let settings = &header.settings;
    let init = kmeans::plus_plus(points, settings.components, settings.seed, watch);
    let init = init.map_err(codebook)?;
    let found = kmeans::kmeans(points, init, settings.iterations, watch);
    let found = found.map_err(Error::in_stage("k-means"))?;
    (header.iterations, header.converged) = (found.iterations, found.iterations < settings.iterations);
    if !header.converged {
        watch.note(&format!(
            "k-means was still moving words after {} steps: raise `iterations` to go on",
            found.iterations
        ));
    }
    Ok(found.centers)
}

pub(super) fn reduction<C: ColumnSource<Error = AnyError>>(
    encoder: &mut Encoder,
    rows: &C,
    dim: usize,
    method: Option<pca::Method>,
    watch: &dyn Observer,
) -> Result<()> {
    let most = rows.dim().min(rows.count().saturating_sub(1));
    if dim == 0 || most == 0 {
        return Err(Error::Setting {
            setting: "reduce",
            expected: "at least 1, for at least 2 items".into(),
            found: format!("{dim} for {} items", rows.count()),
        });
    }
    let by_size = if rows.dim().min(rows.count()) <= pca::EXACT_LIMIT {
        pca::Method::Exact
    } else {
        pca::Method::Randomized { seed: encoder.header.settings.seed }
    };
    let method = method.unwrap_or(by_size);
    let found = pca::principal_components(rows, dim.min(most), method, watch).map_err(|error| {
        match error.downcast::<bidilel_math::Error>() {
            Ok(source) => Error::in_stage("reduce")(*source),
            Err(source) => Error::FeatureRows { source },
        }
    })?;
    encoder.header.reduction =
        Some(RowReduction { variance_kept: found.explained_variance_ratio, residual: found.residual });
    encoder.reduction = Some(found.projection);
    Ok(())
}
