//! Problems and plans in the form of google/minimalloc: comma-separated lines
//! `id,lower,upper,size`, with `offset` for a plan.

use super::{Buffer, Problem, ProblemError};
use thiserror::Error;

/// A problem, and the plan that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The buffers, in the order of their lines, offsets not aligned.
    pub problem: Problem,
    /// The column `offset`, where there is one.
    pub offsets: Option<Vec<u64>>,
}

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TableError {
    #[error("line 1: the column {name:?} is missing; columns are id, lower, upper, size, offset")]
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
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

const COLUMNS: [&str; 5] = ["id", "lower", "upper", "size", "offset"];
const LARGEST: u64 = super::MAX_TOTAL_BYTES;

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// With the line that cannot be read, or what is wrong with the problem.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let mut lines = text.lines().enumerate();
        let header: Vec<&str> = lines.next().map_or(Vec::new(), |(_, line)| {
            line.split(',').map(str::trim).collect()
        });
        let positions = positions(&header)?;
        let mut buffers = Vec::new();
        let mut offsets = Vec::new();
        for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            if fields.len() != header.len() {
                return Err(TableError::FieldCount {
                    line: index + 1,
                    given: fields.len(),
                    expected: header.len(),
                });
            }
            let number = |column: usize, largest: u64| {
                let field = positions[column].map_or("", |position| fields[position]);
                let number = field.parse::<u64>().ok();
                number
                    .filter(|&number| number <= largest)
                    .ok_or_else(|| TableError::Number {
                        line: index + 1,
                        column: COLUMNS[column],
                        given: field.to_owned(),
                        largest,
                    })
            };
            let step = |column| number(column, u64::from(u32::MAX)).map(|step| step as u32);
            buffers.push(Buffer {
                name: positions[0]
                    .map_or("", |position| fields[position])
                    .to_owned(),
                alive: step(1)?..step(2)?,
                size_bytes: number(3, LARGEST)?,
                alignment: 1,
                fixed_offset: None,
            });
            if positions[4].is_some() {
                offsets.push(number(4, LARGEST)?);
            }
        }
        Ok(Self {
            problem: Problem::new(buffers, &[])?,
            offsets: positions[4].map(|_| offsets),
        })
    }
}

/// Where each of [`COLUMNS`] is; all but the last have to be there.
fn positions(header: &[&str]) -> Result<[Option<usize>; 5], TableError> {
    if let Some(name) = header.iter().find(|name| !COLUMNS.contains(name)) {
        return Err(TableError::UnknownColumn {
            name: (*name).to_owned(),
        });
    }
    let positions = COLUMNS.map(|name| header.iter().position(|&column| column == name));
    match positions.iter().position(Option::is_none) {
        Some(missing) if missing < 4 => Err(TableError::NoColumn {
            name: COLUMNS[missing],
        }),
        _ => Ok(positions),
    }
}
