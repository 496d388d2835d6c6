//! The rows of `predict --tags`: every label of an instance that reaches its threshold.

use bidilel::recognize::Scores;
use bidilel_data::{Prediction, table::Ids};

/// The labels of every instance of a block whose scores reach their thresholds, best first; `numbers` are the instances'
/// indices. An instance without such a label has one row with an empty label and the distance of the best.
pub fn tag_rows<'a>(
    scores: &Scores,
    numbers: &[usize],
    classes: &'a [String],
    thresholds: &[f64],
    ids: Option<&'a Ids>,
) -> impl Iterator<Item = Prediction<'a>> {
    (0..scores.instances()).flat_map(move |instance| {
        let index = numbers[instance];
        let id = ids.map(|ids| ids.values[index].as_str());
        let ranked = scores.top(instance, scores.classes());
        let best = ranked.first().map(|&(_, score)| (None, score));
        let reached = ranked.into_iter().filter(|&(class, score)| score >= thresholds[class]);
        let mut tags: Vec<(Option<&'a str>, f64)> =
            reached.map(|(class, score)| (Some(classes[class].as_str()), score)).collect();
        if tags.is_empty() {
            tags.extend(best);
        }
        tags.into_iter().map(move |(label, score)| {
            let (probability, in_set) = (None, None);
            Prediction { index, label, distance: -score, probability, in_set, id }
        })
    })
}

#[cfg(test)]
mod tests {
    use bidilel::Mat;

    use super::*;

    #[test]
    fn tags_reach_their_thresholds_and_an_instance_without_has_an_empty_label() {
        let scores =
            Scores { values: Mat::from_fn(3, 2, |class, i| [[0.2, 0.9, 0.5], [0.1, 0.3, 0.2]][i][class]) };
        let classes = ["a", "b", "c"].map(str::to_owned);
        let rows: Vec<(usize, Option<&str>, f64)> =
            tag_rows(&scores, &[7, 8], &classes, &[0.5, 0.5, 0.4], None)
                .map(|row| (row.index, row.label, row.distance))
                .collect();
        assert_eq!(rows, [(7, Some("b"), -0.9), (7, Some("c"), -0.5), (8, None, -0.3)]);
    }
}
