//! The savings of a model, as a table.

use super::Model;
use dmo_analysis::wording::grouped;
use dmo_trace::study::savings::Row;
use dmo_trace::words::table;

/// A row for each way of saving.
pub fn text(model: &Model) -> String {
    let has_run = model.rows.iter().any(|row| row.instructions.is_some());
    let mut header = vec!["", "arena", "bound", "of no reuse", "recomputed", "of all"];
    header.extend(has_run.then_some("instructions"));
    let right = 1..header.len();
    let naive = model.rows.first().map_or(1, |row| row.arena_bytes.max(1));
    let rows = model.rows.iter().map(|row| {
        let mut cells = cells(row, naive, model.macs);
        let instructions = row.instructions.map_or(String::new(), grouped);
        cells.extend(has_run.then_some(instructions));
        cells
    });
    let search = if model.complete {
        ""
    } else {
        "; of the tiles the best found in time"
    };
    format!(
        "{}: {} multiply-accumulates{search}\n\n{}\n",
        model.name,
        grouped(model.macs),
        table(header, right, rows)
    )
}

fn cells(row: &Row, naive: u64, macs: u64) -> Vec<String> {
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    vec![
        row.added.to_owned(),
        grouped(row.arena_bytes),
        grouped(row.bound_bytes),
        format!("{:.1} %", percent(row.arena_bytes, naive)),
        grouped(row.extra_macs),
        format!("{:.2} %", percent(row.extra_macs, macs)),
    ]
}
