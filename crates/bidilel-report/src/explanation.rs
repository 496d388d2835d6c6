//! The result of `explain`: one explanation per instance, as JSON and in words.

use std::fmt::Write;

use bidilel::explain::{Explanation, NearClass, Separating, SimilarInstance};
use serde::Serialize;

/// One object of the list that `explain --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedInstance {
    /// Its row in the input.
    pub index: usize,
    /// What identifies it, where the input says so; its key is `id` or `path`.
    #[serde(flatten)]
    pub name: Option<InstanceName>,
    /// Why it is taken for a class.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The same in words.
    pub text: String,
}

/// The name of an instance, under its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstanceName {
    /// Any identifier.
    Id(String),
    /// The path of a file.
    Path(String),
}

impl ExplainedInstance {
    /// An explanation with its words.
    pub fn new(index: usize, name: Option<InstanceName>, explanation: Explanation) -> Self {
        let text = words(index, name.as_ref(), &explanation);
        Self { index, name, explanation, text }
    }
}

/// A few lines for a person.
fn words(index: usize, name: Option<&InstanceName>, why: &Explanation) -> String {
    let who = match name {
        Some(InstanceName::Id(name) | InstanceName::Path(name)) => name.clone(),
        None => format!("row {index}"),
    };
    let next = why.candidates.iter().skip(1).map(near).collect::<Vec<_>>().join(", ");
    let next = if next.is_empty() { next } else { format!(", then {next}") };
    let mut text = format!("{who}: {} ({:.2}){next}\n", why.label, why.candidates[0].distance);
    let mut line = |what: &str, list: Vec<String>| {
        if !list.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {what}: {}", list.join(", "));
        }
    };
    line("nearest known classes", why.landmarks.iter().map(near).collect());
    line("nearest unseen classes", why.unseen.iter().map(near).collect());
    line(&format!("{} shares with the known ones", why.label), why.shared.clone());
    if let Some(second) = why.candidates.get(1) {
        let attributes = why.attributes.iter().map(separating).collect();
        line(&format!("what separates it from {}", second.label), attributes);
        let percent = |part: f64| 100.0 * part / why.semantic_distance.unwrap_or(1.0).max(f64::MIN_POSITIVE);
        let unnamed = why.unnamed.iter();
        let unnamed = unnamed.map(|one| format!("`{}` {:.0} %", one.representation, percent(one.moves)));
        line("of their distance without names of attributes", unnamed.collect());
    }
    let instances = why.instances.as_deref().unwrap_or_default();
    line("most similar training instances", instances.iter().map(similar).collect());
    text
}

fn near(class: &NearClass) -> String {
    format!("{} {:.2}", class.label, class.distance)
}

/// `more stripes (1 against 0, 0.8 nearby; 31 %)`
fn separating(one: &Separating) -> String {
    let direction = if one.first > one.second { "more" } else { "less" };
    let nearby = one.nearby.map_or(String::new(), |nearby| format!(", {} nearby", number(nearby)));
    let (first, second) = (number(one.first), number(one.second));
    format!("{direction} {} ({first} against {second}{nearby}; {:.0} %)", one.name, 100.0 * one.share)
}

/// Two digits after the point, without zeros at the end.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn similar(one: &SimilarInstance) -> String {
    let name = one.path.clone().unwrap_or_else(|| format!("row {}", one.row));
    format!("{name} ({}, {:.2})", one.label, one.distance)
}

#[cfg(test)]
mod tests {
    use bidilel::explain::{ClassKind, Unnamed};

    use super::*;

    fn instance() -> ExplainedInstance {
        let near = |label: &str, distance: f64, kind| NearClass { label: label.to_owned(), distance, kind };
        ExplainedInstance::new(
            3,
            Some(InstanceName::Path("a.jpg".to_owned())),
            Explanation {
                label: "zebra".to_owned(),
                candidates: vec![
                    near("zebra", 0.7, ClassKind::Unseen),
                    near("okapi", 0.91, ClassKind::Unseen),
                ],
                landmarks: vec![near("horse", 0.6, ClassKind::Known)],
                unseen: vec![near("zebra", 0.7, ClassKind::Unseen)],
                attributes: vec![Separating {
                    representation: "attributes".to_owned(),
                    name: "stripes".to_owned(),
                    first: 1.0,
                    second: 0.5,
                    nearby: Some(0.0),
                    moves: 0.2,
                    share: 0.4,
                }],
                unnamed: vec![Unnamed { representation: "words".to_owned(), moves: 0.25 }],
                semantic_distance: Some(0.5),
                shared: vec!["hooves".to_owned()],
                instances: Some(vec![SimilarInstance {
                    row: 12,
                    path: None,
                    label: "horse".to_owned(),
                    distance: 0.33,
                }]),
            },
        )
    }

    #[test]
    fn in_words() {
        insta::assert_snapshot!(instance().text, @r"
        a.jpg: zebra (0.70), then okapi 0.91
          nearest known classes: horse 0.60
          nearest unseen classes: zebra 0.70
          zebra shares with the known ones: hooves
          what separates it from okapi: more stripes (1 against 0.5, 0 nearby; 40 %)
          of their distance without names of attributes: `words` 50 %
          most similar training instances: row 12 (horse, 0.33)
        ");
    }

    #[test]
    fn as_json_the_name_has_the_key_of_its_kind() {
        let object = serde_json::to_value(instance()).expect("serializable");
        assert_eq!((object["index"].as_u64(), object["path"].as_str()), (Some(3), Some("a.jpg")));
        assert_eq!(object["label"], "zebra");
        assert_eq!(object["candidates"][1]["kind"], "unseen");
        assert_eq!(object["landmarks"][0]["label"], "horse");
        assert_eq!(object["attributes"][0]["name"], "stripes");
        assert!(object["text"].as_str().is_some_and(|text| text.contains("more stripes")));
    }
}
