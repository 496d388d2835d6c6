//! Everything in a file that has a name.

use hdf5_pure::{FormatError, Group, Object, Source};

use crate::array::Bytes;

/// Groups within groups.
const DEEPEST: usize = 16;
/// Everything that has a key. Groups that contain each other have as many keys as one likes.
const MOST_KEYS: usize = 1 << 16;

/// A group or dataset, under the name that it is asked for.
pub(super) struct Node {
    pub(super) key: String,
    pub(super) object: Object,
}

/// The bytes of the file, as the library wants to read them.
pub(super) struct Mapped(pub(super) Bytes);

impl Source for Mapped {
    fn len(&self) -> u64 {
        (*self.0).as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FormatError> {
        let bytes = (*self.0).as_ref();
        let start = usize::try_from(offset)
            .map_err(|_| FormatError::ValueTooLargeForPlatform { value: offset, target: "usize" })?;
        let end = start.checked_add(buffer.len()).filter(|&end| end <= bytes.len());
        let end = end.ok_or(FormatError::UnexpectedEof {
            expected: start.saturating_add(buffer.len()),
            available: bytes.len(),
        })?;
        buffer.copy_from_slice(&bytes[start..end]);
        Ok(())
    }
}

/// Collects everything below a group, datasets before groups.
///
/// A group can be its own descendant. The library does not tell which group it is, but a group with the same members
/// as two of those around it is one of them.
pub(super) fn walk(
    group: &Group,
    prefix: &str,
    matlab: bool,
    around: &mut Vec<Vec<String>>,
    nodes: &mut Vec<Node>,
) -> Result<(), hdf5_pure::Error> {
    let mut datasets: Vec<_> = group.iter_datasets()?.collect();
    let mut groups: Vec<_> = group.iter_groups()?.collect();
    // The library gives them in no particular order.
    datasets.sort_by(|a, b| a.0.cmp(&b.0));
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    let members = datasets.iter().map(|(name, _)| name).chain(groups.iter().map(|(name, _)| name));
    let members: Vec<String> = members.cloned().collect();
    if around.iter().filter(|other| **other == members).count() > 1 || around.len() > DEEPEST {
        return Ok(());
    }
    around.push(members);
    for (name, dataset) in datasets {
        if nodes.len() < MOST_KEYS {
            nodes.push(Node { key: format!("{prefix}{name}"), object: Object::Dataset(Box::new(dataset)) });
        }
    }
    for (name, group) in groups {
        // `#refs#` holds what cells refer to, `#subsystem#` what MATLAB's objects are made of.
        if (matlab && name.starts_with('#')) || nodes.len() >= MOST_KEYS {
            continue;
        }
        let key = format!("{prefix}{name}");
        nodes.push(Node { key: key.clone(), object: Object::Group(group.clone()) });
        walk(&group, &format!("{key}."), matlab, around, nodes)?;
    }
    around.pop();
    Ok(())
}
