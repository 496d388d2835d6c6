//! A latent space from several views, or from kernels of them: [`Fusion`] chooses the form in which it is solved for.
//!
//! No learner knows of kernels. Where the problem is not solved in the visual dimensions, the learner gets features
//! whose inner products are the fused kernel ([`Mapped`]), and its linear map is unfolded into one of the views' own
//! features. The graph is that of the views in any case.

use bidilel_math::{Observer, Scalar};

use super::{BottomUp, LatentSpaceLearner, Locality, Regularizer};
use crate::error::Result;
use crate::landmarks::Landmarks;
use crate::latent_space::{LatentSpace, Map};
use crate::task::Training;
use crate::visual::{Fusion, Kernel, KernelForm, KernelMap, Mapped, Report, Unfolded, Views};

/// A latent space with its landmarks: the bottom-up half of a fit, which does not depend on the unseen classes.
#[derive(Debug, Clone, PartialEq)]
pub struct LandmarkSpace {
    /// The latent space.
    pub space: LatentSpace,
    /// The known classes in it.
    pub landmarks: Landmarks,
    /// How the views were joined.
    pub fusion: Report,
}

impl BottomUp {
    /// Learns the latent space and finds the landmarks in it, from views and kernels of any kind.
    pub(crate) fn learn<T: Scalar>(
        &self,
        fusion: &Fusion,
        training: &Training<'_, T>,
        watch: &dyn Observer,
    ) -> Result<LandmarkSpace> {
        let direct = self.is_direct();
        let (method, reason) = fusion.choose(training.views, training.features.ncols(), direct)?;
        let mut report = Report::new(method, reason, training.views);
        if method == KernelForm::Primal {
            let space = self.fit(training, watch)?;
            let landmarks = landmarks(&space, training, watch)?;
            return Ok(LandmarkSpace { space, landmarks, fusion: report });
        }
        let graph = self.graph(training, watch)?;
        let mapped = fusion.mapped(method, direct, training.views, training.features, watch)?;
        for (view, &kernel) in report.views.iter_mut().filter(|view| view.weight > 0.0).zip(mapped.kernels())
        {
            view.kernel = Kernel::of(kernel);
        }
        report.rank = (method == KernelForm::Nystrom).then(|| mapped.train.nrows());
        report.approximation_error = mapped.error;
        let inner = Views::single("kernel", mapped.train.nrows());
        let over = Training {
            features: mapped.train.as_ref(),
            labels: training.labels,
            classes: training.classes,
            semantics: training.semantics,
            views: &inner,
            total: None,
        };
        let learner = if method == KernelForm::NSpace { self.over_kernel(direct) } else { self.clone() };
        let space = match &graph {
            Some(graph) => learner.fit_graph(&over, graph, watch)?,
            None => learner.fit(&over, watch)?,
        };
        let landmarks = landmarks(&space, &over, watch)?;
        Ok(LandmarkSpace { space: unfolded(&mapped, space), landmarks, fusion: report })
    }

    /// Whether the problem over all instances is the paper's own: no factor of the kernel matrix is needed then.
    pub(crate) fn is_direct(&self) -> bool {
        let own = |locality: &Locality| locality.regularizer == Regularizer::Kernel && !locality.center;
        match self {
            Self::Slpp(slpp) => own(&slpp.locality),
            Self::Lpp(lpp) => own(&lpp.locality),
            _ => false,
        }
    }

    /// The learner over columns of the kernel matrix, where the regularizer of the kernel form is $\alpha I$.
    pub(crate) fn over_kernel(&self, direct: bool) -> Self {
        let mut learner = self.clone();
        if direct {
            match &mut learner {
                Self::Slpp(slpp) => slpp.locality.regularizer = Regularizer::Identity,
                Self::Lpp(lpp) => lpp.locality.regularizer = Regularizer::Identity,
                _ => {}
            }
        }
        learner
    }
}

fn landmarks<T: Scalar>(
    space: &LatentSpace,
    training: &Training<'_, T>,
    watch: &dyn Observer,
) -> Result<Landmarks> {
    watch.stage("landmarks");
    let Training { features, labels, classes, .. } = training;
    let landmarks = Landmarks::of_columns(space, *features, labels, *classes, watch)?;
    landmarks.verify(space, training.features, training.labels, watch)?;
    Ok(landmarks)
}

/// A space over the features of the fused kernel as one over the views' own.
fn unfolded<T: Scalar>(mapped: &Mapped<'_, T>, space: LatentSpace) -> LatentSpace {
    let spaces = space.spaces();
    let linear = match space.map {
        Map::Linear(map) | Map::Several { map, .. } => Some(map),
        _ => None,
    };
    let map = match mapped.unfold(linear) {
        Unfolded::Linear(map) if spaces > 1 => Map::Several { map, spaces },
        Unfolded::Linear(map) => Map::Linear(map),
        Unfolded::Kernel(map) => Map::Kernel(KernelMap { spaces, ..map }),
    };
    LatentSpace { map, mean: space.mean }
}
