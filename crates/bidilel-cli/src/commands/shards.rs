//! The feature files of every view: one, or several whose rows follow each other.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bidilel::visual::Views;
use bidilel_data::table::matches_pattern;

/// The files of every view, in the model's order.
pub(super) fn paths(typed: &[String], views: &Views) -> Result<Vec<Vec<PathBuf>>> {
    let names: Vec<&str> = views.parts.iter().map(|view| view.name.as_str()).collect();
    let split = |text: &String| {
        let (name, path) = text.split_once('=')?;
        names.iter().position(|&other| other == name).map(|view| (view, path.to_owned()))
    };
    let listed = names.join(", ");
    if let Some((name, text)) = typed.iter().find_map(|text| {
        let (name, _) = text.split_once('=')?;
        let foreign = split(text).is_none() && !name.contains(['/', '.']) && !Path::new(text).exists();
        foreign.then_some((name, text))
    }) {
        bail!("`{text}`: the model has no view `{name}`, but {listed}");
    }
    let named: Vec<(usize, String)> = typed.iter().filter_map(split).collect();
    let of_view = |view: usize| -> Result<Vec<PathBuf>> {
        let own: Vec<&String> = match (named.is_empty(), names.len()) {
            // A model of one view takes any number of files.
            (true, 1) => typed.iter().collect(),
            (true, _) => vec![&typed[view]],
            _ => named.iter().filter(|(other, _)| *other == view).map(|(_, path)| path).collect(),
        };
        let mut files = Vec::new();
        for text in own {
            files.extend(expanded(text)?);
        }
        let mut sorted = files.clone();
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("features for view `{}` are given twice: `{}`", names[view], pair[0].display());
        }
        if files.is_empty() {
            bail!("no features for view `{0}`: add {0}=FILE", names[view]);
        }
        Ok(files)
    };
    if named.is_empty() && names.len() > 1 && typed.len() != names.len() {
        bail!(
            "expected {} feature files, one for each view ({listed}), found {}: name several files of one view, as in \
             {}='part-*.npy'",
            names.len(),
            typed.len(),
            names[0]
        );
    }
    if !named.is_empty() && named.len() < typed.len() {
        bail!("name every feature file, as in {}=FILE, or none of them", names[0]);
    }
    (0..names.len()).map(of_view).collect()
}

/// A file, or those whose names have the form of a pattern (`part-*.parquet`), by name.
pub(crate) fn expanded(text: &str) -> Result<Vec<PathBuf>> {
    let path = Path::new(text);
    let Some(pattern) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(vec![path.to_owned()]);
    };
    if path.exists() || !pattern.contains(['*', '?']) {
        return Ok(vec![path.to_owned()]);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let entries = fs::read_dir(folder).with_context(|| format!("`{}`: cannot be read", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("`{}`: cannot be read", folder.display()))?;
        if matches_pattern(&pattern, &entry.file_name().to_string_lossy()) && entry.path().is_file() {
            found.push(path.with_file_name(entry.file_name()));
        }
    }
    // The order of `read_dir` is unspecified.
    found.sort();
    if found.is_empty() {
        bail!("`{text}`: no file has a name of this form");
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_files_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["part-2.npy", "part-1.npy", "other.npy"] {
            fs::write(folder.path().join(name), "x").expect("writable");
        }
        let of = |name: &str| expanded(folder.path().join(name).to_str().expect("plain"));
        let names = |paths: Vec<PathBuf>| -> Vec<String> {
            paths
                .iter()
                .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(names(of("part-*.npy").expect("files")), ["part-1.npy", "part-2.npy"]);
        assert_eq!(names(of("other.npy").expect("a file")), ["other.npy"]);
        assert!(
            of("none-*.npy").expect_err("nothing").to_string().contains("no file has a name of this form")
        );
    }
}
