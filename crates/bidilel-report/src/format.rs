//! The formats that every command can print.

use std::fmt;
use std::str::FromStr;

/// An output format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Aligned tables for a person.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// Comma-separated values.
    Csv,
    /// A Markdown table.
    Markdown,
    /// A LaTeX `tabular`.
    Latex,
    /// A Parquet table, for results with one row per instance.
    Parquet,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(&'static str, Self); 7] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("jsonl", Self::JsonLines),
        ("csv", Self::Csv),
        ("markdown", Self::Markdown),
        ("latex", Self::Latex),
        ("parquet", Self::Parquet),
    ];

    /// The format of a file's extension.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Some(match ending.to_ascii_lowercase().as_str() {
            "txt" => Self::Text,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::JsonLines,
            "csv" => Self::Csv,
            "md" | "markdown" => Self::Markdown,
            "tex" => Self::Latex,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.iter().find(|(other, _)| *other == name);
        known.map(|&(_, format)| format).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, format)| format == self).map_or("text", |(name, _)| name);
        f.write_str(name)
    }
}
