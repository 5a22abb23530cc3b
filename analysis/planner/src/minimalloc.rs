//! Problems and plans in the form of google/minimalloc: comma-separated lines
//! `id,lower,upper,size`, with `alignment` unless all buffers may lie anywhere, with `gaps` where a
//! buffer is not in use all its life, and with `offset` for a plan. The column `hint`, which is for
//! its search, is passed over. The older names of columns are read: `buffer` or `buffer_id`,
//! `start` or `begin`, and `end`, which is the last step, not the one after it.

mod error;
mod gaps;

pub use error::TableError;
pub use gaps::Gap;

use crate::plan::Plan;
use crate::problem::{Buffer, MAX_TOTAL_BYTES, Problem};
use csv::{ReaderBuilder, StringRecord, Trim, Writer};

/// A problem, and the plan that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The buffers, in the order of their lines, as if they had no gaps; where there is no column
    /// `alignment` they may lie anywhere.
    pub problem: Problem,
    /// The gaps of each buffer, in order.
    pub gaps: Vec<Vec<Gap>>,
    /// The column `offset`, where there is one.
    pub offsets: Option<Vec<u64>>,
}

/// The last four may be missing.
const COLUMNS: [&str; 8] = [
    "id",
    "lower",
    "upper",
    "size",
    "alignment",
    "hint",
    "gaps",
    "offset",
];
const NEEDED: usize = 4;
const ALIGNMENT: usize = 4;
const GAPS: usize = 6;
const OFFSET: usize = 7;
/// What the first columns were called before.
const OLDER: [(&str, usize); 5] = [
    ("buffer", 0),
    ("buffer_id", 0),
    ("start", 1),
    ("begin", 1),
    (LAST_STEP, 2),
];
/// A column of last steps: its numbers, and the ends of gaps, are one lower.
const LAST_STEP: &str = "end";
const LARGEST: u64 = MAX_TOTAL_BYTES;
/// One less than fits, for the step after it.
const LARGEST_STEP: u64 = u32::MAX as u64 - 1;

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// With the line that cannot be read, or what is wrong with the problem.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let mut reader = ReaderBuilder::new()
            .flexible(true)
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        let columns = Columns::of(reader.headers().map_err(unreadable)?)?;
        let mut buffers = Vec::new();
        let mut gaps = Vec::new();
        let mut offsets = Vec::new();
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            if record.iter().all(str::is_empty) && record.len() <= 1 {
                continue;
            }
            let line = columns.line(&record)?;
            let step = |column| {
                let step = line.number(column, LARGEST_STEP)?;
                Ok::<u32, TableError>(step.unwrap_or(0) as u32)
            };
            let buffer = Buffer {
                name: line.field(0).unwrap_or("").to_owned(),
                alive: step(1)?..step(2)? + columns.beyond_end,
                size_bytes: line.number(3, LARGEST)?.unwrap_or(0),
                alignment: line.number(ALIGNMENT, LARGEST)?.unwrap_or(1),
                fixed_offset: None,
            };
            gaps.push(line.gaps(&buffer)?);
            buffers.push(buffer);
            offsets.extend(line.number(OFFSET, LARGEST)?);
        }
        Ok(Self {
            problem: Problem::new(buffers, &[])?,
            gaps,
            offsets: columns.positions[OFFSET].map(|_| offsets),
        })
    }
}

/// The buffers of a problem as a table, with their offsets if there is a plan.
///
/// # Errors
/// When buffers may overlap, for which there is no column, or the text cannot be made.
pub fn table(problem: &Problem, plan: Option<&Plan>) -> Result<String, TableError> {
    let none = vec![Vec::new(); problem.buffers().len()];
    table_with_gaps(problem, &none, plan)
}

/// The same with the gaps of each buffer.
///
/// # Errors
/// Those of [`table`].
pub fn table_with_gaps(
    problem: &Problem,
    gaps: &[Vec<Gap>],
    plan: Option<&Plan>,
) -> Result<String, TableError> {
    if let Some(&(lower, upper)) = problem.overlapping_pairs().first() {
        let name = |buffer: usize| problem.buffers()[buffer].name.clone();
        return Err(TableError::Overlap {
            lower: name(lower),
            upper: name(upper),
        });
    }
    let aligned = problem.buffers().iter().any(|buffer| buffer.alignment != 1);
    let interrupted = gaps.iter().any(|gaps| !gaps.is_empty());
    let shown = [
        true,
        true,
        true,
        true,
        aligned,
        false,
        interrupted,
        plan.is_some(),
    ];
    let mut writer = Writer::from_writer(Vec::new());
    let mut write = |fields: [String; COLUMNS.len()]| {
        let fields = fields.into_iter().zip(shown);
        let fields = fields.filter_map(|(field, shown)| shown.then_some(field));
        writer.write_record(fields).map_err(unreadable)
    };
    write(COLUMNS.map(str::to_owned))?;
    for (index, buffer) in problem.buffers().iter().enumerate() {
        let offset = plan.and_then(|plan| plan.offsets.get(index));
        let gaps = gaps.get(index).into_iter().flatten();
        let gaps: Vec<String> = gaps.map(Gap::to_string).collect();
        write([
            plain(&buffer.name),
            buffer.alive.start.to_string(),
            buffer.alive.end.to_string(),
            buffer.size_bytes.to_string(),
            buffer.alignment.to_string(),
            String::new(),
            gaps.join(" "),
            offset.map_or(String::new(), u64::to_string),
        ])?;
    }
    let bytes = writer.into_inner().map_err(unreadable)?;
    String::from_utf8(bytes).map_err(unreadable)
}

/// A name that needs no quotes, which MiniMalloc does not know.
fn plain(name: &str) -> String {
    let separates = |char: char| char == ',' || char == '"' || char.is_control();
    let name = name.trim();
    if name.is_empty() {
        return "_".to_owned();
    }
    name.replace(separates, "_")
}

fn unreadable(error: impl std::fmt::Display) -> TableError {
    TableError::Text {
        reason: error.to_string(),
    }
}

/// Where each of [`COLUMNS`] is.
struct Columns {
    positions: [Option<usize>; COLUMNS.len()],
    count: usize,
    /// What makes a last step the step after it.
    beyond_end: u32,
}

/// A line with as many fields as the header.
struct Line<'a> {
    columns: &'a Columns,
    record: &'a StringRecord,
    number: usize,
}

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, TableError> {
        let mut positions = [None; COLUMNS.len()];
        for (position, name) in header.iter().enumerate() {
            let older = OLDER.iter().find(|(older, _)| *older == name);
            let column = COLUMNS.iter().position(|column| *column == name);
            let name = || name.to_owned();
            let column = column.or(older.map(|(_, column)| *column));
            let column = column.ok_or_else(|| TableError::UnknownColumn { name: name() })?;
            if positions[column].replace(position).is_some() {
                return Err(TableError::TwoColumns { name: name() });
            }
        }
        match positions.iter().position(Option::is_none) {
            Some(missing) if missing < NEEDED => Err(TableError::NoColumn {
                name: COLUMNS[missing],
            }),
            _ => Ok(Self {
                positions,
                count: header.len(),
                beyond_end: u32::from(header.iter().any(|name| name == LAST_STEP)),
            }),
        }
    }

    fn line<'a>(&'a self, record: &'a StringRecord) -> Result<Line<'a>, TableError> {
        let number = record.position().map_or(0, csv::Position::line) as usize;
        if record.len() == self.count {
            return Ok(Line {
                columns: self,
                record,
                number,
            });
        }
        Err(TableError::FieldCount {
            line: number,
            given: record.len(),
            expected: self.count,
        })
    }
}

impl Line<'_> {
    /// `None` if the table has no such column.
    fn field(&self, column: usize) -> Option<&str> {
        self.record.get(self.columns.positions[column]?)
    }

    fn number(&self, column: usize, largest: u64) -> Result<Option<u64>, TableError> {
        let Some(field) = self.field(column) else {
            return Ok(None);
        };
        let number = field.parse::<u64>().ok();
        match number.filter(|&number| number <= largest) {
            Some(number) => Ok(Some(number)),
            None => Err(TableError::Number {
                line: self.number,
                column: COLUMNS[column],
                given: field.to_owned(),
                largest,
            }),
        }
    }

    /// The gaps of the line's buffer; none if the table has no such column.
    fn gaps(&self, buffer: &Buffer) -> Result<Vec<Gap>, TableError> {
        let Some(field) = self.field(GAPS) else {
            return Ok(Vec::new());
        };
        Gap::parse_all(field, self.columns.beyond_end, buffer).map_err(|wrong| TableError::Gap {
            line: self.number,
            given: wrong.given.to_owned(),
            expected: wrong.expected,
        })
    }
}
