//! `bidilel class list MODEL`: the classes of a model and what they are near to.

use std::path::Path;

use anyhow::Result;
use bidilel::Model;
use bidilel::pipeline::Fitted;
use bidilel_math::distance::pairwise;
use bidilel_report::{Align, Format, Table};
use faer::Mat;
use serde::Serialize;

use super::predict::open_model;
use crate::output;

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    role: &'static str,
    nearest_known: Vec<Near<'a>>,
}

#[derive(Serialize)]
struct Near<'a> {
    name: &'a str,
    latent_distance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantic_distance: Option<f64>,
}

pub(super) fn list(path: &Path, nearest: usize, format: Format) -> Result<()> {
    let model = open_model(path)?;
    let classes = classes(&model, model.latent()?, nearest);
    if format == Format::Json {
        return output::print_json(&serde_json::json!({
            "dataset": model.dataset,
            "split": model.split,
            "classes": classes,
        }));
    }
    let mut table =
        Table::new(&[("class", Align::Left), ("role", Align::Left), ("nearest known classes", Align::Left)]);
    for class in &classes {
        let near: Vec<String> = class
            .nearest_known
            .iter()
            .map(|near| format!("{} {:.2}", near.name, near.latent_distance))
            .collect();
        table.push(vec![class.name.to_owned(), class.role.to_owned(), near.join(", ")]);
    }
    output::print_table(&table, format)
}

/// Unseen classes first: they are what the model recognises.
fn classes<'a>(model: &'a Model, fitted: &Fitted, nearest: usize) -> Vec<Class<'a>> {
    let mut classes = side(model, fitted, "unseen", &model.unseen, &fitted.embedding.points, nearest);
    classes.extend(side(model, fitted, "known", &model.known, &fitted.landmarks.points, nearest));
    classes
}

fn side<'a>(
    model: &'a Model,
    fitted: &Fitted,
    role: &'static str,
    names: &'a [String],
    points: &Mat<f64>,
    nearest: usize,
) -> Vec<Class<'a>> {
    let distances = pairwise(fitted.landmarks.points.as_ref(), points.as_ref());
    let near = |place: usize| {
        let others = (0..distances.nrows()).filter(|&known| role == "unseen" || known != place);
        let mut order: Vec<usize> = others.collect();
        order.sort_by(|&a, &b| distances[(a, place)].total_cmp(&distances[(b, place)]));
        order.truncate(nearest);
        order.into_iter().map(move |known| (known, place))
    };
    let describe = |(known, place): (usize, usize)| Near {
        name: &model.known[known],
        latent_distance: distances[(known, place)],
        semantic_distance: (role == "unseen").then(|| model.semantics.distances.known_unseen[(known, place)]),
    };
    let class = |(place, name): (usize, &'a String)| Class {
        name,
        role,
        nearest_known: near(place).map(describe).collect(),
    };
    names.iter().enumerate().map(class).collect()
}
