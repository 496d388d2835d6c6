//! The same-class neighbour pairs that the complementarity of views is counted from (Appendix C).

use std::collections::BTreeSet;

use bidilel_math::{Silent, neighbors};

use crate::support::{Golden, index, inputs};

fn pairs(view: &str, k: usize) -> BTreeSet<usize> {
    let labels = inputs().indices("yl");
    let found = neighbors::exact(inputs().columns(view).as_ref(), k, &Silent);
    (0..60)
        .flat_map(|i| found.of(i).iter().map(move |&(j, _)| (i, j)).collect::<Vec<_>>())
        .filter(|&(i, j)| labels[i] == labels[j])
        .map(|(i, j)| i * 60 + j)
        .collect()
}

#[test]
fn directed_pairs_and_their_overlaps_agree() {
    let golden = Golden::read("complementarity");
    let k = index(golden.at("k"));
    let sets: Vec<BTreeSet<usize>> = ["Xl", "Xl2", "Xl3", "Xl4"].iter().map(|view| pairs(view, k)).collect();
    assert_eq!(sets.iter().map(BTreeSet::len).collect::<Vec<_>>(), golden.indices("pair_counts"));
    let matrix = golden.columns("c_matrix");
    for (i, left) in sets.iter().enumerate() {
        let expected: Vec<usize> =
            golden.at("pair_sets")[i].as_array().expect("a set").iter().map(index).collect();
        assert_eq!(left.iter().copied().collect::<Vec<_>>(), expected);
        for (j, right) in sets.iter().enumerate().filter(|&(j, _)| j != i) {
            // Eq. (A.14)
            let both = left.intersection(right).count() as f64;
            let (a, b) = (left.len() as f64, right.len() as f64);
            let found = (a.min(b) - both) / (a + b - both);
            assert!((found - matrix[(i, j)]).abs() < 1e-12);
        }
    }
}
