//! Training instances that a model keeps to show similar ones: their points in the latent space.
//!
//! Only points and names are kept, in single precision: `instances.points` (latent dimensions x instances),
//! `instances.labels` (known classes), `instances.rows` (rows of the dataset) in a model file, names in its header. They
//! explain answers and take no part in finding them.

use faer::{Mat, MatRef};
use safetensors::tensor::SafeTensors;

use bidilel_math::Scalar;

use crate::error::{ModelProblem, Result};
use crate::pipeline::Fitted;
use crate::recognize::mean_distances;
use crate::stored::unpack;
use crate::task::Samples;
use crate::tensors::{self, Tensor};

/// Training instances in the latent space.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptInstances {
    points: Mat<f32>,
    /// Numbers, as they are stored.
    labels: Vec<f64>,
    rows: Vec<f64>,
    names: Option<Vec<String>>,
}

impl KeptInstances {
    /// Keeps up to `per_class` training instances of every known class: at equal steps from the one that is nearest to the
    /// landmark to the one that is farthest, so that they show the class in its width. `rows` are their rows in the
    /// dataset, `names` those of all rows, where there are some.
    ///
    /// # Errors
    /// Those of the projection.
    pub fn of(
        fitted: &Fitted,
        train: &Samples,
        rows: &[usize],
        names: Option<&[String]>,
        per_class: usize,
    ) -> Result<Self> {
        let points = fitted.space.project(train.features.as_ref())?;
        let spaces = fitted.space.spaces();
        let mut kept = Vec::new();
        for class in 0..fitted.landmarks.points.ncols() {
            let own: Vec<usize> = (0..train.labels.len()).filter(|&i| train.labels[i] == class).collect();
            let members = Mat::from_fn(points.nrows(), own.len(), |i, j| points[(i, own[j])]);
            let landmark = fitted.landmarks.points.subcols(class, 1);
            let away = mean_distances(members.as_ref(), landmark, spaces);
            let mut order: Vec<usize> = (0..own.len()).collect();
            order.sort_by(|&a, &b| away[(a, 0)].total_cmp(&away[(b, 0)]).then(a.cmp(&b)));
            let count = per_class.min(own.len());
            kept.extend((0..count).map(|step| own[order[step * own.len() / count]]));
        }
        kept.sort_unstable();
        #[expect(clippy::cast_possible_truncation, reason = "half the size, and only for comparison")]
        let narrow = Mat::from_fn(points.nrows(), kept.len(), |i, j| points[(i, kept[j])] as f32);
        Ok(Self {
            points: narrow,
            labels: kept.iter().map(|&i| train.labels[i] as f64).collect(),
            rows: kept.iter().map(|&i| rows[i] as f64).collect(),
            names: names.map(|names| kept.iter().map(|&i| names[rows[i]].clone()).collect()),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The row of an instance in the dataset.
    pub fn row(&self, index: usize) -> usize {
        whole(self.rows[index])
    }

    /// The known class of an instance.
    pub fn label(&self, index: usize) -> usize {
        whole(self.labels[index])
    }

    /// The path or identifier of an instance, where it has one.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.names.as_ref().map(|names| names[index].as_str())
    }

    /// Names as the header has them.
    pub(super) fn names(&self) -> Option<&Vec<String>> {
        self.names.as_ref()
    }

    /// The instances nearest to a point, with their distances, nearest first.
    pub fn nearest(&self, point: MatRef<'_, f64>, spaces: usize, most: usize) -> Vec<(usize, f64)> {
        let wide = Mat::from_fn(self.points.nrows(), self.count(), |i, j| self.points[(i, j)].to_f64());
        let distances = mean_distances(wide.as_ref(), point, spaces);
        let mut order: Vec<(usize, f64)> = (0..self.count()).map(|i| (i, distances[(i, 0)])).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        order.truncate(most);
        order
    }

    /// Those whose known class is kept, by its index after the change; `after` has it for every class before.
    pub(crate) fn relabeled(&self, after: &[Option<usize>]) -> Self {
        let kept: Vec<(usize, usize)> =
            (0..self.count()).filter_map(|i| Some((i, after[self.label(i)]?))).collect();
        Self {
            points: Mat::from_fn(self.points.nrows(), kept.len(), |i, j| self.points[(i, kept[j].0)]),
            labels: kept.iter().map(|&(_, label)| label as f64).collect(),
            rows: kept.iter().map(|&(index, _)| self.rows[index]).collect(),
            names: self
                .names
                .as_ref()
                .map(|names| kept.iter().map(|&(index, _)| names[index].clone()).collect()),
        }
    }

    pub(super) fn tensors(&self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::narrow("instances.points", &self.points),
            Tensor::vector("instances.labels", &self.labels),
            Tensor::vector("instances.rows", &self.rows),
        ]
    }

    /// The instances of a file, where it has some.
    pub(super) fn read(
        file: &SafeTensors<'_>,
        dim: usize,
        known: usize,
        names: Option<Vec<String>>,
    ) -> Result<Option<Self>> {
        if file.tensor("instances.points").is_err() {
            return Ok(None);
        }
        let labels = unpack(file, "instances.labels", None, Some(1))?.col_as_slice(0).to_vec();
        let count = labels.len();
        let rows = unpack(file, "instances.rows", Some(count), Some(1))?.col_as_slice(0).to_vec();
        let points =
            tensors::unpack_narrow(file, "instances.points", dim, count).map_err(ModelProblem::from)?;
        let sound = |&value: &f64| value >= 0.0 && value.fract() == 0.0;
        let fits = labels.iter().all(|label| sound(label) && *label < known as f64)
            && rows.iter().all(sound)
            && names.as_ref().is_none_or(|names| names.len() == count);
        if !fits {
            return Err(ModelProblem::Without { what: "sound list of training instances" }.into());
        }
        Ok(Some(Self { points, labels, rows, names }))
    }
}

/// A number that is whole, as all of these are.
fn whole(value: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked when it was read")]
    let whole = value as usize;
    whole
}

#[cfg(test)]
mod tests {
    use bidilel_math::Silent;

    use super::*;
    use crate::explain::{Explainer, Extent};
    use crate::method::{Method, ZeroShotMethod};
    use crate::model::Model;
    use crate::recognize::Candidates;
    use crate::settings::Settings;
    use crate::synthetic::Synthetic;
    use crate::task::Task;

    fn kept(per_class: usize) -> (Model, Task) {
        let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(2).expect("a dataset");
        let settings = Settings::default();
        let choice = settings.choice(&dataset).expect("views");
        let trial = dataset.trials(None).expect("a split").remove(0);
        let task = Task::new(&dataset, &trial, &choice, &Silent).expect("a task");
        let method = Method::from_settings(&settings, 0);
        let fitted = method.fit(&task, &Silent).expect("a fit");
        let mut model = Model::new("x", choice.normalize, &task, &method, fitted);
        let names: Vec<String> = (0..dataset.labels.len()).map(|row| format!("{row}.jpg")).collect();
        let latent = model.latent().expect("a space");
        let found = KeptInstances::of(latent, &task.train, &trial.train, Some(&names), per_class);
        model.kept = Some(found.expect("points"));
        (model, task)
    }

    #[test]
    fn a_training_instance_is_most_similar_to_itself() {
        let (model, task) = kept(usize::MAX);
        assert_eq!(model.kept.as_ref().map(KeptInstances::count), Some(task.train.labels.len()));
        let model = Model::from_bytes(&model.to_bytes().expect("bytes")).expect("a model");
        let recognition = model.recognize(task.train.features.as_ref(), Candidates::All).expect("scores");
        let explainer = Explainer::new(&model, Candidates::Unseen, Extent::default());
        for instance in [0, 7, 30] {
            let similar = explainer.explain(&recognition, instance).instances.expect("they are kept");
            assert_eq!(similar[0].label, model.known[task.train.labels[instance]]);
            assert_eq!(similar[0].path.as_deref(), Some(format!("{}.jpg", similar[0].row).as_str()));
            assert!(similar[0].distance < 1e-6 && similar.len() == 3);
        }
    }

    #[test]
    fn every_class_keeps_its_share_and_leaves_with_it() {
        let (mut model, task) = kept(2);
        let classes = model.known.len();
        assert_eq!(model.kept.as_ref().map(KeptInstances::count), Some(2 * classes));
        let gone = model.known[3].clone();
        let last = model.known.last().expect("a class").clone();
        model.remove_classes(&[gone.as_str()]).expect("it is there");
        let left = model.kept.as_ref().expect("some");
        assert_eq!(left.count(), 2 * (classes - 1));
        assert!((0..left.count()).any(|i| model.known[left.label(i)] == last));
        assert!((0..left.count()).all(|i| model.known[left.label(i)] != gone));
        drop(task);
    }
}
