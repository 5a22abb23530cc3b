//! Tables in Markdown, which read well as plain text too.

use comfy_table::{CellAlignment, Table, presets};

/// A table with a header. Columns are numbered from 0; those in `right` hold numbers and are
/// aligned to the right.
pub fn table<H: Into<String>, R>(
    header: impl IntoIterator<Item = H>,
    right: impl IntoIterator<Item = usize>,
    rows: impl IntoIterator<Item = R>,
) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(header.into_iter().map(Into::<String>::into));
    for row in rows {
        table.add_row(row);
    }
    for column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}
