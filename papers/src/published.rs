//! What the papers print in their tables of memory, as data, to be put beside what the
//! networks of the zoo give here.
//!
//! | file | paper |
//! |---|---|
//! | `diagonal.rs` | Blacker, Bridges and Hadfield, 'Diagonal Memory Optimisation for Machine Learning on Micro-controllers' |
//! | `sharing.rs` | Pisarchyk and Lee, 'Efficient Memory Management for Deep Neural Net Inference' |
//! | `reordering.rs` | Liberis and Lane, 'Neural networks on microcontrollers: saving memory at inference via operator reordering' |

mod diagonal;
mod reordering;
mod sharing;

pub use reordering::{APPENDIX_A, WorkingSets};

use dmo_analysis::graph::Graph;
use dmo_analysis::graph::zoo::{Element, find};
use serde::Serialize;
use std::ops::RangeInclusive;

/// All tables.
pub const TABLES: &[Table] = &[
    diagonal::TABLE_2,
    diagonal::TABLE_3,
    sharing::TABLE_1,
    sharing::TABLE_2,
    reordering::TABLE_1,
];

/// A table of a paper, networks downwards and methods across, whichever way it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The authors.
    pub paper: &'static str,
    /// Its number, as printed.
    pub number: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What its figures count.
    pub unit: Unit,
    /// Whether the inputs and outputs of the graph are counted.
    pub inputs_and_outputs: bool,
    /// The columns.
    pub methods: &'static [Method],
    /// The rows.
    pub rows: &'static [Row],
}

/// What a table says of one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The network, as printed.
    pub label: &'static str,
    /// Its name in the zoo.
    pub network: &'static str,
    /// Type of its activations.
    pub element: Element,
    /// The figures as printed, one for each method; `None` if there is none.
    pub figures: &'static [Option<&'static str>],
    /// What has to be known to read it.
    pub remark: Option<&'static str>,
}

impl Row {
    /// The network's graph, none if the zoo has it no more.
    pub fn graph(&self) -> Option<Graph> {
        Some(find(self.network)?.build(self.element))
    }
}

/// What the figures of a table count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// 1000 bytes.
    Kilobytes,
    /// 1024 bytes, printed 'KB'.
    Kibibytes,
    /// 1024 times 1024 bytes.
    Mebibytes,
}

impl Unit {
    /// Bytes of one.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bytes => 1,
            Self::Kilobytes => 1000,
            Self::Kibibytes => 1 << 10,
            Self::Mebibytes => 1 << 20,
        }
    }

    /// The numbers of bytes that round to a figure as printed, `4.594` for instance; none
    /// for what is no such number, as `33.3%`. A half rounds both ways.
    pub fn rounded(self, figure: &str) -> Option<RangeInclusive<u64>> {
        let (whole, decimals) = figure.split_once('.').unwrap_or((figure, ""));
        let digits = format!("{whole}{decimals}");
        if whole.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let number: u64 = digits.parse().ok()?;
        let parts = 10_u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        if self.bytes() == parts {
            return Some(number..=number);
        }
        let halves = parts.checked_mul(2)?;
        let twice = number.checked_mul(2)?;
        let lower = twice.saturating_sub(1).checked_mul(self.bytes())?;
        let upper = twice.checked_add(1)?.checked_mul(self.bytes())?;
        Some(lower.div_ceil(halves)..=upper / halves)
    }
}

/// What a column of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the labels say it")]
pub enum Method {
    ExactOverlap,
    EstimatedOverlap,
    OverlapError,
    WithoutOverlap,
    WithOverlap,
    Saving,
    GreedyBySize,
    GreedyBySizeImproved,
    GreedyByBreadth,
    GreedyLee,
    MinCostFlow,
    StripPacking,
    LowerBound,
    Naive,
    DefaultOrder,
    OptimalOrder,
    StaticAllocation,
    DynamicAllocation,
}

impl Method {
    /// The column's head as printed.
    pub fn label(self) -> &'static str {
        match self {
            Self::ExactOverlap => "Exact",
            Self::EstimatedOverlap => "Estimate",
            Self::OverlapError => "Error",
            Self::WithoutOverlap => "Original",
            Self::WithOverlap => "Optimised",
            Self::Saving => "Saving",
            Self::GreedyBySize => "Greedy by Size",
            Self::GreedyBySizeImproved => "Greedy by Size Improved",
            Self::GreedyByBreadth => "Greedy by Breadth",
            Self::GreedyLee => "Greedy, Lee et al. (2019)",
            Self::MinCostFlow => "Min-cost Flow, Lee et al. (2019)",
            Self::StripPacking => "Strip Packing, Sekiyama et al. (2018)",
            Self::LowerBound => "Lower Bound",
            Self::Naive => "Naïve",
            Self::DefaultOrder => "Default order",
            Self::OptimalOrder => "Optimal order",
            Self::StaticAllocation => "Static alloc.",
            Self::DynamicAllocation => "Dynamic alloc.",
        }
    }
}
