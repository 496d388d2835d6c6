//! The results of the demonstration, independent of how they are shown.

use anyhow::{Context, Result};
use bidilel::metrics::{self, Accuracy};
use bidilel::pipeline::Fitted;
use bidilel::post::{Batch, Post, refined};
use bidilel::recognize::{Candidates, Recognition};
use bidilel::settings::{PostName, Settings};
use bidilel::split::Trial;
use bidilel::task::{Choice, Task};
use bidilel_emoji::Collection;

use super::explain::{Explainer, Why};

/// Pictures that the text shows; the page shows all.
const SAMPLES: usize = 6;

/// Everything that the demonstration shows.
pub(crate) struct Story<'a> {
    pub(crate) animals: &'a Collection,
    pub(crate) trial: &'a Trial,
    pub(crate) task: &'a Task,
    /// Names of the semantic representations in use.
    pub(crate) described_by: Vec<String>,
    /// Accuracy without refinement, then with each refinement alone.
    pub(crate) ways: Vec<(String, Accuracy)>,
    /// What cross-validation chose; the guesses are from it.
    pub(crate) chosen: String,
    pub(crate) recognition: Recognition,
    /// `confusion[truth][guess]` over the unseen classes.
    pub(crate) confusion: Vec<Vec<usize>>,
    /// Share of pictures with the right class among the three nearest.
    pub(crate) among_three: Accuracy,
    explainer: Explainer<'a>,
}

/// One of the guesses about a picture.
pub(crate) struct Guess {
    /// Index into the dataset's classes.
    pub(crate) class: usize,
    pub(crate) distance: f64,
}

impl<'a> Story<'a> {
    /// Recognizes the test pictures without refiner and with each.
    pub(crate) fn new(
        animals: &'a Collection,
        trial: &'a Trial,
        task: &'a Task,
        settings: &Settings,
        choice: &Choice,
        fitted: &Fitted,
    ) -> Result<Self> {
        let points = fitted.space.project(task.test.features.as_ref())?;
        let (truth, classes) = (&task.test.labels, task.unseen.len());
        let batch = Batch { classes: &task.unseen, ..Batch::UNNAMED };
        let recognize = |post: Vec<Post>| {
            let inductive = fitted.nearest(points.clone(), Candidates::Unseen);
            refined("inductive", inductive, &post, &batch, |_, _| ())
        };
        let mut ways = Vec::new();
        for name in [PostName::None, PostName::SelfTraining, PostName::Structured, PostName::Balanced] {
            let post = Settings { post: Some(vec![name]), ..settings.clone() }.post();
            let title = post.first().map_or("inductive", |post| post.name()).to_owned();
            ways.push((title, metrics::accuracy(&recognize(post)?.labels(), truth, classes)));
        }
        let recognition = recognize(settings.post())?;
        let chosen: Vec<String> = settings.post().iter().map(|post| post.name().to_owned()).collect();
        let chosen = if chosen.is_empty() { "inductive".to_owned() } else { chosen.join(", ") };
        if ways.iter().all(|(title, _)| *title != chosen) {
            ways.push((chosen.clone(), metrics::accuracy(&recognition.labels(), truth, classes)));
        }
        let attributes =
            animals.dataset.semantic(Some("attributes")).context("the animals have attributes")?;
        Ok(Self {
            animals,
            trial,
            task,
            described_by: choice.semantic.iter().map(|(name, _)| name.clone()).collect(),
            ways,
            chosen,
            confusion: metrics::confusion(&recognition.labels(), truth, classes),
            among_three: metrics::top_k(&recognition.scores, truth, 3),
            recognition,
            explainer: Explainer::new(attributes, trial, &fitted.landmarks, points.as_ref()),
        })
    }

    /// Accuracy of guessing.
    pub(crate) fn chance(&self) -> f64 {
        1.0 / self.trial.unseen.len().max(1) as f64
    }

    /// The three best guesses about a test picture, best first.
    pub(crate) fn guesses(&self, test: usize) -> Vec<Guess> {
        let top = self.recognition.scores.top(test, 3);
        let guess =
            |(class, score): (usize, f64)| Guess { class: self.trial.unseen[class], distance: -score };
        top.into_iter().map(guess).collect()
    }

    /// The class of a test picture, as an index into the dataset's classes.
    pub(crate) fn truth(&self, test: usize) -> usize {
        self.trial.unseen[self.task.test.labels[test]]
    }

    /// Why a test picture would be of a class.
    pub(crate) fn why(&self, test: usize, class: usize) -> Why {
        self.explainer.why(test, class)
    }

    /// An attribute's name.
    pub(crate) fn attribute(&self, dimension: usize) -> &str {
        self.explainer.attribute(dimension)
    }

    /// A few test pictures: classes at equal steps, another style for each, whether they are recognized or not.
    pub(crate) fn samples(&self) -> Vec<usize> {
        let classes = self.trial.unseen.len();
        let sample = |number: usize| {
            let class = number * classes / SAMPLES;
            let of_class: Vec<usize> =
                (0..self.trial.test.len()).filter(|&test| self.task.test.labels[test] == class).collect();
            of_class.get(number % of_class.len().max(1)).copied()
        };
        (0..SAMPLES.min(classes)).filter_map(sample).collect()
    }

    /// Names of a few attributes, to give an idea of them.
    pub(crate) fn telling_attributes(&self, count: usize) -> Vec<String> {
        let names =
            self.animals.dataset.semantic(Some("attributes")).ok().and_then(|s| s.dimension_names.as_ref());
        let names = names.map_or(&[][..], Vec::as_slice);
        // Evenly spread over the table, which goes from colors to kinds.
        (0..count).filter_map(|i| names.get((2 * i + 1) * names.len() / (2 * count)).cloned()).collect()
    }
}
