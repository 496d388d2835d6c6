//! Headers of models and encoders that say odd things, from a recipe.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::crafted::Recipe;

/// Values that a header does not expect.
fn odd(recipe: &mut Recipe<'_>) -> Value {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!([]),
        json!({}),
        json!([1]),
        json!("rbf:1e999"),
        json!([[[[]]]]),
        json!(true),
        json!({"kind": "slpp"}),
        json!(["a", "a"]),
    ];
    values[recipe.below(values.len())].clone()
}

/// Puts odd values at a few places of a JSON value.
fn spoil(value: &mut Value, recipe: &mut Recipe<'_>) {
    for _ in 0..=recipe.below(4) {
        let depth = recipe.below(5);
        spoil_below(value, depth, recipe);
    }
}

fn spoil_below(value: &mut Value, depth: usize, recipe: &mut Recipe<'_>) {
    let children: Vec<&mut Value> = match value {
        Value::Object(entries) => entries.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let nth = recipe.below(children.len());
    match children.into_iter().nth(nth) {
        Some(child) if depth > 0 => spoil_below(child, depth - 1, recipe),
        _ => *value = odd(recipe),
    }
}

/// Names of tensors with their shapes.
type Shapes = Vec<(String, Vec<usize>)>;

fn with_header(tensors: &[(String, Vec<usize>)], key: &str, header: &Value) -> Vec<u8> {
    let data =
        vec![0x3f; 8 * tensors.iter().map(|(_, shape)| shape.iter().product::<usize>()).max().unwrap_or(0)];
    let views = tensors.iter().map(|(name, shape)| {
        let bytes = &data[..8 * shape.iter().product::<usize>()];
        (
            name,
            safetensors::tensor::TensorView::new(safetensors::Dtype::F64, shape.clone(), bytes)
                .expect("it fits"),
        )
    });
    let entries = [(key.to_owned(), header.to_string())].into();
    safetensors::serialize(views, Some(entries)).expect("a file")
}

/// A model file with a spoiled header, and tensors of other shapes.
pub fn model_header(recipe: &mut Recipe<'_>) -> Vec<u8> {
    static MODEL: OnceLock<(Value, Shapes)> = OnceLock::new();
    let (header, shapes) = MODEL.get_or_init(|| {
        use bidilel::{Model, Settings, Silent, Synthetic};
        let dataset = Synthetic { known: 4, unseen: 3, scale: 0.05, validation: 0, ..Synthetic::default() }
            .generate(0)
            .expect("data");
        let model = Model::fit(&dataset, &Settings::default(), None, 0, &Silent).expect("a fit");
        let bytes = model.to_bytes().expect("a file");
        let file = safetensors::SafeTensors::deserialize(&bytes).expect("tensors");
        let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).expect("a header");
        let header = metadata.metadata().as_ref().expect("entries")["bidilel"].clone();
        let shapes = file.tensors().into_iter().map(|(name, view)| (name, view.shape().to_vec())).collect();
        (serde_json::from_str(&header).expect("JSON"), shapes)
    });
    let (mut header, mut shapes) = (header.clone(), shapes.clone());
    if recipe.byte() & 1 == 0 {
        header["format"] = json!(1 + recipe.below(4));
    }
    spoil(&mut header, recipe);
    if recipe.below(4) == 0 {
        let place = recipe.below(shapes.len());
        shapes[place].1 = (0..recipe.below(4)).map(|_| recipe.below(9)).collect();
    }
    with_header(&shapes, "bidilel", &header)
}

/// An encoder file with a spoiled header.
pub fn encoder_header(recipe: &mut Recipe<'_>) -> Vec<u8> {
    use bidilel::encode::{Method, Settings};
    let method = if recipe.byte() & 1 == 0 { Method::Fisher } else { Method::Bag };
    let settings = Settings { components: 2, ..Settings::new(method) };
    let mut header = json!({
        "format": 1, "settings": settings, "descriptor_dim": 4, "descriptors": 9, "sampled": 9, "items": 2,
        "variance_kept": 0.5, "log_likelihood": -1.0, "iterations": 3, "converged": true, "reduction": null,
    });
    spoil(&mut header, recipe);
    let shapes = [
        "projection.mean",
        "projection.directions",
        "mixture.weights",
        "mixture.means",
        "mixture.variances",
        "words",
    ];
    let shape = |name: &&str| (String::from(*name), vec![1 + recipe.below(3), 1 + recipe.below(5)]);
    let shapes: Vec<_> = shapes.iter().map(shape).collect();
    with_header(&shapes, "bidilel-encoder", &header)
}

/// Reads a model, which must be used or refused.
pub fn open_model(bytes: &[u8]) {
    if let Ok(model) = bidilel::model::Model::from_bytes(bytes) {
        assert!(!model.unseen.is_empty());
        assert!(model.latent().map_or(true, |fitted| fitted.space.dim() > 0));
    }
}

/// Reads an encoder, which must be used or refused.
pub fn open_encoder(bytes: &[u8]) {
    if let Ok(encoder) = bidilel::encode::Encoder::from_bytes(bytes) {
        let _ = (encoder.dim(), encoder.raw_dim());
    }
}
