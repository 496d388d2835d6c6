//! Results of bidilel as text, JSON, CSV, Markdown and LaTeX, charts as SVG and PNG, pages as HTML.
//!
//! Every command has one result type: [`Evaluation`], [`Tagging`], [`Tuning`], [`Comparison`], [`Selection`], [`InspectionReport`],
//! [`ModelReport`], [`ClassList`], [`PredictionRow`] and those in `written`. It serializes to the JSON that scripts read,
//! and its methods make the tables that people read. A [`Table`] is rendered by one small module per format. A [`Report`]
//! turns such objects into one page, and into a [`Chart`] of everything that can be drawn.

mod bars;
mod check;
mod class_change;
mod class_description;
mod class_list;
mod class_scores;
mod comparison;
mod comparison_tables;
mod confidence;
mod confidence_text;
mod evaluation;
mod evaluation_tables;
mod evaluation_text;
mod explanation;
mod fitted;
mod format;
mod generalized;
mod growth;
mod html;
mod hubs;
mod inspection;
mod latex;
mod markdown;
mod method;
mod method_list;
mod page;
mod plot;
mod predictions;
mod reproduction;
mod run_data;
mod selection;
mod separated;
mod svg;
mod table;
mod tag_rows;
mod tagging;
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
pub use class_change::{AddedClass, AddedClasses, ClassCounts, PromotedClass, RemovedClasses, RenamedClass};
pub use class_description::{AttributeStrength, ClassDescription};
pub use class_list::{ClassList, ClassRole, ListedClass, NearClass};
pub use comparison::{ComparedMethod, Comparison, ComparisonHead, Entry, FEWEST_TRIALS, Measurement, Over};
pub use confidence::{
    BeforeAfter, CalibrationReport, Confidence, CoverageReport, OpenSetReport, OpenSetRun, RejectionReport,
    SignalReport,
};
pub use evaluation::{Accuracies, ClassScore, Evaluation, Mistake, RunScore, Spread, Subject};
pub use explanation::{ExplainedInstance, InstanceName};
pub use fitted::ModelReport;
pub use format::Format;
pub use growth::{Growth, Series, growth};
pub use html::{Block, Figure, GENERATOR, Mark, data_address, page};
pub use hubs::Hub;
pub use inspection::InspectionReport;
pub use method::{fusion_line, method_line};
pub use method_list::{ListedMethod, MethodList};
pub use page::{Report, ReportError};
pub use plot::{Chart, Theme};
pub use predictions::{IdKind, PredictionRow, RowFormat, RowId, prediction_rows};
pub use reproduction::{
    CellStatus, CellUnit, CurveFigure, CurveSeries, DataRecord, FigurePoint, Machine, Manifest, MissingData,
    PublishedNumber, Reduced, Reproduction, TableCell, TableChoice, TableColumn, TableRow, TableRun,
    TestedOver, mark_best,
};
pub use run_data::{ClassDistances, PointMap, RunData, SeenUnseenPoint};
pub use selection::{Selection, SelectionStep, TrialSelection, ViewScore};
pub use svg::{Curve, curves};
pub use table::{Align, Table};
pub use tag_rows::tag_rows;
pub use tagging::Tagging;
pub use text::{pad, wrap, wrap_lines};
pub use tuned_choice::TunedChoice;
pub use tuning::{BestSetting, ScoredSetting, Tuning, setting_text, settings_line};
pub use visible::{visible, visible_lines};
pub use written::{
    ConvertedDataset, EmbeddedFeatures, EncodedFeatures, GeneratedDataset, GeneratedDatasets, RunPrediction,
    RunPredictions, WrittenReport,
};
