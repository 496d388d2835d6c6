//! The data that the page's script draws, as one JSON object within the page.

use serde::Serialize;

use super::evaluation_charts::drawing;
use crate::{PointMap, RunData};

/// Everything that is drawn by the script.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Island {
    maps: Vec<MapData>,
    confusions: Vec<ConfusionData>,
}

/// A map; lists are by class or by instance.
#[derive(Debug, Serialize)]
pub(crate) struct MapData {
    known: Vec<String>,
    unseen: Vec<String>,
    candidates: Vec<String>,
    landmarks: Vec<(f64, f64)>,
    embeddings: Vec<(f64, f64)>,
    points: Vec<(f64, f64)>,
    truth: Vec<usize>,
    guesses: Vec<Vec<usize>>,
    instances: Vec<usize>,
    names: Vec<String>,
    pictures: Vec<String>,
    /// Where the names of unseen classes stand in the margins, where they have no room beside their marks: 0 on the left, 1 on
    /// the right, and a share of the map's height.
    margins: Vec<(u8, f64)>,
}

impl MapData {
    pub(crate) fn of(data: &RunData, map: &PointMap) -> Self {
        let margins = drawing(data, map).margins();
        let PointMap { landmarks, embeddings, points, .. } = map.clone();
        let RunData { known, unseen, candidates, truth, guesses, instances, names, pictures, .. } =
            data.clone();
        Self {
            known,
            unseen,
            candidates,
            landmarks,
            embeddings,
            points,
            truth,
            guesses,
            instances,
            names,
            pictures,
            margins,
        }
    }
}

/// A confusion matrix: its cells that are not zero.
#[derive(Debug, Serialize)]
pub(crate) struct ConfusionData {
    rows: Vec<String>,
    columns: Vec<String>,
    /// How many of the classes, the first, are known: a line parts them from the others.
    known: usize,
    /// Row, column, count.
    cells: Vec<(usize, usize, usize)>,
    totals: Vec<usize>,
}

impl ConfusionData {
    pub(crate) fn of(names: &[String], known: usize, counts: &[Vec<usize>]) -> Self {
        let row = |(row, counts): (usize, &Vec<usize>)| {
            let cells = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            cells.map(|(column, &count)| (row, column, count)).collect::<Vec<_>>()
        };
        Self {
            rows: names.to_vec(),
            columns: names.to_vec(),
            known,
            cells: counts.iter().enumerate().flat_map(row).collect(),
            totals: counts.iter().map(|counts| counts.iter().sum()).collect(),
        }
    }
}

impl Island {
    pub(crate) fn add_map(&mut self, map: MapData) -> usize {
        self.maps.push(map);
        self.maps.len() - 1
    }

    pub(crate) fn add_confusion(&mut self, confusion: ConfusionData) -> usize {
        self.confusions.push(confusion);
        self.confusions.len() - 1
    }

    /// The object as text that cannot end the element that it stands in: `<` is written as an escape.
    pub(crate) fn text(&self) -> String {
        let text = serde_json::to_string(self).expect("names, numbers and lists can be written as JSON");
        text.replace('<', "\\u003c")
    }
}
