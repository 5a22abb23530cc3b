//! Text for people at a terminal: tables that fit its width, verdicts in colour.

use anstyle::{AnsiColor, Style};
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets,
};

/// Lays out anew each Markdown table that is wider than `width` columns: its cells take several
/// lines, and columns for which there is no room come in tables of their own below it. Sentences are
/// broken between words, but not within a command. All else stays as it is.
pub fn fit(text: &str, width: u16) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let blocks = lines.chunk_by(|one, other| is_row(one) == is_row(other));
    let fitted = blocks.map(|block| {
        let too_wide = block.iter().any(|line| columns(line) > usize::from(width));
        match Grid::read(block) {
            Some(grid) if too_wide => grid.within(width.into()),
            _ if too_wide => block
                .iter()
                .map(|line| wrapped(line, width.into()))
                .collect(),
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

/// The line in several, each further one indented; as it is where it is indented itself, as source
/// lines are, or a row.
fn wrapped(line: &str, width: usize) -> String {
    if line.starts_with(|first: char| first.is_whitespace()) || is_row(line) {
        return line.to_owned();
    }
    let (mut made, mut length) = (String::new(), 0);
    let (mut rest, mut is_command) = (line.trim_end_matches('\n'), false);
    while !rest.is_empty() {
        // Up to the next space outside of a command.
        let end = rest.char_indices().find(|&(_, character)| {
            is_command ^= character == '`';
            character == ' ' && !is_command
        });
        let (word, further) = match end {
            Some((end, _)) => (&rest[..end], &rest[end + 1..]),
            None => (rest, ""),
        };
        if length > 0 && length + 1 + columns(word) > width {
            made += INDENTED;
            length = INDENTED.len() - 1;
        } else if length > 0 || !made.is_empty() {
            made.push(' ');
            length += 1;
        }
        made += word;
        length += columns(word);
        rest = further;
    }
    made + &line[line.trim_end_matches('\n').len()..]
}

/// What a sentence goes on with on the next line.
const INDENTED: &str = "\n  ";

/// The cells of a table.
struct Grid<'a> {
    header: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

/// Names of at most this many characters stay on one line.
const MOST_WHOLE: usize = 26;
/// What a column of longer text needs at least; it may have a third of the terminal.
const LEAST_TEXT: usize = 16;
/// Characters beside the text of a column, and at the end of a row.
const BORDERS: usize = 3;
const END: usize = 1;

impl<'a> Grid<'a> {
    /// `None` if it is no table with as many cells in each row.
    fn read(block: &[&'a str]) -> Option<Self> {
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
        let is_even = rows.iter().all(|row| row.len() == header.len());
        is_even.then_some(Self { header, rows })
    }

    fn column(&self, index: usize) -> impl Iterator<Item = &'a str> {
        self.rows.iter().map(move |row| row[index])
    }

    /// Its longest cell, without the header's.
    fn longest(&self, index: usize) -> usize {
        let lengths = self.column(index).map(columns);
        lengths.max().unwrap_or(0)
    }

    /// What a column needs: numbers and names stay whole, and so do the words of its header.
    fn least(&self, index: usize, width: usize) -> usize {
        let words = self.header[index].split(' ').map(columns);
        let of_header = words.max().unwrap_or(0);
        let of_cells = match self.longest(index) {
            long if long > MOST_WHOLE && !self.column(index).all(is_number) => {
                long.min(LEAST_TEXT.max(width / 3))
            }
            whole => whole,
        };
        of_header.max(of_cells)
    }

    /// How many of the first columns say what a row is about: numbers, and the name after them.
    fn key(&self) -> usize {
        let is_name = |&index: &usize| !self.column(index).all(is_number);
        let name = (0..self.header.len()).find(is_name);
        name.map_or(1, |index| (index + 1).min(2))
    }

    /// One table, or several one below the other with the key in each.
    fn within(&self, width: usize) -> String {
        let needed = |columns: &[usize]| {
            let least = columns
                .iter()
                .map(|&index| self.least(index, width) + BORDERS);
            least.sum::<usize>() + END
        };
        let key: Vec<usize> = (0..self.key()).collect();
        let mut parts = vec![key.clone()];
        for index in key.len()..self.header.len() {
            let last = parts.len() - 1;
            let is_full = needed(&[&parts[last][..], &[index]].concat()) > width;
            if is_full && parts[last].len() > key.len() {
                parts.push(key.clone());
            }
            let last = parts.len() - 1;
            parts[last].push(index);
        }
        let tables = parts.iter().map(|part| self.table(part, width));
        tables.collect::<Vec<_>>().join("\n")
    }

    fn table(&self, part: &[usize], width: usize) -> String {
        let mut table = Table::new();
        table
            .load_preset(presets::ASCII_MARKDOWN)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width as u16)
            .set_header(part.iter().map(|&index| self.header[index]));
        for row in &self.rows {
            table.add_row(part.iter().map(|&index| {
                let alignment = if is_number(row[index]) {
                    CellAlignment::Right
                } else {
                    CellAlignment::Left
                };
                Cell::new(row[index]).set_alignment(alignment)
            }));
        }
        for (column, &index) in table.column_iter_mut().zip(part) {
            if self.longest(index) <= MOST_WHOLE || self.column(index).all(is_number) {
                let padded = self.least(index, width) + BORDERS - END;
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(padded as u16)));
            }
        }
        format!("{table}\n")
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
            "A sentence that is longer than a terminal is wide is broken between words.\n\n{table}\n\nend\n"
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
            let all = fitted.lines().map(columns).max().unwrap();
            assert!(all <= usize::from(width), "{fitted}");
            let words = fitted.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.starts_with("A sentence that is longer than a terminal is wide"));
            assert!(fitted.ends_with("\n\nend\n"));
        }
        assert_eq!(fit(&text, 200), text);
    }

    /// Columns for which there is no room follow below, each number whole.
    #[test]
    fn many_columns_are_parted() {
        let header = [
            "",
            "operator",
            "cycles",
            "scratch memory",
            "O_s",
            "cycles",
            "ratio",
        ];
        let row = |number: usize| {
            let numbers = [
                number.to_string(),
                "CONV_2D".to_owned(),
                "1,290,156".to_owned(),
            ];
            let more = ["512", "8,000", "853,994", "0.66"].map(str::to_owned);
            [numbers.to_vec(), more.to_vec()].concat()
        };
        let text = table(header, 2..7, (0..3).map(row)) + "\n";
        for (width, parts) in [(40, 3), (30, 5), (100, 1)] {
            let fitted = fit(&text, width);
            let rows = fitted.lines().filter(|line| is_row(line));
            assert!(
                rows.clone().map(columns).max().unwrap() <= usize::from(width),
                "{fitted}"
            );
            assert_eq!(fitted.matches("operator").count(), parts, "{fitted}");
            for whole in ["1,290,156", "853,994", "8,000"] {
                assert_eq!(fitted.matches(whole).count(), 3, "{width}: {fitted}");
            }
        }
    }

    #[test]
    fn commands_are_not_broken() {
        let text = "Next: `dmo-trace plan model.tflite --out planned.tflite` writes it.\n";
        let expected =
            "Next:\n  `dmo-trace plan model.tflite --out planned.tflite`\n  writes it.\n";
        assert_eq!(fit(text, 30), expected);
        let source = "   40 |  sum = dmo_requantize(sum, multiplier) + offset;\n";
        assert_eq!(fit(source, 30), source);
        assert_eq!(fit("one two\n", 7), "one two\n");
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
