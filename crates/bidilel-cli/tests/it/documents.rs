//! Documents that speak of the code, held against the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A source file of a crate: its module path, and its text without comments and tests.
struct Source {
    modules: Vec<String>,
    code: String,
}

/// The sources of all crates, by their names in Rust.
fn all_sources() -> BTreeMap<String, Vec<Source>> {
    let folders = entries(&root().join("crates"));
    let name = |folder: &Path| folder.file_name().expect("a name").to_string_lossy().replace('-', "_");
    folders.into_iter().map(|folder| (name(&folder), sources(&folder.join("src")))).collect()
}

fn sources(folder: &Path) -> Vec<Source> {
    rust_files(folder)
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file");
            let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
            let lines = text[..tests].lines().filter(|line| !line.trim_start().starts_with("//"));
            let code = lines.collect::<Vec<_>>().join("\n");
            let inner = path.strip_prefix(folder).expect("a file of the folder").with_extension("");
            let modules = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            Source { modules, code }
        })
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

impl Source {
    /// Whether a word stands in the code behind a prefix such as `fn `.
    fn has(&self, prefix: &str, word: &str) -> bool {
        let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let wanted = format!("{prefix}{word}");
        self.code.match_indices(&wanted).any(|(at, _)| {
            let before = self.code[..at].chars().next_back();
            let after = self.code[at + wanted.len()..].chars().next();
            let begins = prefix.starts_with(['.', ':']) || !before.is_some_and(part_of_word);
            begins && !after.is_some_and(part_of_word)
        })
    }

    fn is_within(&self, modules: &[&str]) -> bool {
        modules.iter().all(|module| self.modules.iter().any(|own| own == module))
    }

    fn declares(&self, name: &str) -> bool {
        ["struct ", "enum ", "trait ", "type ", "const ", "fn ", "mod "]
            .iter()
            .any(|kind| self.has(kind, name))
    }

    /// A method, a field or a variant of a type.
    fn has_member(&self, owner: &str, name: &str) -> bool {
        let about =
            ["struct ", "enum ", "trait ", "impl ", "for ", "> "].iter().any(|kind| self.has(kind, owner));
        let line = |line: &str| {
            let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', '(', ',', ' ']))
        };
        about && (self.has("fn ", name) || self.code.lines().any(line))
    }
}

/// What is wrong with a path of the document, such as `bidilel_math::graph::Affinity::new`.
fn problem(path: &str, crates: &BTreeMap<String, Vec<Source>>) -> Option<&'static str> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let krate = if parts[0].starts_with("bidilel") { parts.remove(0) } else { "bidilel" };
    let name = parts.pop()?;
    let owner = parts.pop_if(|part| part.starts_with(char::is_uppercase));
    let Some(sources) = crates.get(krate) else { return Some("is of no crate") };
    let is_here = |source: &&Source| match owner {
        Some(owner) => source.has_member(owner, name),
        None => source.declares(name) || source.modules.iter().any(|module| module == name),
    };
    let found: Vec<&Source> =
        sources.iter().filter(|source| source.is_within(&parts)).filter(is_here).collect();
    if found.is_empty() {
        return Some("does not exist");
    }
    // A function must be called by more than tests.
    if !found.iter().any(|source| source.has("fn ", name)) {
        return None;
    }
    let is_called = |source: &Source| match owner {
        Some(owner) => {
            let own = found.iter().any(|found| std::ptr::eq(*found, source));
            source.has(&format!("{owner}::"), name)
                || source.has(".", name)
                || own && source.has("Self::", name)
        }
        None => source.code.matches(name).count() > source.code.matches(&format!("fn {name}")).count(),
    };
    (!crates.values().flatten().any(is_called)).then_some("is called by tests alone")
}

/// Paths in the document; in a column of functions also bare names, which belong to the module before them.
fn named_paths(document: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut column_of_functions = false;
    for line in document.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let is_row = line.starts_with('|');
        let last = if is_row { cells[cells.len() - 2] } else { "" };
        column_of_functions = is_row && (column_of_functions || last == "function");
        let mut module = "";
        let text = if column_of_functions { last } else { line };
        for code in text.split('`').skip(1).step_by(2) {
            let is_name = !code.starts_with("crate::") && code.split("::").all(is_identifier);
            if is_name && code.contains("::") {
                module = code.rsplit_once("::").map_or("", |(module, _)| module);
                paths.push(code.to_owned());
            } else if is_name && column_of_functions {
                paths.push(format!("{module}::{code}"));
            }
        }
    }
    paths
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[test]
fn every_function_that_stands_beside_an_equation_exists_and_is_used() {
    let document = fs::read_to_string(root().join("docs/maths.md")).unwrap();
    let (paths, crates) = (named_paths(&document), all_sources());
    assert!(paths.len() > 40, "{paths:?}");
    let wrong = |path: &String| Some(format!("`{path}` {}", problem(path, &crates)?));
    let wrong: Vec<String> = paths.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "docs/maths.md: {}", wrong.join("; "));
    assert_eq!(problem("bidilel_math::graph::Affinity::nothing", &crates), Some("does not exist"));
}

/// Markdown takes backslashes before punctuation and pairs of asterisks away; in a code span it leaves them alone, and
/// `katex.html` renders formulas there, too.
#[test]
fn formulas_reach_the_documentation_unchanged() {
    let mut changed = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        let comments = text.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))
        });
        let comments = comments.collect::<Vec<_>>().join("\n");
        // Even pieces lie outside of code, and of these the odd ones between dollars.
        let prose = comments.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for formula in prose.replace("$$", "$").split('$').skip(1).step_by(2) {
            let escape = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_punctuation();
            if formula.as_bytes().windows(2).any(escape) {
                changed.push(format!("{}: {formula}", file.display()));
            }
        }
    }
    assert!(changed.is_empty(), "write these in code spans, `$...$`:\n{}", changed.join("\n"));
}

#[test]
fn packages_carry_the_licences_and_the_header_of_formulas() {
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    for folder in entries(&root().join("crates"))
        .into_iter()
        .chain(["datasets/emoji", "experiments"].map(|one| root().join(one)))
    {
        let manifest = read(folder.join("Cargo.toml"));
        if manifest.contains("publish = false") {
            continue;
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(
                read(folder.join(licence)) == read(root().join(licence)),
                "{}: {licence}",
                folder.display()
            );
        }
        if manifest.contains("katex.html") {
            let header = read(root().join("crates/bidilel-math/katex.html"));
            assert!(read(folder.join("katex.html")) == header, "{}: katex.html", folder.display());
        }
    }
}
