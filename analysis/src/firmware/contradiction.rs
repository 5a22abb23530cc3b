//! What a firmware does that the simulated layout cannot explain.

use crate::trace::{AccessKind, Address};
use crate::wording::grouped;
use schemars::JsonSchema;
use serde::Serialize;

/// An operator that does not do what the simulated layout says.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Contradiction {
    /// A load or store of planned memory that none of the operator's tensors has.
    #[error(
        "operator {operator} {name}: the instruction at {pc} {} {address}, where the plan has none of the operator's tensors",
        match access { AccessKind::Load => "loads from", AccessKind::Store => "stores to" }
    )]
    Stray {
        /// Position of the operator in the model.
        operator: usize,
        /// Its kind.
        name: String,
        /// What was done.
        access: AccessKind,
        /// Where.
        address: Address,
        /// The instruction.
        pc: Address,
    },
    /// A store to a tensor that the operator only reads.
    #[error(
        "operator {operator} {name}: the instruction at {pc} stores to {tensor:?}, an input of the operator in the plan"
    )]
    StoreToInput {
        /// Position of the operator in the model.
        operator: usize,
        /// Its kind.
        name: String,
        /// The input.
        tensor: String,
        /// The instruction.
        pc: Address,
    },
    /// Bytes of an output that the operator never stores.
    #[error(
        "operator {operator} {name}: {} bytes of its output {tensor:?} at {address} are never stored, where the plan has it",
        grouped(*bytes)
    )]
    NotStored {
        /// Position of the operator in the model.
        operator: usize,
        /// Its kind.
        name: String,
        /// The output.
        tensor: String,
        /// Where it should be.
        address: Address,
        /// How many.
        bytes: u64,
    },
    /// A load of an output or of scratch memory that the operator has not stored yet.
    #[error(
        "operator {operator} {name}: the instruction at {pc} loads from {tensor:?} what the operator has not stored there, as if the plan had something else in its place"
    )]
    LoadedUnstored {
        /// Position of the operator in the model.
        operator: usize,
        /// Its kind.
        name: String,
        /// The output, or the scratch memory.
        tensor: String,
        /// The instruction.
        pc: Address,
    },
    /// What loads the model's input loads memory behind the planned part as well.
    #[error(
        "operator {operator} {name}: the instruction at {pc}, which loads the model's input, also loads {address}, above the end of the plan"
    )]
    InputReachesBehind {
        /// Position of the operator in the model.
        operator: usize,
        /// Its kind.
        name: String,
        /// Where.
        address: Address,
        /// The instruction.
        pc: Address,
    },
    /// Inputs of the operator, of which it loads none.
    #[error("operator {operator} {name}: none of its inputs is loaded where the plan has them")]
    NotLoaded {
        /// Position of the operator in the model.
        operator: usize,
        /// Its kind.
        name: String,
    },
    /// The program has ended in the middle of an inference.
    #[error(
        "the firmware has run {given} operators, and the model has {operators}: no whole number of inferences"
    )]
    Unfinished {
        /// Operators that were run.
        given: usize,
        /// Those of the model.
        operators: usize,
    },
}
