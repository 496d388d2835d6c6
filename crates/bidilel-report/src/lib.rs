//! Results of bidilel as text, JSON, CSV, Markdown and LaTeX, curves as SVG, pages as HTML.
//!
//! [`Evaluation`] is the object that scripts read; [`Table`] is what people read, rendered by one small
//! module a format.

mod check;
mod class_scores;
mod evaluation;
mod evaluation_tables;
mod format;
mod growth;
mod html;
mod latex;
mod markdown;
mod method;
mod separated;
mod svg;
mod table;
mod text;
mod visible;

/// The version of the program, as results tell it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of the JSON that results are printed in: it changes when a key is renamed or dropped.
pub const SCHEMA_VERSION: u32 = 1;

pub use check::CheckReport;
pub use evaluation::{ClassScore, Evaluation, Mistake, RunScore, Spread, Subject};
pub use format::Format;
pub use growth::{Growth, Series, growth};
pub use html::{Block, Figure, GENERATOR, Mark, page};
pub use method::{fusion_line, method_line};
pub use svg::{Curve, curves};
pub use table::{Align, Table};
pub use text::{pad, wrap};
pub use visible::{visible, visible_lines};
