//! The settings of a method in one cell of a table.

use serde_json::Value;

/// `alpha=10 dim=100 neighbors=10 ...`: every setting in force that is not the name of a stage, in a fixed order.
pub(crate) fn cell(method: &Value) -> String {
    let mut settings = Vec::new();
    for stage in ["bottom_up", "top_down", "post"] {
        collect(&method[stage], &mut settings);
    }
    settings.extend(method["normalize"].as_str().map(|value| format!("normalize={value}")));
    let weights = method["semantic_weights"].as_object().filter(|weights| weights.len() > 1);
    settings.extend(weights.into_iter().flatten().map(|(name, weight)| format!("semantic:{name}={weight}")));
    let views = method["fusion"]["views"].as_array().filter(|views| views.len() > 1);
    let view = |view: &Value| format!("visual:{}={}", text(&view["name"]), view["weight"]);
    settings.extend(views.into_iter().flatten().map(view));
    settings.join(" ")
}

fn collect(value: &Value, settings: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, settings)),
        Value::Object(entries) => {
            for (name, value) in entries {
                match value {
                    Value::Null => {}
                    // The kinds of the stages have columns of their own.
                    Value::String(_) if name == "kind" => {}
                    Value::Object(_) | Value::Array(_) => collect(value, settings),
                    plain => settings.push(format!("{}={}", name.replace('_', "-"), text(plain))),
                }
            }
        }
        _ => {}
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_settings_are_another_cell() {
        let method = |alpha: f64| {
            json!({
                "bottom_up": {"kind": "slpp", "alpha": alpha, "dim": 5, "search": null},
                "top_down": {"kind": "lsm", "optimizer": "lbfgs"},
                "post": [{"kind": "self-training", "self_training_neighbors": 10}],
                "normalize": "l2",
                "semantic_weights": {"a": 0.5, "b": 0.5},
            })
        };
        assert_eq!(
            cell(&method(1.0)),
            "alpha=1.0 dim=5 optimizer=lbfgs self-training-neighbors=10 normalize=l2 semantic:a=0.5 semantic:b=0.5"
        );
        assert_ne!(cell(&method(1.0)), cell(&method(1000.0)));
        assert_eq!(cell(&Value::Null), "");
    }
}
