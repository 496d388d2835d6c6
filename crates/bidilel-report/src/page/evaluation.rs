//! The sections of an evaluation.

use serde_json::{Map, Value};

use super::input::EvaluationInput;
use super::island::{ConfusionData, Island, MapData};
use super::markup::{Cell, Part, Section, charts, code, hint, note, paragraph, percent, table};
use super::{confidence, headline};
use crate::plot::Chart;
use crate::svg::escape;
use crate::{ClassScore, Comparison, RunData};

/// Mistakes that are listed beside the confusion matrix.
const LISTED_MISTAKES: usize = 15;

/// The part of one evaluation; `compared` are comparisons on the same page.
pub(crate) fn part(result: &EvaluationInput, compared: &[&Comparison], island: &mut Island) -> Part {
    let name = result.method.get("name").and_then(Value::as_str).unwrap_or("bidilel");
    let mut sections = Sections { sections: Vec::new(), left_out: Vec::new() };
    sections.add("Headline", headline::section(result, compared));
    if headline::best_of(result, compared).is_none() {
        sections.left_out.push(
            "The best compared method: the page has no comparison on these data. compare --format json makes one, and report \
             puts several results on one page."
                .to_owned(),
        );
    }
    sections.add("Every class", classes(result));
    sections.add_or(
        "Confusion",
        confusion(result, island),
        "The confusion matrix: this result has no counts of mistakes.",
    );
    let data = result.run_data.as_ref();
    let no_points =
        "this result has no points; evaluate --run-data FILE saves them, and --report draws them at once";
    let no_latent = "this method has no latent space";
    let why = if data.is_some() { no_latent } else { no_points };
    sections.add_or(
        "Map of the latent space",
        data.and_then(|data| map(data, &result.of_several(), island)),
        &format!("The map: {why}."),
    );
    sections.add_charts("Semantic and latent distances", result.distances(), &format!("Distances: {why}."));
    sections.add_charts("Hubs", result.hubs(), &format!("Hubs: {no_points}."));
    sections.add_or(
        "Reliability",
        confidence::reliability(result),
        "Reliability: this result has no calibration. evaluate --calibrate makes one.",
    );
    sections.add_or(
        "None of these",
        confidence::open_set(result),
        "Rejection of what is none of the classes: this result has no open-set figures. evaluate --open-set makes them.",
    );
    sections.add_charts(
        "Known against unseen classes",
        result.seen_unseen(),
        "Known against unseen classes: this result is not of the generalized setting. evaluate --generalized is.",
    );
    let no_steps = if data.is_some() { "no mapping was minimized" } else { no_points };
    sections.add_charts("Convergence", result.convergence(), &format!("Convergence: {no_steps}."));
    sections.add("Runs", runs(result));
    sections.add("Settings", settings(result));
    Part {
        title: format!("{name} on {}", result.dataset),
        subtitle: format!(
            "split {}, visual {}, semantic {}",
            result.split,
            result.visual.join(" + "),
            result.semantic.join(" + ")
        ),
        sections: sections.sections,
        left_out: sections.left_out,
    }
}

/// Sections that are there, and why others are not.
pub(crate) struct Sections {
    pub(crate) sections: Vec<Section>,
    pub(crate) left_out: Vec<String>,
}

impl Sections {
    pub(crate) fn add(&mut self, title: &'static str, html: String) {
        self.sections.push(Section { title, html });
    }

    pub(crate) fn add_or(&mut self, title: &'static str, html: Option<String>, why_not: &str) {
        match html {
            Some(html) => self.add(title, html),
            None => self.left_out.push(why_not.to_owned()),
        }
    }

    pub(crate) fn add_charts(
        &mut self,
        title: &'static str,
        all: impl IntoIterator<Item = Chart>,
        why_not: &str,
    ) {
        let all: Vec<Chart> = all.into_iter().collect();
        let html = (!all.is_empty()).then(|| charts(&all));
        self.add_or(title, html, why_not);
    }
}

fn classes(result: &EvaluationInput) -> String {
    let mut order: Vec<_> = result.classes.iter().collect();
    order.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
    let both = order.iter().any(|class| class.known);
    let row = |class: &ClassScore| {
        let mistake = class.mistaken_for.as_ref();
        let mistake =
            mistake.map_or(String::new(), |other| format!("{} ({:.0} %)", other.name, 100.0 * other.share));
        let side = Cell::Text(if class.known { "known" } else { "unseen" }.to_owned());
        let cells = [
            Some(Cell::Text(class.name.clone())),
            Some(Cell::Bar { value: class.accuracy, low: 0.0, high: 0.0 }),
            both.then_some(side),
            Some(Cell::Number(class.instances.to_string(), class.instances as f64)),
            Some(Cell::Text(mistake)),
        ];
        cells.into_iter().flatten().collect()
    };
    let rows: Vec<Vec<Cell>> = order.into_iter().map(row).collect();
    let mut columns = vec!["class", "accuracy", "instances", "most often taken for"];
    if both {
        columns.insert(2, "side");
    }
    paragraph("Best first. The line through the bars is what guessing reaches.")
        + &hint("A header sorts.")
        + &table("Accuracy of every class", &columns, &rows, Some(result.chance))
}

fn confusion(result: &EvaluationInput, island: &mut Island) -> Option<String> {
    let run = result.runs.first()?;
    let names = run.candidates()?;
    let mut mistakes: Vec<(usize, &String, &String)> = Vec::new();
    for (truth, counts) in names.iter().zip(&run.confusion) {
        let wrong = names.iter().zip(counts).filter(|(guess, count)| **count > 0 && *guess != truth);
        mistakes.extend(wrong.map(|(guess, &count)| (count, truth, guess)));
    }
    mistakes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let row = |&(count, truth, guess): &(usize, &String, &String)| {
        vec![
            Cell::Text(truth.clone()),
            Cell::Text(guess.clone()),
            Cell::Number(count.to_string(), count as f64),
        ]
    };
    let rows: Vec<Vec<Cell>> = mistakes.iter().take(LISTED_MISTAKES).map(row).collect();
    let index = island.add_confusion(ConfusionData::of(&names, run.known.len(), &run.confusion));
    let first = result.of_several();
    let sides = if run.known.is_empty() {
        ""
    } else {
        " Lines part the known classes, which are first, from the unseen."
    };
    let words = format!(
        "One row per true class, one column per predicted class; a stronger color is a larger share of the row.{sides}{first}"
    );
    Some(format!(
        "{}<div class=\"canvas confusion\"><canvas data-confusion=\"{index}\" tabindex=\"0\" role=\"application\" aria-roledescription=\"matrix\" \
         aria-label=\"Confusion matrix of {} classes; arrow keys move through its cells\"></canvas>\
         <p class=\"key\"><span class=\"k1\">\u{25a0} recognized</span> <span class=\"k2\">\u{25a0} mistaken</span></p>\
         <p class=\"live\" aria-live=\"polite\"></p></div>\n{}",
        paragraph(&words) + &hint("Point at a cell, or move with the arrow keys."),
        names.len(),
        if rows.is_empty() {
            String::new()
        } else {
            table("The most frequent mistakes", &["true class", "taken for", "instances"], &rows, None)
        }
    ))
}

fn map(data: &RunData, first: &str, island: &mut Island) -> Option<String> {
    let map = data.map.as_ref()?;
    let index = island.add_map(MapData::of(data, map));
    let option =
        |(class, name): (usize, &String)| format!("<option value=\"{class}\">{}</option>", escape(name));
    let classes = data.unseen.iter().enumerate().map(option).collect::<Vec<_>>().concat();
    let sampled = if map.points.len() < data.test_instances {
        note(&format!(
            "{} of {} test instances are shown, at equal steps.",
            map.points.len(),
            data.test_instances
        ))
    } else {
        String::new()
    };
    Some(format!(
        "{}<div class=\"canvas map\"><div class=\"tools\">\
         <label>Color <select data-role=\"color\"><option value=\"right\">right or wrong</option><option value=\"truth\">true class</option>\
         <option value=\"guess\">predicted class</option></select></label>\
         <label>Class <select data-role=\"class\"><option value=\"\">all</option>{classes}</select></label>\
         <span><button type=\"button\" data-role=\"in\" aria-label=\"Zoom in\">+</button><button type=\"button\" data-role=\"out\" aria-label=\"Zoom out\">\u{2212}</button>\
         <button type=\"button\" data-role=\"reset\">Reset</button></span></div>\
         <canvas data-map=\"{index}\" tabindex=\"0\" role=\"application\" aria-roledescription=\"map\" aria-label=\"Map of {} known classes, {} unseen classes and {} test instances; \
         arrow keys move from point to point, plus and minus zoom\"></canvas>\
         <p class=\"key\"><span class=\"k1\">\u{25cf} recognized</span> <span class=\"k2\">\u{00d7} mistaken</span> <span class=\"k4\">\u{25c6} unseen class</span> <span class=\"k0\">\u{25a1} known class</span></p>\
         <p class=\"live\" aria-live=\"polite\"></p></div>\n{sampled}",
        paragraph(&format!(
            "A Sammon mapping of the latent space to the plane: distances on the map approximate those of the latent space, with a stress of {:.3} \
             over {} classes and instances that were mapped together. The plane has no axes: only distances mean something.{first}",
            map.stress, map.anchors
        )) + &hint(
            "Point at a mark to see what it is, or go from mark to mark by the arrow keys. Drag to move; the buttons, + and - zoom, and bring names that have no room.",
        ),
        map.landmarks.len(),
        map.embeddings.len(),
        map.points.len(),
    ))
}

fn runs(result: &EvaluationInput) -> String {
    let row = |run: &super::input::RunInput| {
        vec![
            Cell::Text(run.split.clone()),
            Cell::Number(run.seed.to_string(), run.seed as f64),
            // A single bar is as long as its column, and says nothing.
            match result.runs.len() {
                1 => Cell::Number(percent(run.per_class, 0.0), run.per_class),
                _ => Cell::Bar { value: run.per_class, low: 0.0, high: 0.0 },
            },
            Cell::Number(percent(run.per_image, 0.0), run.per_image),
            run.stress.map_or(Cell::Number("-".to_owned(), -1.0), |stress| {
                Cell::Number(format!("{stress:.5}"), stress)
            }),
        ]
    };
    let rows: Vec<Vec<Cell>> = result.runs.iter().map(row).collect();
    let spread = if result.runs.len() > 1 {
        paragraph(&format!(
            "Standard deviation {:.1} points, standard error {:.1} points over {} runs.",
            100.0 * result.summary.standard_deviation,
            100.0 * result.summary.standard_error,
            result.runs.len()
        ))
    } else {
        String::new()
    };
    spread
        + &table(
            "Every run",
            &["split", "seed", "per class", "per image", "stress"],
            &rows,
            Some(result.chance),
        )
}

fn settings(result: &EvaluationInput) -> String {
    let command = match result.run_data.as_ref().and_then(|data| data.command.as_ref()) {
        Some(command) => code(command),
        None => note("This result does not say which command line made it: --run-data and --report do."),
    };
    let mut rows = Vec::new();
    flatten("", &result.method, &mut rows);
    let timings = result.timings.iter().map(|(stage, seconds)| {
        vec![Cell::Text(stage.clone()), Cell::Number(format!("{seconds:.3}"), *seconds)]
    });
    let timings: Vec<Vec<Cell>> = timings.collect();
    let version =
        result.version.as_ref().map_or(String::new(), |version| paragraph(&format!("Version {version}.")));
    command
        + &table("The method with every setting in force", &["setting", "value"], &rows, None)
        + &if timings.is_empty() {
            String::new()
        } else {
            table("Seconds by stage", &["stage", "seconds"], &timings, None)
        }
        + &version
}

/// Settings within settings, their names joined by dots; objects of a list are counted from 1.
pub(crate) fn flatten(prefix: &str, entries: &Map<String, Value>, rows: &mut Vec<Vec<Cell>>) {
    for (name, value) in entries {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(inner) => flatten(&name, inner, rows),
            Value::Array(list) if list.is_empty() => {
                rows.push(vec![Cell::Text(name), Cell::Text("none".to_owned())]);
            }
            Value::Array(list) if list.iter().all(Value::is_object) => {
                let objects = list.iter().filter_map(Value::as_object).enumerate();
                objects.for_each(|(index, inner)| flatten(&format!("{name}.{}", index + 1), inner, rows));
            }
            other => rows.push(vec![Cell::Text(name), Cell::Text(crate::setting_text(other))]),
        }
    }
}
