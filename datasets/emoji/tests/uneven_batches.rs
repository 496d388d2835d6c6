//! Refinement of batches that are full of one class, by features of a real network: it does little harm.

use bidilel::Mat;
use bidilel::metrics::accuracy;
use bidilel::post::{Balanced, Post};
use bidilel::settings::BalancedShares;
use bidilel::{Candidates, Model, Recognition, Settings, Silent};

/// How often every picture of the frequent class is there.
const TIMES: usize = 30;

/// A fitted model with the raw pictures of its unseen classes.
struct Fixture {
    model: Model,
    /// Features of the pictures of every unseen class.
    pictures: Vec<Vec<Vec<f32>>>,
}

fn fixture(name: &str) -> Fixture {
    let dataset = bidilel_emoji::open(name).expect("a collection").dataset;
    let model = Model::fit(&dataset, &Settings::best(), None, 0, &Silent).expect("a model");
    let rows = &dataset.visual[0].rows;
    let mut pictures = vec![Vec::new(); model.unseen.len()];
    for (instance, &label) in dataset.labels.iter().enumerate() {
        if let Some(class) = model.unseen.iter().position(|class| *class == dataset.classes[label]) {
            let mut row = vec![0.0; rows.dim()];
            rows.read(instance, &mut row);
            pictures[class].push(row);
        }
    }
    Fixture { model, pictures }
}

impl Fixture {
    /// All pictures of one class so many times, and one of every other.
    fn full_of(&self, frequent: usize) -> (Mat<f32>, Vec<usize>) {
        let mut batch: Vec<(usize, &Vec<f32>)> = Vec::new();
        for (class, pictures) in self.pictures.iter().enumerate() {
            if class == frequent {
                (0..TIMES).for_each(|_| batch.extend(pictures.iter().map(|picture| (class, picture))));
            } else {
                batch.extend(pictures.first().map(|picture| (class, picture)));
            }
        }
        let raw = Mat::from_fn(batch[0].1.len(), batch.len(), |i, j| batch[j].1[i]);
        (raw, batch.into_iter().map(|(class, _)| class).collect())
    }

    fn share_right(&self, found: &Recognition, truth: &[usize]) -> f64 {
        accuracy(&found.labels(), truth, self.pictures.len()).per_image
    }

    /// How many instances more are recognized after refinement.
    fn gain(&self, settings: &Balanced, frequent: usize) -> f64 {
        let (raw, truth) = self.full_of(frequent);
        let before = self.model.recognize(raw.as_ref(), Candidates::Unseen).expect("a recognition");
        let post = [Post::Balanced(settings.clone())];
        let after = self.model.refined(before.clone(), &post, &Silent).expect("a refinement");
        let right = |found: &Recognition| truth.len() as f64 * self.share_right(found, &truth);
        right(&after) - right(&before)
    }
}

#[test]
fn a_batch_full_of_one_class_loses_no_more_than_one_picture_by_refinement_and_gains_on_average() {
    let fixture = fixture("emoji");
    for balanced_shares in [BalancedShares::Equal, BalancedShares::Estimated] {
        for balanced_strength in [0.0, 0.5, 1.0] {
            let settings = Balanced { balanced_shares, balanced_strength, ..Balanced::default() };
            let gains: Vec<f64> =
                (0..fixture.pictures.len()).map(|class| fixture.gain(&settings, class)).collect();
            let case = format!("{balanced_shares:?} {balanced_strength}: {gains:.0?}");
            // One picture of the frequent class, so many times.
            let one_picture = TIMES as f64 + 1.5;
            assert!(gains.iter().all(|gain| *gain > -one_picture), "{case}");
            assert!(gains.iter().sum::<f64>() > 0.0, "{case}");
        }
    }
}
