//! The papers' tables of memory, figure by figure beside what is computed here.
//!
//! | file | paper |
//! |---|---|
//! | `diagonal.rs` | Blacker, Bridges and Hadfield |
//! | `sharing.rs` | Pisarchyk and Lee |
//! | `reordering.rs` | Liberis and Lane |
//!
//! Nothing is tuned to a figure: each planner is used as [`plan`](dmo_planner::plan) has it, and
//! where its result is another than the printed one a remark says so, and whether another
//! reading of the paper's text gives the printed one. `docs/tables.md` explains each
//! difference.

mod diagonal;
mod reordering;
mod sharing;

use crate::published::{Row, TABLES, Table, Unit};
use dmo_analysis::arena::ArenaError;
use dmo_analysis::schedule::ScheduleError;
use dmo_planner::budget::Budget;
use serde::Serialize;
use std::time::Duration;
use thiserror::Error;

/// A table that can be compared.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// What the command line calls it.
    pub name: &'static str,
    /// The authors.
    pub paper: &'static str,
    /// Its number, as printed.
    pub number: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What its figures count.
    pub unit: Unit,
    lines: fn(&mut Work<'_>) -> Result<Vec<Line>, TableError>,
}

/// One figure of a table, or one of ours that belongs beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is of, as printed: a network, or a figure of the paper.
    pub row: &'static str,
    /// What it counts: the table's column, or what we add.
    pub quantity: String,
    /// As printed; none for what the table does not have.
    pub published: Option<String>,
    /// Ours, in bytes.
    pub bytes: u64,
    /// Whether ours rounds to what is printed; `None` if nothing is printed.
    pub agrees: Option<bool>,
    /// How ours comes about, and why it differs.
    pub remark: String,
}

/// Why a table cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableError {
    /// A row's network is not in the zoo, or it lacks the operator or table that is meant.
    #[error("{place}: {missing} is missing")]
    Missing {
        /// The row or table.
        place: &'static str,
        /// What is not there.
        missing: &'static str,
    },
    /// A network's operators cannot be ordered or placed.
    #[error("{row}: {source}")]
    Arena {
        /// The row.
        row: &'static str,
        /// What is wrong with it.
        source: ArenaError,
    },
}

/// All tables.
pub const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "dmo-2",
        paper: "Blacker, Bridges and Hadfield",
        number: "Table II",
        title: "Estimation error of safe overlap (O_s)",
        unit: Unit::Bytes,
        lines: diagonal::table_2,
    },
    Comparison {
        name: "dmo-3",
        paper: "Blacker, Bridges and Hadfield",
        number: "Table III",
        title: "Memory saving using diagonal optimisation",
        unit: Unit::Kibibytes,
        lines: diagonal::table_3,
    },
    Comparison {
        name: "pisarchyk-lee-1",
        paper: "Pisarchyk and Lee",
        number: "Table 1",
        title: "Shared objects",
        unit: Unit::Mebibytes,
        lines: sharing::table_1,
    },
    Comparison {
        name: "pisarchyk-lee-2",
        paper: "Pisarchyk and Lee",
        number: "Table 2",
        title: "Offset calculation",
        unit: Unit::Mebibytes,
        lines: sharing::table_2,
    },
    Comparison {
        name: "liberis-lane-1",
        paper: "Liberis and Lane",
        number: "Table 1",
        title: "Peak memory usage (excl. overheads)",
        unit: Unit::Kilobytes,
        lines: reordering::table_1,
    },
    Comparison {
        name: "liberis-lane-a",
        paper: "Liberis and Lane",
        number: "Appendix A",
        title: "Working sets of the graph of Figure 1",
        unit: Unit::Bytes,
        lines: reordering::appendix_a,
    },
];

impl Comparison {
    /// The table of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        COMPARISONS.iter().find(|table| table.name == name)
    }

    /// All its figures. A search for an order or a plan does as much work as
    /// [`Budget::of_seconds`] grants for `time`; each row is
    /// told before it is computed.
    ///
    /// # Errors
    /// When the zoo lacks something that the table names.
    pub fn lines(
        &self,
        time: Duration,
        progress: &mut dyn FnMut(&'static str),
    ) -> Result<Vec<Line>, TableError> {
        (self.lines)(&mut Work { time, progress })
    }

    /// A figure of ours in the table's unit: whole, or with three decimals.
    pub fn figure(&self, line: &Line) -> String {
        let decimals = if line.bytes.is_multiple_of(self.unit.bytes()) {
            0
        } else {
            3
        };
        format!(
            "{:.decimals$}",
            line.bytes as f64 / self.unit.bytes() as f64
        )
    }
}

/// What the computation of a table is given.
struct Work<'a> {
    time: Duration,
    progress: &'a mut dyn FnMut(&'static str),
}

impl Work<'_> {
    /// What each search may spend: work, so that the figures are the same on every machine.
    fn budget(&self) -> Budget<'static> {
        Budget::of_seconds(self.time.as_secs_f64())
    }
}

/// A figure in the making.
struct Figure {
    row: &'static str,
    unit: Unit,
}

impl Figure {
    fn line(
        &self,
        quantity: impl Into<String>,
        published: Option<&str>,
        bytes: u64,
        remark: impl Into<String>,
    ) -> Line {
        let agrees = |figure: &str| {
            let printed = self.unit.rounded(figure);
            printed.is_some_and(|range| range.contains(&bytes))
        };
        Line {
            row: self.row,
            quantity: quantity.into(),
            published: published.map(str::to_owned),
            bytes,
            agrees: published.map(agrees),
            remark: remark.into(),
        }
    }
}

/// The published table of this paper and number.
fn published(paper: &'static str, number: &'static str) -> Result<&'static Table, TableError> {
    let mut tables = TABLES.iter();
    tables
        .find(|table| table.paper == paper && table.number == number)
        .ok_or(TableError::Missing {
            place: paper,
            missing: number,
        })
}

/// The graph of a row.
fn graph(row: &Row) -> Result<dmo_analysis::graph::Graph, TableError> {
    row.graph().ok_or(TableError::Missing {
        place: row.label,
        missing: row.network,
    })
}

/// Says which row an error is of.
fn of_row<T>(row: &'static str, result: Result<T, ArenaError>) -> Result<T, TableError> {
    result.map_err(|source| TableError::Arena { row, source })
}

/// Says which row an error is of.
fn ordered<T>(row: &'static str, result: Result<T, ScheduleError>) -> Result<T, TableError> {
    of_row(row, result.map_err(ArenaError::from))
}
