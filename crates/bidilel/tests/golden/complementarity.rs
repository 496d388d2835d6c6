//! Same-class neighbor pairs, the complementarity of views and the order by it (Appendix C).

use bidilel::visual::{Pairs, Until, complementarity, select};
use bidilel_math::{Silent, neighbors};

use crate::support::{Golden, index, inputs};

fn pairs(golden: &Golden) -> Vec<Pairs> {
    let (k, labels) = (index(golden.at("k")), inputs().indices("yl"));
    // Longer lists than are asked for: the nearest of them count.
    let of =
        |view: &&str| Pairs::of(&neighbors::exact(inputs().columns(view).as_ref(), 11, &Silent), k, &labels);
    ["Xl", "Xl2", "Xl3", "Xl4"].iter().map(of).collect()
}

#[test]
fn directed_pairs_and_the_complementarity_of_any_two_views_agree() {
    let golden = Golden::read("complementarity");
    let views = pairs(&golden);
    assert_eq!(views.iter().map(Pairs::len).collect::<Vec<_>>(), golden.indices("pair_counts"));
    let matrix = golden.columns("c_matrix");
    for (i, one) in views.iter().enumerate() {
        let expected: Vec<usize> =
            golden.at("pair_sets")[i].as_array().expect("a set").iter().map(index).collect();
        assert_eq!(one.iter().map(|(i, j)| i * 60 + j).collect::<Vec<_>>(), expected);
        for (j, other) in views.iter().enumerate() {
            assert!((complementarity(one, other) - matrix[(i, j)]).abs() < 1e-12);
        }
    }
}

#[test]
fn the_order_and_the_complementarity_to_those_before_agree() {
    let golden = Golden::read("complementarity");
    let performance = golden.vector("perf");
    let start = (0..4).max_by(|&a, &b| performance[a].total_cmp(&performance[b])).expect("a view");
    let found = select(&pairs(&golden), start, Until::default());
    assert_eq!(found.order, golden.indices("greedy_order"));
    let values: Vec<f64> = found.complementarity.iter().flatten().copied().collect();
    for (value, expected) in values.iter().zip(golden.vector("greedy_c")) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }
    assert_eq!(values.len(), 3);
}
