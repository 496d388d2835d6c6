//! Identifiers from the sidecar list that `extract` and `encode` write: `features.csv` belongs to `features.npy`.

use std::path::Path;

use bidilel::Dataset;
use bidilel_data::container::Container;
use bidilel_data::table::Ids;
use bidilel_math::Observer;

/// The path of every row, if there is such a list; one that does not fit is ignored with a note.
pub(super) fn ids(features: &Path, count: usize, watch: &dyn Observer) -> Option<Ids> {
    let list = features.with_extension("csv");
    if list == features || !list.is_file() {
        return None;
    }
    // A table of something else is no list of paths, and nothing is wrong with it.
    let table = Container::open(&list).ok()?;
    let column = ["path", "item"].into_iter().find(|column| table.has("index") && table.has(column))?;
    let values = table.strings(column).ok()?;
    let numbers = table.array(Some("index")).ok()?.to_indices(bidilel_data::array::Base::Zero).ok()?;
    let in_order = numbers.iter().enumerate().all(|(row, &number)| row == number);
    if values.len() != count || !in_order {
        watch.note(&format!(
            "`{}` does not list the {count} rows of `{}` in their order, so they have no paths",
            list.display(),
            features.display()
        ));
        return None;
    }
    Some(Ids { column: "path".to_owned(), values, said: false })
}

/// Paths of all instances, where a list beside the features of a view has them.
pub(super) fn instance_names(dataset: &Dataset, watch: &dyn Observer) -> Option<Vec<String>> {
    dataset.visual.iter().find_map(|view| {
        // Messages quote files.
        let path = Path::new(view.origin.trim_matches('`'));
        Some(ids(path, dataset.labels.len(), watch)?.values)
    })
}
