//! Columns that look like something else than features, by their values.

use bidilel::dataset::Rows;

/// Fewer rows count up by chance: two classes, of which the second has a tail.
const LEAST_ROWS: usize = 5;

/// Places of the features that are 0, 1, 2, ... or 1, 2, 3, ... from the first row to the last.
pub(super) fn counting(rows: &dyn Rows) -> Vec<usize> {
    let mut counting = Counting::new(rows.dim());
    counting.add(rows);
    counting.places()
}

/// The features that have counted the rows so far.
pub(super) struct Counting {
    /// Each with the number of the first row, 0 or 1; of all features before a row was seen.
    places: Vec<(usize, f32)>,
    rows: usize,
}

impl Counting {
    pub(super) fn new(dim: usize) -> Self {
        Self { places: (0..dim).map(|place| (place, 0.0)).collect(), rows: 0 }
    }

    /// Looks at the next rows.
    pub(super) fn add(&mut self, rows: &dyn Rows) {
        let mut values = vec![0.0_f32; rows.dim()];
        for row in 0..rows.count() {
            if self.places.is_empty() {
                return;
            }
            rows.read(row, &mut values);
            let index = self.rows as f32;
            #[expect(clippy::float_cmp, reason = "whole numbers are exact in every number type")]
            if self.rows == 0 {
                self.places.iter_mut().for_each(|(place, first)| *first = values[*place]);
                self.places.retain(|&(_, first)| first == 0.0 || first == 1.0);
            } else {
                self.places.retain(|&(place, first)| values[place] == index + first);
            }
            self.rows += 1;
        }
    }

    /// Whether no row can change the answer any more.
    pub(super) fn is_settled(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn places(self) -> Vec<usize> {
        if self.rows < LEAST_ROWS {
            return Vec::new();
        }
        self.places.into_iter().map(|(place, _)| place).collect()
    }
}

/// Places of the features that are a whole number for every class, and another one for every other: labels, whatever
/// they count from.
pub(super) fn telling(rows: &dyn Rows, labels: &[usize]) -> Vec<usize> {
    let classes = labels.iter().max().map_or(0, |&most| most + 1);
    let mut present = vec![false; classes];
    labels.iter().for_each(|&label| present[label] = true);
    let count = present.iter().filter(|&&present| present).count();
    // A class an instance tells nothing.
    if count < 2 || labels.len() < LEAST_ROWS || count == labels.len() {
        return Vec::new();
    }
    let mut places: Vec<usize> = (0..rows.dim()).collect();
    let mut of_class: Vec<Option<Vec<f32>>> = vec![None; classes];
    let mut values = vec![0.0_f32; rows.dim()];
    for (row, &label) in labels.iter().enumerate() {
        if places.is_empty() {
            return places;
        }
        rows.read(row, &mut values);
        let own = of_class[label].get_or_insert_with(|| values.clone());
        #[expect(clippy::float_cmp, reason = "the same label is the same number")]
        places.retain(|&place| values[place] == own[place] && values[place].fract() == 0.0);
    }
    let distinct = |&place: &usize| {
        let mut seen: Vec<f32> = of_class.iter().flatten().map(|values| values[place]).collect();
        seen.sort_unstable_by(f32::total_cmp);
        seen.dedup();
        seen.len() == count
    };
    places.retain(distinct);
    places
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    #[test]
    fn row_numbers_are_found_from_zero_and_from_one() {
        let rows = Mat::<f32>::from_fn(4, 6, |column, row| match column {
            0 => row as f32,
            1 => row as f32 + 1.0,
            2 => row as f32 * 2.0,
            _ => 1.0,
        });
        assert_eq!(counting(&rows), [0, 1]);
        assert_eq!(counting(&Mat::<f32>::from_fn(1, 4, |_, row| row as f32)), [0_usize; 0]);
    }

    #[test]
    fn labels_are_found_whatever_they_count_from() {
        let labels = [0, 1, 1, 2, 0, 2];
        let rows = Mat::<f32>::from_fn(5, 6, |column, row| match column {
            0 => labels[row] as f32,
            1 => 10.0 - labels[row] as f32,
            2 => (labels[row] % 2) as f32,
            3 => labels[row] as f32 + 0.5,
            _ => row as f32,
        });
        assert_eq!(telling(&rows, &labels), [0, 1]);
        assert_eq!(telling(&rows, &[0; 6]), [0_usize; 0]);
    }
}
