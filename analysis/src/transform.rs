//! Other operators for the same result: what changes the work of a model, not only its layout.
//!
//! A [`Recipe`] says what is done to a graph; [`apply`] does it. The result computes bit for bit
//! what the graph computes, on the same weights: an operator of it is one of the graph's, or a
//! part of one that computes a region of its output.
//!
//! | module | what it does |
//! |---|---|
//! | [`front`] | what memory can be had for what work |
//! | [`macs`] | multiply-accumulates of an operator, counted exactly |
//! | [`region`] | what of its inputs an operator needs for a region of its output |
//! | [`in_place`] | depthwise convolutions that work in place |
//! | [`remove`] | operators that only move data, left out |
//! | [`prune`](mod@prune) | channels that make no difference, left out of the model's file |
//! | [`integer_io`](mod@integer_io) | inputs and outputs as the integers that the model computes with |
//! | [`decode`](mod@decode) | constants unpacked beforehand, not in each inference |
//! | [`stream`](mod@stream) | windows over time of which only the newest rows are computed |
//! | `slices` | an input that is handed over in rows |
//! | `draft` | a graph while it is rewritten |
//! | `pitch` | operators on tensors in pieces |
//! | `split` | a run of operators computed tile by tile |
//! | `cache` | what is there already of the tensors inside a run |
//! | [`standard`] | the same in operators that every runtime has |
//!
//! ```text
//!  A --conv--> X --depthwise--> B         A --conv--> x1 --depthwise--> B, rows 0..8
//!                                         A --conv--> x2 --depthwise--> B, rows 8..16
//! ```
//!
//! Rows of X that both tiles need are computed twice, or kept from one to the next
//! ([`Split::cached`]). In exchange X is never in memory as a whole: operation splitting (Blacker
//! et al., section II-A), and per-patch inference (TinyEngine), which are the same but for the
//! shape of the tiles.

mod cache;
pub mod decode;
mod draft;
pub mod front;
pub mod in_place;
pub mod integer_io;
pub mod macs;
mod pitch;
pub mod prune;
pub mod region;
pub mod remove;
mod slices;
mod split;
pub mod standard;
pub mod stream;

use crate::graph::{Graph, OperatorId, TensorId};
use draft::Draft;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// A run of operators to be computed tile by tile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The operators, in the order in which they run, which is the graph's.
    pub operators: Vec<OperatorId>,
    /// Into how many tiles the last one's output is cut, along its rows and along its columns.
    pub grid: [u32; 2],
    /// Rows of tensors inside the run that two tiles of a column need are kept from one to the next: line
    /// buffers, or a cache of the halo. Else they are computed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// What is done to a graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recipe {
    /// In which order the graph's operators run; empty for the file's.
    pub order: Vec<OperatorId>,
    /// Operators that only move data and are left out. They have their place in the order all the
    /// same.
    pub removed: Vec<OperatorId>,
    /// Depthwise convolutions by the kernel that works in place.
    pub in_place: Vec<OperatorId>,
    /// Runs that are computed tile by tile. No operator is in two of them.
    pub splits: Vec<Split>,
    /// The application hands the graph's one input over in rows, as the tiles of the run that reads
    /// it need them: it is never in the arena as a whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub slices: bool,
}

impl Recipe {
    /// Whether it changes more than the order.
    pub fn changes(&self) -> bool {
        !self.removed.is_empty() || !self.in_place.is_empty() || !self.splits.is_empty()
    }

    /// How many tiles there are in all.
    pub fn tiles(&self) -> u64 {
        let tiles = self.splits.iter().map(|split| split.grid.map(u64::from));
        tiles.map(|[rows, columns]| rows * columns).sum()
    }
}

/// A graph that computes the same in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transformed {
    /// Its operators are in the order in which they run. Its first tensors are those of the
    /// original graph, of which some are not used any more.
    pub graph: Graph,
    /// Where each operator comes from.
    pub origins: Vec<Origin>,
    /// The original's operators that are left out. That the result computes the same is for
    /// [`remove::keeps_values`] to say.
    pub removed: Vec<OperatorId>,
}

/// Where an operator comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The operator of the original graph: it computes with the same weights.
    pub operator: OperatorId,
    /// Which tensor stands for which of the original one's.
    pub renamed: HashMap<TensorId, TensorId>,
}

/// Why a recipe cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TransformError {
    #[error(transparent)]
    Schedule(#[from] crate::schedule::ScheduleError),
    #[error("operator {} {reason}", operator.0)]
    Operator {
        operator: OperatorId,
        reason: &'static str,
    },
    #[error("the model's input cannot be handed over in rows: it {reason}")]
    Input { reason: &'static str },
    #[error("a run of operators {reason}")]
    Run { reason: &'static str },
    #[error("a grid of {} by {} tiles, but the output has {} rows and {} columns", given[0], given[1], limit[0], limit[1])]
    Grid { given: [u32; 2], limit: [u32; 2] },
    #[error("the graph would have more than {limit} operators")]
    TooLarge { limit: usize },
}

/// No graph gets more operators than this.
pub const MOST_OPERATORS: usize = 20_000;

/// Follows a recipe.
///
/// # Errors
/// When the order is not one of the graph's, or an operator cannot be transformed in this way.
pub fn apply(graph: &Graph, recipe: &Recipe) -> Result<Transformed, TransformError> {
    let in_place: HashSet<OperatorId> = recipe.in_place.iter().copied().collect();
    let remaining = remove::remove(graph, &recipe.removed)?;
    let in_rows = recipe
        .slices
        .then(|| slices::input(&remaining.graph, recipe))
        .transpose()?;
    let mut draft = Draft::new(graph, &remaining.graph);
    if let Some(input) = in_rows {
        draft.leave_with_application(input);
    }
    for piece in pieces(graph, recipe)? {
        match piece {
            Piece::One(operator) if in_place.contains(&operator) => {
                draft.work_in_place(operator)?;
            }
            Piece::One(operator) => draft.keep(operator),
            Piece::Run(split) => split::split(&mut draft, split, in_rows)?,
        }
    }
    draft.finish(&remaining, &recipe.removed)
}

/// What runs one after the other.
enum Piece<'a> {
    /// An operator as it is.
    One(OperatorId),
    /// A run, tile by tile.
    Run(&'a Split),
}

fn pieces<'a>(graph: &Graph, recipe: &'a Recipe) -> Result<Vec<Piece<'a>>, TransformError> {
    let order = if recipe.order.is_empty() {
        graph.file_order()
    } else {
        recipe.order.clone()
    };
    crate::schedule::dataflow::Dataflow::new(graph, Default::default())?.steps(&order)?;
    let gone: HashSet<OperatorId> = recipe.removed.iter().copied().collect();
    let stays = |one: &OperatorId| !gone.contains(one);
    let order: Vec<OperatorId> = order.into_iter().filter(stays).collect();
    if let Some(&operator) = recipe.in_place.iter().find(|one| gone.contains(one)) {
        let reason = "is to work in place, and left out";
        return Err(TransformError::Operator { operator, reason });
    }
    let mut in_place = HashSet::new();
    for &operator in &recipe.in_place {
        if operator.0 >= graph.operators.len() || !in_place.insert(operator) {
            let reason = "is to work in place, and does not exist, or is there twice";
            return Err(TransformError::Operator { operator, reason });
        }
    }
    let mut split_of: HashMap<OperatorId, &Split> = HashMap::new();
    for split in &recipe.splits {
        for &operator in &split.operators {
            if in_place.contains(&operator) {
                let reason = "is in a run, and to work in place";
                return Err(TransformError::Operator { operator, reason });
            }
            if gone.contains(&operator) {
                let reason = "is in a run, and left out";
                return Err(TransformError::Operator { operator, reason });
            }
            if split_of.insert(operator, split).is_some() {
                let reason = "is in two runs, or twice in one";
                return Err(TransformError::Operator { operator, reason });
            }
        }
    }
    let mut pieces = Vec::new();
    let mut rest = &order[..];
    while let Some((&operator, behind)) = rest.split_first() {
        let Some(split) = split_of.get(&operator) else {
            pieces.push(Piece::One(operator));
            rest = behind;
            continue;
        };
        let Some(behind) = rest.strip_prefix(&split.operators[..]) else {
            let reason = "does not run in one piece, in this order";
            return Err(TransformError::Run { reason });
        };
        pieces.push(Piece::Run(split));
        rest = behind;
    }
    let runs = pieces.iter().filter(|piece| matches!(piece, Piece::Run(_)));
    if runs.count() < recipe.splits.len() {
        let reason = "is empty, or of operators that do not exist";
        return Err(TransformError::Run { reason });
    }
    Ok(pieces)
}
