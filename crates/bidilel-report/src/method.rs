//! A method as text: on one line, in one cell of a table.

use bidilel::method::{Method, MethodReport};
use bidilel::visual::{self, Kernel, Report, ViewReport};
use serde::Serialize;
use serde_json::Value;

/// One stage of a method, or the whole method where it has one.
struct Stage {
    name: String,
    /// Settings in force, by the names that people type.
    settings: Vec<(String, String)>,
}

/// `slpp (alpha 10, neighbors 10)`, `then lsm (optimizer lbfgs)`: a stage per line.
pub fn method_line(report: &MethodReport) -> String {
    let stage = |stage: &Stage| {
        let settings: Vec<String> =
            stage.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        if settings.is_empty() {
            stage.name.clone()
        } else {
            format!("{} ({})", stage.name, settings.join(", "))
        }
    };
    stages(&report.method).iter().map(stage).collect::<Vec<_>>().join("\n  then ")
}

/// `views a 0.50 linear, b 0.50 rbf gamma 0.3; over a sample of 2000 training instances (...), 0.8 % of the kernel lost`.
pub fn fusion_line(fusion: &Report) -> String {
    let view = |view: &ViewReport| {
        let kernel = match view.kernel {
            Kernel::Linear => "linear".to_owned(),
            Kernel::Rbf { gamma } => format!("rbf gamma {:.4}", gamma.unwrap_or(0.0)),
            Kernel::Chi2 { gamma } => format!("chi2 gamma {:.4}", gamma.unwrap_or(0.0)),
        };
        format!("{} {:.2} {kernel}", view.name, view.weight)
    };
    let views: Vec<String> = fusion.views.iter().map(view).collect();
    let method = match fusion.method {
        visual::KernelForm::Primal => "over dimensions".to_owned(),
        visual::KernelForm::NSpace => "over training instances".to_owned(),
        visual::KernelForm::Nystrom => {
            format!("over a sample of {} training instances", fusion.rank.unwrap_or(0))
        }
    };
    let lost = fusion
        .approximation_error
        .map_or(String::new(), |error| format!(", {:.2} % of the kernel lost", 100.0 * error));
    format!("views {}; {method} ({}){lost}", views.join(", "), fusion.reason)
}

/// `alpha=10 dim=100 neighbors=10 ...`: every setting in force that is not the name of a stage, in a fixed order.
pub(crate) fn cell(report: &MethodReport) -> String {
    let stages = stages(&report.method);
    let mut settings: Vec<String> = stages
        .iter()
        .flat_map(|stage| &stage.settings)
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    settings.push(format!("normalize={}", text(&value_of(&report.normalize))));
    if report.semantic_weights.len() > 1 {
        let weights = report.semantic_weights.iter();
        settings.extend(weights.map(|(name, weight)| format!("semantic:{name}={}", value_of(weight))));
    }
    let views = report.fusion.iter().map(|fusion| &fusion.views).filter(|views| views.len() > 1);
    settings.extend(views.flatten().map(|view| format!("visual:{}={}", view.name, value_of(&view.weight))));
    settings.join(" ")
}

/// Names of the bottom-up and the top-down stage; the method's name and nothing for methods without them.
pub(crate) fn stage_names(report: &MethodReport) -> (String, String) {
    match (&report.method, &stages(&report.method)[..]) {
        (Method::Bidilel(_), [bottom_up, top_down, ..]) => (bottom_up.name.clone(), top_down.name.clone()),
        (method, _) => (method.name().to_string(), "-".to_owned()),
    }
}

fn stages(method: &Method) -> Vec<Stage> {
    let mut stages = match method {
        Method::Bidilel(pipeline) => {
            vec![stage("kind", &pipeline.bottom_up), stage("kind", &pipeline.top_down)]
        }
        compared => vec![stage("name", compared)],
    };
    stages.extend(method.post().iter().map(|post| stage("kind", post)));
    stages
}

/// A tagged structure as its tag and its settings.
fn stage(tag: &str, of: &impl Serialize) -> Stage {
    let value = value_of(of);
    let mut settings = Vec::new();
    collect(&value, tag, &mut settings);
    Stage { name: text(&value[tag]), settings }
}

fn collect(value: &Value, tag: &str, settings: &mut Vec<(String, String)>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            // Refiners are stages of their own.
            Value::Array(_) if name == "post" => {}
            // Tags are names, not settings.
            Value::String(_) if name == tag || name == "kind" => {}
            Value::Object(_) => collect(value, tag, settings),
            plain => {
                let setting = (name.replace('_', "-"), text(plain));
                // The mapping and the regression have some in common.
                if !settings.contains(&setting) {
                    settings.push(setting);
                }
            }
        }
    }
}

fn value_of(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or(Value::Null)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(alpha: f64) -> MethodReport {
        serde_json::from_value(json!({
            "name": "bidilel",
            "bottom_up": {"kind": "slpp", "alpha": alpha, "dim": 5},
            "top_down": {"kind": "svr", "c": 2.0},
            "post": [{"kind": "self-training", "self_training_neighbors": 10}],
            "normalize": "l2",
            "semantic_weights": {"a": 0.5, "b": 0.5},
        }))
        .expect("a report")
    }

    #[test]
    fn other_settings_are_another_cell() {
        let found = cell(&report(1.0));
        assert!(found.starts_with("alpha=1.0 center=false dim=5 "), "{found}");
        assert!(found.contains(" c=2.0 ") && found.contains(" self-training-neighbors=10 "), "{found}");
        assert!(found.ends_with(" normalize=l2 semantic:a=0.5 semantic:b=0.5"), "{found}");
        assert_ne!(found, cell(&report(1000.0)));
    }

    #[test]
    fn a_method_without_stages_is_one_line() {
        let eszsl = json!({"name": "eszsl", "eszsl_gamma": 3.0});
        let report: MethodReport = serde_json::from_value(eszsl).expect("a report");
        assert_eq!(method_line(&report), "eszsl (eszsl-center false, eszsl-gamma 3.0, eszsl-lambda 1.0)");
        assert_eq!(stage_names(&report), ("eszsl".to_owned(), "-".to_owned()));
        assert!(method_line(&self::report(1.0)).contains("\n  then svr ("));
        let (lsm, krr) = (json!({"unit_embedding": true}), json!({"unit_embedding": true}));
        let both = json!({
            "name": "bidilel",
            "bottom_up": {"kind": "lda"},
            "top_down": {"kind": "lsm+krr", "lsm": lsm, "krr": krr},
            "normalize": "l2",
            "semantic_weights": {"a": 1.0},
        });
        let report: MethodReport = serde_json::from_value(both).expect("a report");
        assert_eq!(method_line(&report).matches("unit-embedding true").count(), 1);
        let refined = json!({"name": "eszsl", "post": [{"kind": "csls", "csls_neighbors": 4}]});
        let report: MethodReport = serde_json::from_value(refined).expect("a report");
        let line = method_line(&report);
        assert!(line.ends_with("eszsl-lambda 1.0)\n  then csls (csls-neighbors 4)"), "{line}");
        assert_eq!(stage_names(&report), ("eszsl".to_owned(), "-".to_owned()));
    }
}
