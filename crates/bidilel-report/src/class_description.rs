//! The result of `class describe`: what a model knows of one class.

use std::fmt::Write;

use bidilel::living::ClassIndex;
use bidilel::recognize::mean_distances;
use bidilel::{Candidates, Metric, Model, Result};
use serde::{Deserialize, Serialize};

use crate::{ClassRole, NearClass};

/// The object that `class describe --format json` prints.
///
/// ```
/// use bidilel::{Model, Settings, Silent, Synthetic};
/// use bidilel_report::ClassDescription;
///
/// let dataset = Synthetic { scale: 0.3, ..Synthetic::default() }.generate(0)?;
/// let model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent)?;
/// let class = ClassDescription::of(&model, &model.unseen[0], 3)?;
/// assert_eq!((class.nearest_known.len(), class.nearest_unseen.len()), (3, 3));
/// println!("{}", class.text());
/// # Ok::<(), bidilel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassDescription {
    /// Its name.
    pub name: String,
    /// Whether it has a landmark.
    pub role: ClassRole,
    /// The attributes that it has more of than other classes, most of all first.
    pub attributes: Vec<AttributeStrength>,
    /// The attributes that it has less of, least of all first.
    pub lacks: Vec<AttributeStrength>,
    /// The nearest known classes, nearest first; never the class itself.
    pub nearest_known: Vec<NearClass>,
    /// The nearest unseen classes, likewise.
    pub nearest_unseen: Vec<NearClass>,
}

/// An attribute of a class, compared with all classes of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttributeStrength {
    /// The semantic representation.
    pub representation: String,
    /// The attribute.
    pub name: String,
    /// Its value, on the scale of the dataset.
    pub value: f64,
    /// The mean over all classes.
    pub mean: f64,
    /// How many standard deviations (over classes) the value is above the mean.
    pub deviations: f64,
}

impl ClassDescription {
    /// The description of a class, with up to `most` entries in every list.
    ///
    /// # Errors
    /// A name that the model does not have.
    pub fn of(model: &Model, name: &str, most: usize) -> Result<Self> {
        let index = model.class(name)?;
        let position = model.position(index);
        let mut strengths = strengths(model, position);
        strengths.sort_by(|a, b| b.deviations.total_cmp(&a.deviations));
        let above = |one: &&AttributeStrength| one.deviations > 0.0;
        let attributes = strengths.iter().filter(above).take(most).cloned().collect();
        let below = |one: &&AttributeStrength| one.deviations < 0.0;
        let lacks = strengths.iter().rev().filter(below).take(most).cloned().collect();
        let near = nearest(model, position);
        let (known, unseen): (Vec<_>, Vec<_>) =
            near.into_iter().partition(|(class, _)| *class < model.known.len());
        let first =
            |near: Vec<(usize, NearClass)>| near.into_iter().map(|(_, near)| near).take(most).collect();
        Ok(Self {
            name: name.to_owned(),
            role: match index {
                ClassIndex::Known(_) => ClassRole::Known,
                ClassIndex::Unseen(_) => ClassRole::Unseen,
            },
            attributes,
            lacks,
            nearest_known: first(known),
            nearest_unseen: first(unseen),
        })
    }

    /// A few lines.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {} class\n", self.name, self.role.name());
        let strengths = |list: &[AttributeStrength]| {
            let one =
                |one: &AttributeStrength| format!("{} {:.2} (mean {:.2})", one.name, one.value, one.mean);
            list.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let near = |list: &[NearClass]| list.iter().map(NearClass::text).collect::<Vec<_>>().join(", ");
        for (what, list) in [
            ("has more than others of", strengths(&self.attributes)),
            ("has less than others of", strengths(&self.lacks)),
            ("nearest known classes", near(&self.nearest_known)),
            ("nearest unseen classes", near(&self.nearest_unseen)),
        ] {
            if !list.is_empty() {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "  {what}: {list}");
            }
        }
        text
    }
}

/// Every attribute that has a name and varies.
fn strengths(model: &Model, class: usize) -> Vec<AttributeStrength> {
    let mut all = Vec::new();
    for one in &model.semantics.representations {
        let count = one.raw.ncols() as f64;
        for (row, name) in one.dimension_names.iter().flatten().enumerate() {
            let values = || one.raw.row(row).iter().copied();
            let mean = values().sum::<f64>() / count;
            let deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            let value = one.raw[(row, class)];
            if deviation > 0.0 {
                let (representation, name) = (one.name.clone(), name.clone());
                let deviations = (value - mean) / deviation;
                all.push(AttributeStrength { representation, name, value, mean, deviations });
            }
        }
    }
    all
}

/// All other classes, nearest first: in the latent space where there is one, else by their descriptions.
fn nearest(model: &Model, class: usize) -> Vec<(usize, NearClass)> {
    let known = model.known.len();
    let distances = &model.semantics.distances;
    let semantic = |other: usize| match (class.checked_sub(known), other.checked_sub(known)) {
        (Some(one), Some(other)) => distances.unseen_unseen.get(one, other),
        (Some(unseen), None) => distances.known_unseen[(other, unseen)],
        (None, Some(unseen)) => distances.known_unseen[(class, unseen)],
        (None, None) => between_known(model, class, other),
    };
    let latent = model.latent().ok().map(|fitted| {
        let all = fitted.class_points(Candidates::All);
        mean_distances(all.as_ref(), all.subcols(class, 1), fitted.space.spaces())
    });
    let names = model.names(Candidates::All);
    let mut near: Vec<(usize, NearClass)> = (0..names.len())
        .filter(|&other| other != class)
        .map(|other| {
            let latent_distance = latent.as_ref().map(|latent| latent[(other, 0)]);
            let (name, semantic) = (names[other].to_owned(), semantic(other));
            (other, NearClass { name, latent_distance, semantic_distance: Some(semantic) })
        })
        .collect();
    let distance =
        |near: &NearClass| near.latent_distance.or(near.semantic_distance).unwrap_or(f64::INFINITY);
    near.sort_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    near
}

/// The semantic distance of two known classes, which a model does not keep.
fn between_known(model: &Model, one: usize, other: usize) -> f64 {
    let distance = |part: &bidilel::Representation| {
        let (a, b) = (part.values.col_as_slice(one), part.values.col_as_slice(other));
        let dot = || a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        match part.metric {
            Metric::Precomputed => part.values[(one, other)],
            Metric::Cosine => (1.0 - dot()).max(0.0),
            Metric::Euclidean => a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt(),
        }
    };
    model.semantics.representations.iter().map(|part| part.weight * distance(part)).sum()
}

#[cfg(test)]
mod tests {
    use bidilel::settings::MethodName;
    use bidilel::{Settings, Silent, Synthetic};

    use super::*;

    #[test]
    fn a_class_is_described_by_what_it_has_more_of_and_what_it_is_near_to() {
        let dataset = Synthetic { scale: 0.2, ..Synthetic::default() }.generate(0).expect("a dataset");
        for method in [MethodName::Bidilel, MethodName::Eszsl] {
            let settings = Settings { method: Some(method), ..Settings::default() };
            let mut model = Model::fit(&dataset, &settings, None, 0, &Silent).expect("a fit");
            let one = &mut model.semantics.representations[0];
            one.dimension_names = Some((0..one.raw.nrows()).map(|i| format!("a{i}")).collect());
            for name in [model.unseen[1].clone(), model.known[2].clone()] {
                let found = ClassDescription::of(&model, &name, 4).expect("a class");
                assert_eq!(found.attributes.len(), 4);
                assert!(found.attributes.windows(2).all(|pair| pair[0].deviations >= pair[1].deviations));
                assert!(found.lacks.iter().all(|one| one.value < one.mean));
                for list in [&found.nearest_known, &found.nearest_unseen] {
                    assert!(list.iter().all(|near| near.name != name && near.semantic_distance.is_some()));
                    assert!(
                        list.iter()
                            .all(|near| near.latent_distance.is_some() == (method == MethodName::Bidilel))
                    );
                }
                assert!(found.text().contains("nearest unseen classes"));
            }
        }
    }
}
