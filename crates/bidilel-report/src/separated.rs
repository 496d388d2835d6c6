//! Comma-separated values.

use crate::Table;

pub(crate) fn render(table: &Table) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let headers = table.columns.iter().map(|(name, _)| name);
    // Writing to memory cannot fail, and what goes in as UTF-8 comes out so.
    let written = writer
        .write_record(headers)
        .and_then(|()| table.rows.iter().try_for_each(|row| writer.write_record(row)));
    debug_assert!(written.is_ok(), "{written:?}");
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}
