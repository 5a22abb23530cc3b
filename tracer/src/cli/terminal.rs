//! Text for people at a terminal: tables that fit its width, verdicts in colour.

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

/// Lays out anew each Markdown table that is wider than `width` columns; its cells then take
/// several lines. All else stays as it is.
pub fn fit(text: &str, width: u16) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let blocks = lines.chunk_by(|one, other| is_row(one) == is_row(other));
    let fitted = blocks.map(|block| {
        let too_wide = block.iter().any(|line| columns(line) > usize::from(width));
        match narrow(block, width) {
            Some(table) if too_wide => table,
            _ => block.concat(),
        }
    });
    fitted.collect()
}

fn columns(line: &str) -> usize {
    line.trim_end_matches('\n').chars().count()
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// The same table within the width; `None` if it is none with as many cells in each row.
fn narrow(block: &[&str], width: u16) -> Option<String> {
    let [header, rule, rows @ ..] = block else {
        return None;
    };
    let (header, rule) = (cells(header)?, cells(rule)?);
    let is_rule = |cell: &&str| !cell.is_empty() && cell.bytes().all(|it| it == b'-');
    if !rule.iter().all(is_rule) || header.len() != rule.len() {
        return None;
    }
    let rows = rows.iter().map(|row| cells(row));
    let rows = rows.collect::<Option<Vec<_>>>()?;
    if rows.iter().any(|row| row.len() != header.len()) {
        return None;
    }
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(&header);
    for row in &rows {
        table.add_row(row.iter().map(|text| {
            let alignment = if is_number(text) {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            };
            Cell::new(text).set_alignment(alignment)
        }));
    }
    keep_names_whole(&mut table, width);
    Some(format!("{table}\n"))
}

/// Names and numbers of at most this many characters stay on one line where there is room.
const MOST_WHOLE: u16 = 26;
/// What a column of longer text needs at least.
const LEAST_TEXT: u16 = 16;

fn keep_names_whole(table: &mut Table, width: u16) {
    const BORDERS: u16 = 3;
    let widths = table.column_max_content_widths();
    let needed = widths.iter().map(|&width| {
        let kept = if width > MOST_WHOLE {
            LEAST_TEXT
        } else {
            width
        };
        u32::from(kept + BORDERS)
    });
    if needed.sum::<u32>() >= u32::from(width) {
        return;
    }
    let columns = table.column_iter_mut().zip(widths);
    for (column, _) in columns.filter(|(_, width)| *width <= MOST_WHOLE) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

fn cells(row: &str) -> Option<Vec<&str>> {
    let inner = row.trim_end().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// `1,024`, `0.84 %`, `-`
fn is_number(cell: &str) -> bool {
    let of_a_number = |it: char| it.is_ascii_digit() || " ,.%+-".contains(it);
    cell.chars().all(of_a_number)
}

/// Verdicts, as reports write them, and their colours: the longer ones first.
const VERDICTS: [(&str, AnsiColor); 6] = [
    ("NO PLAN FOUND", AnsiColor::Red),
    ("TOO LARGE", AnsiColor::Red),
    ("DIFFERENT", AnsiColor::Red),
    ("UNSAFE", AnsiColor::Red),
    ("EQUAL", AnsiColor::Green),
    ("SAFE", AnsiColor::Green),
];

/// The text with its verdicts in bold and colour.
pub fn paint(text: &str) -> String {
    let mut painted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, verdict, colour)) = first_verdict(rest, painted.chars().last()) {
        let style = Style::new().bold().fg_color(Some(colour.into()));
        painted += &rest[..start];
        painted += &format!("{style}{verdict}{style:#}");
        rest = &rest[start + verdict.len()..];
    }
    painted + rest
}

/// The first verdict that is no part of a word, where it starts in bytes, and its colour.
fn first_verdict(text: &str, before: Option<char>) -> Option<(usize, &'static str, AnsiColor)> {
    let found = VERDICTS.iter().filter_map(|&(verdict, colour)| {
        let mut starts = text.match_indices(verdict).map(|(start, _)| start);
        let start = starts.find(|&start| {
            let left = text[..start].chars().last();
            let left = if start == 0 { before } else { left };
            let right = text[start + verdict.len()..].chars().next();
            ![left, right].into_iter().flatten().any(is_of_a_word)
        })?;
        Some((start, verdict, colour))
    });
    found.min_by_key(|(start, verdict, _)| (*start, std::cmp::Reverse(verdict.len())))
}

fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || "_-/\"".contains(character)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panic")]
mod tests {
    use super::*;
    use dmo_trace::words::table;

    fn rows() -> String {
        let row = |name: &str| [name.to_owned(), "1,024".to_owned(), "long words ".repeat(9)];
        let table = table(["name", "bytes", "what"], [1], [row("one"), row("two")]);
        format!(
            "A line that is much longer than any terminal is wide stays as it is.\n\n{table}\n\nend\n"
        )
    }

    #[test]
    fn tables_fit_the_width() {
        let text = rows();
        for width in [40, 60, 80, 100] {
            let fitted = fit(&text, width);
            let table = fitted.lines().filter(|line| is_row(line));
            let widest = table.map(columns).max().unwrap();
            assert!(widest <= usize::from(width), "{fitted}");
            assert_eq!(fitted.matches("1,024").count(), 2, "{fitted}");
            assert_eq!(fitted.matches("long").count(), 1 + 18, "{fitted}");
            assert!(fitted.starts_with("A line that is much longer than any terminal"));
            assert!(fitted.ends_with("\n\nend\n"));
        }
        assert_eq!(fit(&text, 200), text);
    }

    #[test]
    fn what_is_no_table_stays() {
        let text = "| a | b |\n|---|---|\n| a name | with a bar | here |\n|\n";
        assert_eq!(fit(text, 10), text);
        assert_eq!(fit("|", 0), "|");
    }

    #[test]
    fn verdicts_have_colours() {
        let red = |it| format!("\u{1b}[1m\u{1b}[31m{it}\u{1b}[0m");
        let green = |it| format!("\u{1b}[1m\u{1b}[32m{it}\u{1b}[0m");
        assert_eq!(
            paint("SAFE with these kernels"),
            format!("{} with these kernels", green("SAFE"))
        );
        assert_eq!(
            paint("x: UNSAFE\nSAFE"),
            format!("x: {}\n{}", red("UNSAFE"), green("SAFE"))
        );
        for plain in ["UNSAFELY", "NOT_SAFE", "safe", "tensor 3 \"SAFE\"", ""] {
            assert_eq!(paint(plain), plain);
        }
    }
}
