//! An evaluation for a terminal: what was evaluated, accuracy per step and per class, stress, hubness, time.

use crate::hubs::hubs_line;
use crate::{Evaluation, fusion_line, method_line, visible, wrap_lines};

impl Evaluation {
    /// Everything that a person reads, for a terminal of `width` cells.
    pub fn text(&self, width: Option<usize>) -> String {
        let subject = &self.subject;
        let runs = match self.runs.len() {
            1 => String::new(),
            count => format!(
                "  {count} runs: {:.1} ± {:.1} % (standard error), standard deviation {:.1}\n",
                100.0 * self.summary.mean,
                100.0 * self.summary.standard_error,
                100.0 * self.summary.standard_deviation
            ),
        };
        let drawn = subject.random_splits.map_or(String::new(), |drawn| format!(" ({drawn})"));
        let seen = subject.test_seen_share.map_or(String::new(), |share| {
            format!(", {:.0} % of the known classes' instances tested", 100.0 * share)
        });
        let fusion = subject.method.fusion.as_ref().filter(|fusion| !fusion.is_plain());
        let fusion = fusion.map_or(String::new(), |fusion| format!("\n  {}", fusion_line(fusion)));
        let stress = self.stress.map(|stress| format!("stress {stress:.5}"));
        let hubness = self.hubness.get(&1).map(|hubness| format!("hubness {hubness:.2}"));
        let hubs = self.hubs.get(&1).and_then(|hubs| hubs_line(hubs));
        let hubs = hubs.map_or(String::new(), |hubs| wrap_lines(&hubs, width) + "\n");
        let figures: Vec<String> = stress.into_iter().chain(hubness).collect();
        let steps = match &self.accuracy.generalized {
            Some(figures) => {
                self.sides_table(figures).text(width) + &wrap_lines(&self.sides_line(figures), width)
            }
            None => self.steps_table().text(width),
        };
        format!(
            "{}, split {}{drawn}{seen}: {} with {}\n{}\n\n{steps}{runs}\n{}{}\n{hubs}{}, {:.1} s\n",
            visible(&subject.dataset),
            visible(&subject.split),
            visible(&subject.visual.join(" + ")),
            visible(&subject.semantic.join(" + ")),
            wrap_lines(&(method_line(&subject.method) + &fusion), width),
            self.classes_table().text(width),
            self.confidence.text(width),
            figures.join(", "),
            self.timings.get("total").copied().unwrap_or(0.0)
        )
    }
}
