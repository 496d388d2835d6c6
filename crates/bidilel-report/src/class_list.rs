//! The result of `class list`: the classes of a model and the known classes nearest to each.

use bidilel::Model;
use bidilel::recognize::mean_distances;
use serde::{Deserialize, Serialize};

use crate::{Align, Table};

/// The object that `class list --format json` prints.
///
/// ```
/// use bidilel::{Model, Settings, Silent, Synthetic};
/// use bidilel_report::ClassList;
///
/// let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
/// let model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent)?;
/// let list = ClassList::of(&model, 3);
/// assert_eq!(list.classes[0].nearest_known.len(), 3);
/// println!("{}", list.table().text(Some(80)));
/// # Ok::<(), bidilel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassList {
    /// Name of the dataset that the model was fitted on.
    pub dataset: String,
    /// Its split.
    pub split: String,
    /// Unseen classes first: they are the candidates of recognition.
    pub classes: Vec<ListedClass>,
}

/// One class of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedClass {
    /// Its name.
    pub name: String,
    /// Whether it had training instances.
    pub role: ClassRole,
    /// The nearest known classes, nearest first; never the class itself.
    pub nearest_known: Vec<NearClass>,
}

/// Whether a class had training instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassRole {
    /// It had.
    Known,
    /// It had none: only its semantic vector is known.
    Unseen,
}

/// A known class near to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearClass {
    /// Its name.
    pub name: String,
    /// Distance in the latent space, where the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent_distance: Option<f64>,
    /// Distance in the semantic space; in a list of classes only of unseen ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic_distance: Option<f64>,
}

impl NearClass {
    /// Its name with the distance that it was ordered by.
    pub(crate) fn text(&self) -> String {
        let distance = self.latent_distance.or(self.semantic_distance);
        distance.map_or_else(|| self.name.clone(), |distance| format!("{} {distance:.2}", self.name))
    }
}

impl ClassRole {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Unseen => "unseen",
        }
    }
}

impl ClassList {
    /// Lists the classes of a model, each with its `nearest` known classes: in the latent space, or by their descriptions
    /// where the method has none.
    pub fn of(model: &Model, nearest: usize) -> Self {
        let latent = model.latent().ok().map(|fitted| {
            let (landmarks, spaces) = (fitted.landmarks.points.as_ref(), fitted.space.spaces());
            let to_unseen = mean_distances(landmarks, fitted.embedding.points.as_ref(), spaces);
            (to_unseen, mean_distances(landmarks, landmarks, spaces))
        });
        let semantic = &model.semantics.distances.known_unseen;
        let near = |known: usize, latent: Option<f64>, semantic: Option<f64>| NearClass {
            name: model.known[known].clone(),
            latent_distance: latent,
            semantic_distance: semantic,
        };
        let unseen = model.unseen.iter().enumerate().map(|(class, name)| {
            let latent = |known: usize| latent.as_ref().map(|(latent, _)| latent[(known, class)]);
            let distance = |known: usize| latent(known).unwrap_or(semantic[(known, class)]);
            let order = nearest_first(0..model.known.len(), nearest, distance);
            let near = |known| near(known, latent(known), Some(semantic[(known, class)]));
            let nearest_known = order.into_iter().map(near).collect();
            ListedClass { name: name.clone(), role: ClassRole::Unseen, nearest_known }
        });
        let known = model.known.iter().enumerate().map(|(class, name)| {
            let others = (0..model.known.len()).filter(|&known| known != class);
            // Descriptions of known classes are not compared with each other.
            let nearest_known = latent.as_ref().map_or_else(Vec::new, |(_, latent)| {
                let order = nearest_first(others, nearest, |known| latent[(known, class)]);
                order.into_iter().map(|known| near(known, Some(latent[(known, class)]), None)).collect()
            });
            ListedClass { name: name.clone(), role: ClassRole::Known, nearest_known }
        });
        let classes = unseen.chain(known).collect();
        Self { dataset: model.dataset.clone(), split: model.split.clone(), classes }
    }

    /// One row per class.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("class", Align::Left),
            ("role", Align::Left),
            ("nearest known classes", Align::Left),
        ]);
        for class in &self.classes {
            let near = class.nearest_known.iter();
            let near: Vec<String> = near.map(NearClass::text).collect();
            table.push(vec![class.name.clone(), class.role.name().to_owned(), near.join(", ")]);
        }
        table
    }
}

fn nearest_first(
    classes: impl Iterator<Item = usize>,
    most: usize,
    distance: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let mut order: Vec<usize> = classes.collect();
    order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use bidilel::{Settings, Silent, Synthetic};

    use super::*;

    #[test]
    fn classes_have_their_nearest_known_classes_and_never_themselves() {
        let dataset = Synthetic { scale: 0.2, ..Synthetic::default() }.generate(0).expect("a dataset");
        let model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent).expect("a fit");
        let list = ClassList::of(&model, 2);
        assert_eq!(list.classes.len(), model.known.len() + model.unseen.len());
        assert_eq!(list.classes[0].role, ClassRole::Unseen);
        for class in &list.classes {
            let [first, second] = &class.nearest_known[..] else { panic!("{class:?}") };
            assert!(first.latent_distance <= second.latent_distance);
            assert!(first.name != class.name && second.name != class.name);
            assert_eq!(first.semantic_distance.is_some(), class.role == ClassRole::Unseen);
        }
        assert_eq!(list.table().rows.len(), list.classes.len());
        let object = serde_json::to_value(&list).expect("serializable");
        assert_eq!(object["classes"][0]["role"], "unseen");
    }
}
