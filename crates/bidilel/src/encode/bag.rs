//! The bag of features of a set of points: how many of them are nearest to each word.
//!
//! # References
//! G. Csurka et al., *Visual categorization with bags of keypoints*, 2004.

use bidilel_math::kmeans;
use faer::MatRef;

/// Adds the points (dimensions x points) to the counts of their nearest words (dimensions x words).
pub fn count(words: MatRef<'_, f64>, points: MatRef<'_, f64>, counts: &mut [f64]) {
    for word in kmeans::nearest(points, words) {
        counts[word] += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    #[test]
    fn every_point_is_counted_once_with_its_nearest_word() {
        let words = Mat::from_fn(1, 3, |_, k| 10.0 * k as f64);
        let points = Mat::from_fn(1, 7, |_, i| [1.0, 4.0, 5.0, 9.0, 16.0, 40.0, -3.0][i]);
        let mut counts = vec![0.0; 3];
        count(words.as_ref(), points.as_ref(), &mut counts);
        // 5 is as far from 0 as from 10: the lower word gets it.
        assert_eq!(counts.iter().map(|count| format!("{count}")).collect::<Vec<_>>(), ["4", "1", "2"]);
    }
}
