//! Results of bidilel as text, JSON, CSV, Markdown and LaTeX, curves as SVG, pages as HTML.
//!
//! Every command has one result type: [`Evaluation`], [`Tuning`], [`Comparison`], [`Selection`], [`InspectionReport`],
//! [`ModelReport`], [`ClassList`], [`PredictionRow`] and those in `written`. It serializes to the JSON that scripts read,
//! and its methods make the tables that people read. A [`Table`] is rendered by one small module per format.

mod bars;
mod check;
mod class_list;
mod class_scores;
mod comparison;
mod comparison_tables;
mod evaluation;
mod evaluation_tables;
mod evaluation_text;
mod fitted;
mod format;
mod growth;
mod html;
mod inspection;
mod latex;
mod markdown;
mod method;
mod method_list;
mod predictions;
mod reproduction;
mod selection;
mod separated;
mod svg;
mod table;
mod text;
mod tuned_choice;
mod tuning;
mod visible;
mod written;

/// The version of the program, as results tell it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of the JSON that results are printed in: it changes when a key is renamed or dropped.
pub const SCHEMA_VERSION: u32 = 1;

pub use bars::{Bar, bars};
pub use check::CheckReport;
pub use class_list::{ClassList, ClassRole, ListedClass, NearClass};
pub use comparison::{ComparedMethod, Comparison, ComparisonHead, Entry, FEWEST_TRIALS, Measurement, Over};
pub use evaluation::{ClassScore, Evaluation, Mistake, RunScore, Spread, Subject};
pub use fitted::ModelReport;
pub use format::Format;
pub use growth::{Growth, Series, growth};
pub use html::{Block, Figure, GENERATOR, Mark, page};
pub use inspection::InspectionReport;
pub use method::{fusion_line, method_line};
pub use method_list::{ListedMethod, MethodList};
pub use predictions::{IdKind, PredictionRow, RowFormat, RowId, prediction_rows};
pub use reproduction::{
    CellStatus, CellUnit, CurveFigure, CurveSeries, DataRecord, FigurePoint, Machine, Manifest, MissingData,
    PublishedNumber, Reduced, Reproduction, TableCell, TableColumn, TableRow, TableRun, TestedOver, mark_best,
};
pub use selection::{Selection, SelectionStep, TrialSelection, ViewScore};
pub use svg::{Curve, curves};
pub use table::{Align, Table};
pub use text::{pad, wrap, wrap_lines};
pub use tuned_choice::TunedChoice;
pub use tuning::{BestSetting, ScoredSetting, Tuning, setting_text, settings_line};
pub use visible::{visible, visible_lines};
pub use written::{
    ConvertedDataset, EmbeddedFeatures, EncodedFeatures, GeneratedDataset, GeneratedDatasets, RunPrediction,
    RunPredictions,
};
