//! The cells of a table of results.

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers.
    Integer,
    /// UTF-8.
    Text,
    /// Floats.
    Float,
    /// Floats, some of which are not there.
    OptionalFloat,
    /// UTF-8, some of which is not there.
    OptionalText,
    /// True or false.
    Boolean,
}

/// The cells of a column in one block.
#[derive(Debug, Clone)]
pub enum Cells<'a> {
    /// Of an [`ColumnType::Integer`].
    Integers(Vec<i64>),
    /// Of a [`ColumnType::Text`].
    Texts(Vec<&'a str>),
    /// Of a [`ColumnType::Float`].
    Floats(Vec<f64>),
    /// Of an [`ColumnType::OptionalFloat`].
    OptionalFloats(Vec<Option<f64>>),
    /// Of an [`ColumnType::OptionalText`].
    OptionalTexts(Vec<Option<&'a str>>),
    /// Of a [`ColumnType::Boolean`].
    Booleans(Vec<bool>),
}
