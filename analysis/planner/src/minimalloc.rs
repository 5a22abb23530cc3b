//! Problems and plans in the form of google/minimalloc: comma-separated lines
//! `id,lower,upper,size`, with `alignment` unless all buffers may lie anywhere, and with `offset`
//! for a plan. Its column `gaps`, and the older names of the others, are not read.

use crate::plan::Plan;
use crate::problem::{Buffer, MAX_TOTAL_BYTES, Problem, ProblemError};
use csv::{ReaderBuilder, StringRecord, Trim, Writer};
use thiserror::Error;

/// A problem, and the plan that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The buffers, in the order of their lines; where there is no column `alignment` they may lie
    /// anywhere.
    pub problem: Problem,
    /// The column `offset`, where there is one.
    pub offsets: Option<Vec<u64>>,
}

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TableError {
    #[error(
        "line 1: the column {name:?} is missing; columns are id, lower, upper, size, alignment, offset"
    )]
    NoColumn { name: &'static str },
    #[error("line 1: the column {name:?} is not supported")]
    UnknownColumn { name: String },
    #[error("line {line}: {given} fields, the header has {expected}")]
    FieldCount {
        line: usize,
        given: usize,
        expected: usize,
    },
    #[error("line {line}: {column} is {given:?}, a number from 0 to {largest} is expected")]
    Number {
        line: usize,
        column: &'static str,
        given: String,
        largest: u64,
    },
    #[error("the table is no comma-separated text: {reason}")]
    Text { reason: String },
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

/// The last two may be missing.
const COLUMNS: [&str; 6] = ["id", "lower", "upper", "size", "alignment", "offset"];
const NEEDED: usize = 4;
const LARGEST: u64 = MAX_TOTAL_BYTES;

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
        let mut offsets = Vec::new();
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            if record.iter().all(str::is_empty) && record.len() <= 1 {
                continue;
            }
            let line = columns.line(&record)?;
            let step = |column| {
                let step = line.number(column, u64::from(u32::MAX))?;
                Ok::<u32, TableError>(step.unwrap_or(0) as u32)
            };
            buffers.push(Buffer {
                name: line.field(0).unwrap_or("").to_owned(),
                alive: step(1)?..step(2)?,
                size_bytes: line.number(3, LARGEST)?.unwrap_or(0),
                alignment: line.number(4, LARGEST)?.unwrap_or(1),
                fixed_offset: None,
            });
            offsets.extend(line.number(5, LARGEST)?);
        }
        Ok(Self {
            problem: Problem::new(buffers, &[])?,
            offsets: columns.positions[5].map(|_| offsets),
        })
    }
}

/// The buffers of a problem as a table, with their offsets if there is a plan. Overlaps have no
/// column.
///
/// # Errors
/// When the text cannot be made.
pub fn table(problem: &Problem, plan: Option<&Plan>) -> Result<String, TableError> {
    let aligned = problem.buffers().iter().any(|buffer| buffer.alignment != 1);
    let shown = [true, true, true, true, aligned, plan.is_some()];
    let mut writer = Writer::from_writer(Vec::new());
    let mut write = |fields: [String; 6]| {
        let fields = fields.into_iter().zip(shown);
        let fields = fields.filter_map(|(field, shown)| shown.then_some(field));
        writer.write_record(fields).map_err(unreadable)
    };
    write(COLUMNS.map(str::to_owned))?;
    for (index, buffer) in problem.buffers().iter().enumerate() {
        let offset = plan.and_then(|plan| plan.offsets.get(index));
        write([
            buffer.name.clone(),
            buffer.alive.start.to_string(),
            buffer.alive.end.to_string(),
            buffer.size_bytes.to_string(),
            buffer.alignment.to_string(),
            offset.map_or(String::new(), u64::to_string),
        ])?;
    }
    let bytes = writer.into_inner().map_err(unreadable)?;
    String::from_utf8(bytes).map_err(unreadable)
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
}

/// A line with as many fields as the header.
struct Line<'a> {
    columns: &'a Columns,
    record: &'a StringRecord,
    number: usize,
}

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, TableError> {
        if let Some(name) = header.iter().find(|name| !COLUMNS.contains(name)) {
            return Err(TableError::UnknownColumn {
                name: name.to_owned(),
            });
        }
        let positions = COLUMNS.map(|name| header.iter().position(|column| column == name));
        match positions.iter().position(Option::is_none) {
            Some(missing) if missing < NEEDED => Err(TableError::NoColumn {
                name: COLUMNS[missing],
            }),
            _ => Ok(Self {
                positions,
                count: header.len(),
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
}
