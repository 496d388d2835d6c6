//! Sentences with a place for the text.
//!
//! CLIP was trained on captions, and recognizes `a photo of a lynx` better than `lynx`; several templates are an ensemble
//! (Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*, 2021, section 3.1.4).

use bidilel_data::ClassText;

use crate::error::{Error, Result};

/// A sentence with places: `{}` for the description, or the name of a class without one; `{name}`; `{description}`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Template(String);

impl Template {
    /// A template, if it has a place.
    pub fn parse(text: &str) -> Result<Self> {
        if ["{}", "{name}", "{description}"].iter().any(|place| text.contains(place)) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::Template { template: text.to_owned() })
        }
    }

    /// The sentences of a class: one per description, or one of its name.
    fn fill(&self, class: &ClassText) -> Result<Vec<String>> {
        let name = readable(&class.name);
        if class.descriptions.is_empty() {
            if self.0.contains("{description}") {
                return Err(Error::NoDescription { template: self.0.clone(), class: class.name.clone() });
            }
            return Ok(vec![self.with(&name, &name, "")]);
        }
        if !self.0.contains("{}") && !self.0.contains("{description}") {
            return Ok(vec![self.with(&name, &name, "")]);
        }
        Ok(class.descriptions.iter().map(|text| self.with(text, &name, text)).collect())
    }

    /// The template with its places filled, from left to right: what is filled in has no places of its own.
    fn with(&self, text: &str, name: &str, description: &str) -> String {
        let mut filled = String::new();
        let mut rest = self.0.as_str();
        while let Some(at) = rest.find('{') {
            filled += &rest[..at];
            rest = &rest[at..];
            let places = [("{}", text), ("{name}", name), ("{description}", description)];
            let (place, value) =
                places.into_iter().find(|(place, _)| rest.starts_with(place)).unwrap_or(("{", "{"));
            filled += value;
            rest = &rest[place.len()..];
        }
        filled + rest
    }
}

/// The sentences of a class: one per template and description.
pub(crate) fn sentences(class: &ClassText, templates: &[Template]) -> Result<Vec<String>> {
    if templates.is_empty() {
        return Template("{}".to_owned()).fill(class);
    }
    let mut all = Vec::new();
    for template in templates {
        all.extend(template.fill(class)?);
    }
    Ok(all)
}

/// The name of a class as a person would write it: `001.Black_footed_Albatross` is `Black footed Albatross`.
fn readable(name: &str) -> String {
    let unnumbered = match name.split_once('.') {
        Some((number, rest))
            if !rest.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            rest
        }
        _ => name,
    };
    unnumbered.replace(['_', '+'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, descriptions: &[&str]) -> ClassText {
        let descriptions = descriptions.iter().map(|&text| text.to_owned()).collect();
        ClassText { name: name.to_owned(), descriptions }
    }

    #[test]
    fn places_are_filled_once_and_from_the_left() {
        let template = |text: &str| Template::parse(text).unwrap();
        let two = class("002.Snow_Leopard", &["a {name}", "a cat"]);
        assert_eq!(sentences(&two, &[]).unwrap(), ["a {name}", "a cat"]);
        assert_eq!(sentences(&class("polar+bear", &[]), &[]).unwrap(), ["polar bear"]);
        let templates = [template("a photo of a {name}."), template("{name}: {description} {x")];
        let expected = ["a photo of a Snow Leopard.", "Snow Leopard: a {name} {x", "Snow Leopard: a cat {x"];
        assert_eq!(sentences(&two, &templates).unwrap(), expected);
        assert_eq!(sentences(&class("elk", &[]), &[template("a {}, {}")]).unwrap(), ["a elk, elk"]);
        assert!(sentences(&class("elk", &[]), &templates).is_err(), "there is no description");
        assert!(Template::parse("a photo").is_err());
    }
}
