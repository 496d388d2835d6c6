//! The best of some cells, and those that cannot be told from it.

use bidilel_math::statistics::wilcoxon;

use super::{CellUnit, SIGNIFICANT, TableCell};

/// Marks the cell with the highest accuracy, and those whose signed-rank test against it, paired over trials or classes, is
/// not significant. Fewer than two numbers have no best.
pub fn mark_best(cells: &mut [&mut TableCell]) {
    let measured = |cell: &TableCell| cell.value.filter(|_| cell.unit == CellUnit::Accuracy);
    let values: Vec<Option<f64>> = cells.iter().map(|cell| measured(cell)).collect();
    let highest = |best: Option<(usize, f64)>, (place, value): (usize, &Option<f64>)| match (best, value) {
        (Some((_, best_value)), Some(value)) if *value > best_value => Some((place, *value)),
        (None, Some(value)) => Some((place, *value)),
        (best, _) => best,
    };
    let Some((best, _)) = values.iter().enumerate().fold(None, highest) else { return };
    if values.iter().flatten().count() < 2 {
        return;
    }
    let units = cells[best].units.clone();
    for (place, cell) in cells.iter_mut().enumerate().filter(|(place, _)| values[*place].is_some()) {
        let pairs: Vec<f64> =
            units.iter().filter_map(|(unit, value)| Some(value - cell.units.get(unit)?)).collect();
        cell.best = place == best || !pairs.is_empty() && wilcoxon(&pairs) >= SIGNIFICANT;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::tests::run;
    use super::*;
    use crate::reproduction::CellStatus;

    #[test]
    fn what_cannot_be_told_from_the_best_is_marked_too() {
        let classes: Vec<f64> = (0..10).map(|i| 0.3 + 0.03 * f64::from(i)).collect();
        let shifted = |by: f64| classes.iter().map(|value| value + by).collect::<Vec<_>>();
        let mut near = shifted(0.1);
        near[0] += 0.02;
        near[9] -= 0.03;
        let mut cells: Vec<TableCell> = [shifted(0.0), shifted(0.1), near]
            .iter()
            .map(|classes| TableCell::accuracy(&[run("standard", 0, classes)], false, None))
            .collect();
        cells.push(TableCell::without(CellStatus::Missing, CellUnit::Accuracy, None, None));
        mark_best(&mut cells.iter_mut().collect::<Vec<_>>());
        assert_eq!(cells.iter().map(|cell| cell.best).collect::<Vec<_>>(), [false, true, true, false]);
        let mut alone = TableCell::accuracy(&[run("standard", 0, &classes)], false, None);
        mark_best(&mut [&mut alone]);
        assert!(!alone.best, "nothing to be better than");
    }
}
