//! The report page: results as one HTML file that needs nothing else.
//!
//! The page works without its script: headings, tables and charts are HTML and SVG. The script (`page.js`) draws the map and
//! the confusion matrix on canvases, shows what lies under the pointer, sorts tables and switches between light and dark.
//! Its data are one JSON object within the page.

mod comparison;
mod confidence;
mod evaluation;
mod evaluation_charts;
mod headline;
mod input;
mod island;
mod markup;
mod selection;
mod tuning;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::html::GENERATOR;
use crate::plot::Chart;
use crate::svg::{escape, file_name};
use crate::{Comparison, VERSION};
use input::Input;
pub use input::ReportError;
use island::Island;
use markup::{Part, note};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Results that become one page, and a chart each of everything that can be drawn.
///
/// ```
/// use bidilel_report::{Report, Theme};
///
/// let result = serde_json::json!({
///     "dataset": "sea", "split": "standard", "accuracy": {"per_class": 0.7, "per_image": 0.6}, "chance": 0.5,
///     "classes": [{"name": "seal", "instances": 9, "accuracy": 0.7}], "runs": [],
/// });
/// let mut report = Report::default();
/// report.add(result, None)?;
/// assert!(report.html().contains("<h1>bidilel on sea</h1>"));
/// assert!(report.charts()[0].svg(Theme::DARK).contains(">seal</text>"));
/// # Ok::<(), bidilel_report::ReportError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Report {
    results: Vec<(Input, Told)>,
}

/// What a result does not say of itself.
#[derive(Debug, Clone, Default)]
struct Told {
    dataset: Option<String>,
    command: Option<String>,
}

impl Report {
    /// Adds the object that a command prints; `command` is the command line, where the object does not have it.
    ///
    /// # Errors
    /// [`ReportError`] for anything else.
    pub fn add(&mut self, result: Value, command: Option<&str>) -> Result<(), ReportError> {
        let text = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
        let told = Told { dataset: text("dataset"), command: command.map(str::to_owned).or(text("command")) };
        let mut input = Input::read(result)?;
        if let Input::Evaluation(one) = &mut input
            && let (Some(data), Some(command)) = (&mut one.run_data, &told.command)
        {
            data.command.get_or_insert_with(|| command.clone());
        }
        if let Input::Tuning(one) = &mut input {
            one.command.clone_from(&told.command);
        }
        self.results.push((input, told));
        Ok(())
    }

    /// Everything that can be drawn; the names of several results' charts begin with their numbers.
    pub fn charts(&self) -> Vec<Chart> {
        let mut all = Vec::new();
        for (index, (input, _)) in self.results.iter().enumerate() {
            let charts = match input {
                Input::Evaluation(one) => one.charts(),
                Input::Tuning(one) => one.charts(),
                Input::Comparison(one) => vec![one.chart()],
                Input::Selection(one) => one.charts(),
            };
            let numbered = |chart: Chart| match self.results.len() {
                1 => chart,
                _ => Chart { name: format!("{}-{}", index + 1, chart.name), ..chart },
            };
            all.extend(charts.into_iter().map(numbered));
        }
        all
    }

    /// The page.
    pub fn html(&self) -> String {
        let mut island = Island::default();
        let parts = self.parts(&mut island);
        let title = match &parts[..] {
            [one] => one.title.clone(),
            _ => format!("{} results", parts.len()),
        };
        let mut used = BTreeSet::new();
        let (mut contents, mut body) = (String::new(), String::new());
        for part in &parts {
            let (entries, html) = rendered(part, parts.len() > 1, &mut used);
            contents += &entries;
            body += &html;
        }
        let subtitle = if let [one] = &parts[..] { escape(&one.subtitle) } else { String::new() };
        let title = escape(&title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{GENERATOR}\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n\
             <header><div><h1>{title}</h1>\n<p>{subtitle}</p></div>\n\
             <button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n\
             <div class=\"layout\">\n<nav aria-label=\"Contents\">\n<ol>\n{contents}</ol>\n</nav>\n\
             <main id=\"main\">\n<noscript><p class=\"note\">Without a script there are no maps and no confusion matrices; tables and charts are complete.</p></noscript>\n\
             {body}</main>\n</div>\n<footer><p>bidilel {VERSION}. This file needs no network and no other file.</p></footer>\n\
             <div id=\"tip\" role=\"status\" hidden></div>\n\
             <script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            island.text()
        )
    }

    fn parts(&self, island: &mut Island) -> Vec<Part> {
        let comparisons: Vec<&Comparison> = self
            .results
            .iter()
            .filter_map(|(input, _)| if let Input::Comparison(one) = input { Some(&**one) } else { None })
            .collect();
        let part = |(input, told): &(Input, Told)| match input {
            Input::Evaluation(one) => evaluation::part(one, &comparisons, island),
            Input::Tuning(one) => tuning::part(one),
            Input::Comparison(one) => comparison::part(one, told.command.as_deref()),
            Input::Selection(one) => selection::part(one, told.dataset.as_deref(), told.command.as_deref()),
        };
        self.results.iter().map(part).collect()
    }
}

/// The entries of the contents and the sections of a part.
fn rendered(part: &Part, several: bool, used: &mut BTreeSet<String>) -> (String, String) {
    let level = if several { 3 } else { 2 };
    let (mut entries, mut html) = (Vec::new(), Vec::new());
    if several {
        let id = unique(&part.title, used);
        let title = escape(&part.title);
        entries.push(format!("<li class=\"part\"><a class=\"part\" href=\"#{id}\">{title}</a></li>\n"));
        html.push(format!(
            "<h2 class=\"part\" id=\"{id}\">{title}</h2>\n<p>{}</p>\n",
            escape(&part.subtitle)
        ));
    }
    for section in &part.sections {
        let id = unique(section.title, used);
        entries.push(format!("<li><a href=\"#{id}\">{}</a></li>\n", section.title));
        html.push(format!(
            "<section aria-labelledby=\"{id}\">\n<h{level} id=\"{id}\">{}</h{level}>\n{}</section>\n",
            section.title, section.html
        ));
    }
    if !part.left_out.is_empty() {
        let id = unique("Left out", used);
        let notes: String = part.left_out.iter().map(|why| note(why)).collect();
        entries.push(format!("<li><a href=\"#{id}\">Left out</a></li>\n"));
        html.push(format!(
            "<section aria-labelledby=\"{id}\">\n<h{level} id=\"{id}\">Left out</h{level}>\n{notes}</section>\n"
        ));
    }
    (entries.concat(), html.concat())
}

/// A name for an element that no other has.
fn unique(title: &str, used: &mut BTreeSet<String>) -> String {
    let base = file_name(&title.to_lowercase());
    let free = |number: usize| if number == 1 { base.clone() } else { format!("{base}-{number}") };
    // One more name than are used: one of them is free.
    let id = (1..=used.len() + 1).map(free).find(|id| !used.contains(id)).unwrap_or_default();
    used.insert(id.clone());
    id
}

#[cfg(test)]
mod tests;
