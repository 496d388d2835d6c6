//! Everything in a file that has a name.

use hdf5_pure::{FormatError, Group, Object};

/// Groups within groups.
const DEEPEST: usize = 16;
/// Everything that has a key. Groups that contain each other have as many keys as one likes.
const MOST_KEYS: usize = 1 << 16;
/// Letters of all keys together.
const MAX_KEY_BYTES: usize = 64 << 20;

/// A group or dataset, under the name that it is asked for.
pub(super) struct Node {
    pub(super) key: String,
    pub(super) object: Object,
}

/// Everything below a group, datasets before groups.
pub(super) fn walk(root: &Group, matlab: bool) -> Result<Vec<Node>, hdf5_pure::Error> {
    let mut walk = Walk { matlab, around: Vec::new(), nodes: Vec::new(), key_bytes: 0 };
    walk.group(root, "")?;
    Ok(walk.nodes)
}

struct Walk {
    matlab: bool,
    /// The members of the groups that are being walked, from the root down.
    around: Vec<Vec<String>>,
    nodes: Vec<Node>,
    key_bytes: usize,
}

impl Walk {
    /// A group can be its own descendant. The library does not tell which group it is, but a group with the same members
    /// as two of those around it is one of them.
    fn group(&mut self, group: &Group, prefix: &str) -> Result<(), hdf5_pure::Error> {
        let mut datasets: Vec<_> = group.iter_datasets()?.collect();
        let mut groups: Vec<_> = group.iter_groups()?.collect();
        // The library gives them in no particular order.
        datasets.sort_by(|a, b| a.0.cmp(&b.0));
        groups.sort_by(|a, b| a.0.cmp(&b.0));
        let members = datasets.iter().map(|(name, _)| name).chain(groups.iter().map(|(name, _)| name));
        let members: Vec<String> = members.cloned().collect();
        let twice = self.around.iter().filter(|other| **other == members).count() > 1;
        if twice || self.around.len() > DEEPEST {
            return Ok(());
        }
        self.around.push(members);
        for (name, dataset) in datasets {
            self.push(format!("{prefix}{name}"), Object::Dataset(Box::new(dataset)))?;
        }
        for (name, group) in groups {
            // `#refs#` holds what cells refer to, `#subsystem#` what MATLAB's objects are made of.
            if (self.matlab && name.starts_with('#')) || self.nodes.len() >= MOST_KEYS {
                continue;
            }
            let key = format!("{prefix}{name}");
            self.push(key.clone(), Object::Group(group.clone()))?;
            self.group(&group, &format!("{key}."))?;
        }
        self.around.pop();
        Ok(())
    }

    fn push(&mut self, key: String, object: Object) -> Result<(), hdf5_pure::Error> {
        // Every key repeats the names of the groups around it, and a name can be as long as the file.
        self.key_bytes += key.len();
        if self.key_bytes > MAX_KEY_BYTES {
            let problem = format!("its keys take more than {MAX_KEY_BYTES} bytes");
            return Err(FormatError::Source(problem).into());
        }
        if self.nodes.len() < MOST_KEYS {
            self.nodes.push(Node { key, object });
        }
        Ok(())
    }
}
