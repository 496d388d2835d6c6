//! What every column of a table was taken for, for `inspect`.

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A dimension of a visual or semantic representation.
    Feature,
    /// It names the class of every row of a table of classes.
    Name,
    /// It identifies the rows of a table of instances.
    Id,
    /// It has the class of every row of a table of instances.
    Label,
    /// Numbers that are not used, because they look like something else.
    LeftOut,
    /// Something that is not used.
    Unused,
}

impl Role {
    /// What to call it in a message.
    pub fn name(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Name => "name",
            Self::Id => "id",
            Self::Label => "label",
            Self::LeftOut => "left out",
            Self::Unused => "unused",
        }
    }
}

/// One column and its role.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ColumnRole {
    /// The column's header, or its number from 0.
    pub column: String,
    /// What it is used as.
    pub role: Role,
    /// Why, where that is not plain.
    pub reason: Option<&'static str>,
}

/// The columns of one table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TableRoles {
    /// What is read from it: `visual.cnn`, `semantic.attributes`, `labels`.
    pub part: String,
    /// The file.
    pub file: String,
    /// Its columns, in the order of the file.
    pub columns: Vec<ColumnRole>,
}
