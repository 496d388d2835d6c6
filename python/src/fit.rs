//! Fits to arrays: labeled rows of the known classes, and descriptions of all classes.

use bidilel::calibrate::{Calibration, HoldOut};
use bidilel::dataset::{Dataset, Metric};
use bidilel::model::KeptInstances;
use bidilel::settings::Settings;
use bidilel::task::{Samples, Shared};
use bidilel::visual::View;
use bidilel::{
    Candidates, ClassSemantics, Error, Mat, Method, Model, Observer, Rows, Task, Views, ZeroShotMethod,
};

use crate::failure::Failure;

/// The one view of a model that was fitted to an array.
pub(crate) const VIEW: &str = "features";
/// The dataset and the split that such a model says it was fitted to.
pub(crate) const NAME: &str = "arrays";
pub(crate) const SPLIT: &str = "fit";

/// A semantic representation of all classes.
pub(crate) struct Description {
    /// Its name.
    pub(crate) name: String,
    /// Its distance.
    pub(crate) metric: Metric,
    /// Dimensions x classes, known ones first; classes x classes where distances are precomputed.
    pub(crate) vectors: Mat<f64>,
    /// Names of its dimensions, where they have some.
    pub(crate) dimension_names: Option<Vec<String>>,
}

/// What to learn from, beside the rows.
pub(crate) struct Classes {
    /// The known class of every row.
    pub(crate) labels: Vec<usize>,
    /// Names of the known classes.
    pub(crate) known: Vec<String>,
    /// Names of the unseen classes.
    pub(crate) unseen: Vec<String>,
    /// Descriptions; none where the known classes are told apart by landmarks alone.
    pub(crate) descriptions: Vec<Description>,
    /// Names of the features, where they have some.
    pub(crate) columns: Option<Vec<String>>,
}

/// How to fit.
pub(crate) struct Wanted {
    /// The method.
    pub(crate) settings: Settings,
    /// The seed of everything random.
    pub(crate) seed: u64,
    /// Folds of held-out known classes by which probabilities are calibrated.
    pub(crate) calibrate: Option<usize>,
    /// Training instances per class to show similar ones of.
    pub(crate) keep_instances: Option<usize>,
}

/// Fits a model.
pub(crate) fn fit(
    rows: &dyn Rows,
    classes: Classes,
    wanted: &Wanted,
    watch: &dyn Observer,
) -> Result<Model, Failure> {
    let Wanted { settings, seed, calibrate, keep_instances } = wanted;
    let (seed, described) = (*seed, !classes.descriptions.is_empty());
    let mut settings = settings.clone();
    settings.visual = Some(vec![VIEW.to_owned()]);
    let names: Vec<String> = classes.descriptions.iter().map(|one| one.name.clone()).collect();
    // Without descriptions the name stands for nothing: what is chosen of them is not looked at.
    settings.semantic = Some(if described { names } else { vec![String::new()] });
    let method = Method::from_settings(&settings, seed);
    method.require_inductive()?;
    let (known, unseen) = (classes.known.len(), classes.unseen.len());
    let dataset = dataset(&classes)?;
    let choice = settings.choice(&dataset)?;
    let semantics = if described {
        let (first, rest): (Vec<usize>, Vec<usize>) =
            ((0..known).collect(), (known..known + unseen).collect());
        ClassSemantics::new(&dataset, &choice.semantic, &first, &rest)?
    } else {
        if !matches!(method, Method::Bidilel(_)) {
            let expected = "bidilel without descriptions of the classes".to_owned();
            let found = method.name().to_string();
            return Err(Error::Setting { setting: "method", expected: expected.into(), found }.into());
        }
        ClassSemantics::from_representations(Vec::new(), known)
    };
    watch.stage("load");
    let Classes { labels, known, unseen, columns, .. } = classes;
    let samples = Samples::read(&[(rows, "X")], labels, choice.normalize, watch)?;
    let parts = choice.visual.iter().map(|view| View {
        name: view.name.clone(),
        dim: rows.dim(),
        weight: view.weight,
        kernel: view.kernel,
        columns: columns.clone(),
    });
    let task = Task {
        split: SPLIT.to_owned(),
        views: Views { parts: parts.collect() },
        test: Samples { features: Mat::zeros(rows.dim(), 0), labels: Vec::new() },
        train: samples,
        test_seen: None,
        known,
        unseen,
        semantics,
        shared: Shared::default(),
    };
    let fitted = method.fit(&task, watch)?;
    let mut model = Model::new(NAME, choice.normalize, &task, &method, fitted);
    if choice.candidates == Candidates::All && !task.unseen.is_empty() {
        let like = HoldOut::like(&task, Candidates::All, seed);
        let hold_out = HoldOut { folds: calibrate.unwrap_or(like.folds), ..like };
        model = model.calibrated(&task, &method, &hold_out, watch)?;
    } else if let Some(folds) = calibrate {
        if task.unseen.is_empty() {
            let expected =
                "left out where no class is unseen: held-out classes stand for unseen ones".to_owned();
            return Err(Error::Setting {
                setting: "calibrate",
                expected: expected.into(),
                found: folds.to_string(),
            }
            .into());
        }
        model.calibration = Some(Calibration::new(&task, &method, *folds, seed, watch)?);
    }
    if let Some(per_class) = keep_instances {
        let all: Vec<usize> = (0..task.train.labels.len()).collect();
        model.kept = Some(KeptInstances::of(model.latent()?, &task.train, &all, None, *per_class)?);
    }
    if watch.poll().is_break() { Err(Error::Cancelled.into()) } else { Ok(model) }
}

/// The classes with their descriptions, as a dataset without instances: what is wrong with them is found there.
pub(crate) fn dataset(classes: &Classes) -> Result<Dataset, Failure> {
    let mut builder = Dataset::builder(NAME).classes(classes.known.iter().chain(&classes.unseen).cloned());
    for one in &classes.descriptions {
        builder = builder.semantic(&one.name, one.metric, one.vectors.clone());
    }
    let mut dataset = builder.build()?;
    for (made, one) in dataset.semantic.iter_mut().zip(&classes.descriptions) {
        made.origin = format!("semantics `{}`", one.name);
        made.dimension_names.clone_from(&one.dimension_names);
        if let Some(names) = &one.dimension_names
            && names.len() != one.vectors.nrows()
        {
            let (expected, found) = (one.vectors.nrows(), names.len());
            let what = "names of dimensions";
            return Err(Error::Mismatch { origin: made.origin.clone(), what, expected, found }.into());
        }
    }
    Ok(dataset)
}
