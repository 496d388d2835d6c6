//! Results of bidilel as text, JSON, CSV, Markdown and LaTeX, curves as SVG, pages as HTML.
//!
//! [`Evaluation`] is the object that scripts read; [`Table`] is what people read, rendered by one small
//! module a format.

mod check;
mod evaluation;
mod format;
mod growth;
mod html;
mod latex;
mod markdown;
mod separated;
mod svg;
mod table;
mod text;
mod visible;

pub use check::CheckReport;
pub use evaluation::{ClassScore, Evaluation, Mistake, Run, RunScore, Spread, Step, Subject};
pub use format::Format;
pub use growth::{Growth, Series, growth};
pub use html::{Block, Figure, GENERATOR, Mark, page};
pub use svg::{Curve, curves};
pub use table::{Align, Table};
pub use text::{pad, wrap};
pub use visible::{visible, visible_lines};
