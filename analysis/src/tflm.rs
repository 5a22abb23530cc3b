//! The whole arena of stock TensorFlow Lite Micro on a 32-bit Arm core: what `kTensorArenaSize` has
//! to be.
//!
//! The runtime fills the arena from both ends. The *head* holds what is planned: activations and
//! scratch buffers. The *tail*, from the other end, holds what persists: its own objects, a
//! structure for each tensor and operator, the operators' data, and variables. While a model is
//! prepared, *temporary* structures lie above the head; of a small model they need more room than
//! the head, and then more than `arena_used_bytes` says.
//!
//! | file | what it holds |
//! |---|---|
//! | `structures.rs` | sizes of the runtime's structures |
//! | `operators.rs` | what each kind of operator allocates |
//! | `persistent.rs` | the part of it that depends on shapes and quantisation |
//! | `signal.rs` | the same of the signal library |
//! | `tail.rs` | the tail, allocation by allocation |
//! | `head.rs` | the head, as the runtime plans it |
//! | `subgraphs.rs` | what the runtime makes of a plan of several subgraphs |
//!
//! All figures are of tflite-micro 90b983c (August 2026), compiled by `arm-none-eabi-gcc` without
//! compression (`USE_TFLM_COMPRESSION`) and for speed (`KERNELS_OPTIMIZED_FOR_SPEED`), and of
//! CMSIS-NN 4ab83cc on a core with the DSP extension. The arena begins at a multiple of 16, and so
//! does what follows it.

mod head;
mod operators;
mod persistent;
mod signal;
mod structures;
mod subgraphs;
mod tail;

use crate::arena::ArenaError;
use crate::graph::tflite::nodes::{RawSubgraph, with_subgraphs};
use crate::graph::tflite::{RuntimeKernels, TfliteError, read};
use crate::graph::{Kind, OperatorId};
use dmo_planner::plan::tflm::ALIGNMENT;
use dmo_planner::problem::ProblemError;
pub use head::Head;
use head::head;
use schemars::JsonSchema;
use serde::Serialize;
pub use subgraphs::on_device;
use tail::Tail;
use thiserror::Error;

/// The version whose figures these are.
pub const VERSION: &str = "tflite-micro 90b983c, CMSIS-NN 4ab83cc";

/// The arena of a model.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WholeArena {
    /// The kernels.
    pub kernels: RuntimeKernels,
    /// The planned part, in bytes: activations and scratch buffers.
    pub head_bytes: u64,
    /// The persistent part, in bytes.
    pub tail_bytes: u64,
    /// Both: what the runtime reports as `arena_used_bytes`.
    pub used_bytes: u64,
    /// What `kTensorArenaSize` has to be at least: as much as is used, or as much as preparing the
    /// model needs if that is more; a multiple of 16.
    pub needed_bytes: u64,
    /// Where the most is needed.
    pub peak: Peak,
    /// The tail by what it holds.
    pub components: Vec<Component>,
    /// The operators of all subgraphs, in the order in which the runtime prepares them.
    pub operators: Vec<OperatorBytes>,
    /// What some operators allocate is not known, so that all sizes are too small by that.
    pub unknown: Vec<UnknownOperator>,
}

/// What models need that share an arena, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SharedArena {
    /// The kernels.
    pub kernels: RuntimeKernels,
    /// With one `MicroAllocator` for the interpreters of all models, which are kept: their heads
    /// share memory, their tails do not. At most: what the models' tails have in common is counted for
    /// each.
    pub one_allocator_bytes: u64,
    /// With an interpreter at a time, which is made anew over the same arena.
    pub in_turn_bytes: u64,
    /// What some operators allocate is not known, so that both are too small by that.
    pub is_lower_bound: bool,
}

impl SharedArena {
    /// Of models with the same kernels; `None` if these are none.
    pub fn of(arenas: &[&WholeArena]) -> Option<Self> {
        let tails: u64 = arenas.iter().map(|it| it.tail_bytes).sum();
        // The other tails are there while a model is prepared.
        let beside = arenas
            .iter()
            .map(|it| it.needed_bytes + tails - it.tail_bytes);
        let in_turn = arenas.iter().map(|it| it.needed_bytes);
        Some(Self {
            kernels: arenas.first()?.kernels,
            one_allocator_bytes: beside.max()?.next_multiple_of(ALIGNMENT),
            in_turn_bytes: in_turn.max()?,
            is_lower_bound: arenas.iter().any(|it| !it.unknown.is_empty()),
        })
    }
}

/// When the arena is fullest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(tag = "phase", rename_all = "kebab-case")]
pub enum Peak {
    /// Once the model is prepared.
    Running,
    /// While the runtime plans the head.
    Planning {
        /// Lists of requests, tensors and buffers, in bytes.
        temporary_bytes: u64,
    },
    /// While an operator is prepared.
    Preparing {
        /// Index of the operator among those of all subgraphs.
        index: usize,
        /// Lists of requests and structures of tensors, in bytes.
        temporary_bytes: u64,
    },
}

/// What a part of the tail holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The allocator, the planner and the list of subgraphs.
    Runtime,
    /// A `TfLiteEvalTensor` for each tensor, constants included.
    Tensors,
    /// A `NodeAndRegistration` for each operator.
    Nodes,
    /// The operators' options, unpacked.
    Options,
    /// `OpData` of the operators.
    OperatorData,
    /// What operators keep besides: multipliers for each channel, tables, transposed operands.
    Persistent,
    /// A pointer for each scratch buffer.
    ScratchHandles,
    /// Tensors that keep their value from one inference to the next.
    Variables,
    /// A `TfLiteTensor` for each input and output of the model, with its quantisation.
    Ends,
}

impl Part {
    /// All of them, in the order in which the runtime begins with them.
    pub const ALL: [Self; 9] = [
        Self::Runtime,
        Self::Tensors,
        Self::Nodes,
        Self::Options,
        Self::OperatorData,
        Self::Persistent,
        Self::ScratchHandles,
        Self::Variables,
        Self::Ends,
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runtime => "allocator and planner",
            Self::Tensors => "tensors",
            Self::Nodes => "nodes",
            Self::Options => "options of operators",
            Self::OperatorData => "data of operators",
            Self::Persistent => "persistent buffers of operators",
            Self::ScratchHandles => "handles of scratch buffers",
            Self::Variables => "variables",
            Self::Ends => "inputs and outputs",
        }
    }
}

/// A part of the tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Component {
    /// What it holds.
    pub part: Part,
    /// Number of allocations.
    pub allocations: usize,
    /// With what is lost to alignment, in bytes.
    pub bytes: u64,
}

/// What an operator allocates.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OperatorBytes {
    /// Index of its subgraph.
    pub subgraph: usize,
    /// Its index in the subgraph.
    pub operator: OperatorId,
    /// Its kind.
    pub kind: Kind,
    /// In the tail, in bytes with what is lost to alignment: options, data and persistent buffers.
    pub tail_bytes: u64,
    /// Its scratch buffers in the head, in bytes.
    pub scratch_bytes: Vec<u64>,
}

/// An operator of which it is not known what it allocates.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct UnknownOperator {
    /// Index of its subgraph.
    pub subgraph: usize,
    /// Its index in the subgraph.
    pub operator: OperatorId,
    /// Its kind.
    pub kind: Kind,
    /// Why.
    pub reason: UnknownReason,
}

/// Why it is not known what an operator allocates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownReason {
    /// A custom operator: only its author knows.
    Custom,
    /// The runtime has no such operator.
    NoKernel,
    /// It has variables for which the application makes room (`MicroResourceVariables`).
    Application,
    /// The runtime's kernel takes no tensors of these types or shapes.
    NotTaken,
}

impl UnknownReason {
    /// For people, after the operator's name.
    pub fn words(self) -> &'static str {
        match self {
            Self::Custom => "is a custom operator, which only its author knows",
            Self::NoKernel => "has no kernel in TensorFlow Lite Micro",
            Self::Application => "has variables for which the application makes room",
            Self::NotTaken => {
                "has types, shapes or options that TensorFlow Lite Micro's kernel refuses"
            }
        }
    }
}

/// Why it is not known what a model needs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TflmError {
    #[error(transparent)]
    Tflite(#[from] TfliteError),
    #[error("the planned part of the arena: {0}")]
    Problem(#[from] ProblemError),
    #[error("the model's plan has {given} offsets, but the model has {tensors} tensors")]
    Offsets { given: usize, tensors: usize },
    #[error(transparent)]
    Arena(#[from] ArenaError),
    #[error("offset {offset} does not fit in 31 bits")]
    Range { offset: u64 },
    #[error("the scratch buffers are not those of the model's operators")]
    Scratch,
    #[error(
        "the model's subgraphs run one another without end, more than {depth} deep, or more than \
         {steps} operators in all"
    )]
    Calls { depth: usize, steps: usize },
}

/// The arena that a model needs with these kernels, in the order and with the plan that its file
/// has.
///
/// # Errors
/// When the bytes are not a model, its plan is not for its tensors, its subgraphs run one another
/// without end, or too many tensors are alive at once.
pub fn whole_arena(file: &[u8], kernels: RuntimeKernels) -> Result<WholeArena, TflmError> {
    arena(file, kernels, None)
}

/// [`whole_arena`] with functions in place of CMSIS-NN's. `scratch` is how much scratch memory they
/// want, in bytes: a list for each operator of each subgraph.
///
/// # Errors
/// As [`whole_arena`], and when the scratch memory is not for the model.
pub fn whole_arena_in_place_of_cmsis_nn(
    file: &[u8],
    scratch: &[Vec<Vec<u64>>],
) -> Result<WholeArena, TflmError> {
    arena(file, RuntimeKernels::CmsisNn, Some(scratch))
}

fn arena(
    file: &[u8],
    kernels: RuntimeKernels,
    scratch: Option<&[Vec<Vec<u64>>]>,
) -> Result<WholeArena, TflmError> {
    let model = read(file)?;
    let plan = model.offline_plan(file)?;
    let offsets = plan.as_ref().map(|plan| plan.offsets.as_slice());
    with_subgraphs(file, |subgraphs| {
        let tensors = subgraphs.iter().map(|it| it.tensors.len()).sum();
        if let Some(given) = offsets.map(<[i32]>::len).filter(|&given| given != tensors) {
            return Err(TflmError::Offsets { given, tensors });
        }
        if let Some(scratch) = scratch {
            ensure_of(subgraphs, scratch)?;
        }
        let tail = Tail::new(subgraphs, offsets, kernels, scratch);
        let operators = tail.operators.iter();
        let scratch: Vec<&[u64]> = operators.map(|it| it.scratch_bytes.as_slice()).collect();
        let planned = head(subgraphs, &model.calls, offsets, &scratch)?;
        Ok(assembled(subgraphs, kernels, tail, &planned))
    })?
}

/// The planned part of the arena of a model whose operators have these scratch buffers, with a plan:
/// the offset of each tensor, those of all subgraphs one after the other, -1 where it is left to
/// the runtime. `scratch` are sizes in bytes for each operator of each subgraph.
///
/// # Errors
/// When the bytes are not a model, plan or scratch buffers are not for it, its subgraphs run one
/// another without end, or too many tensors are alive at once.
pub fn planned(file: &[u8], offsets: &[i32], scratch: &[Vec<Vec<u64>>]) -> Result<Head, TflmError> {
    let model = read(file)?;
    with_subgraphs(file, |subgraphs| {
        let tensors = subgraphs.iter().map(|it| it.tensors.len()).sum();
        let given = offsets.len();
        if given != tensors {
            return Err(TflmError::Offsets { given, tensors });
        }
        ensure_of(subgraphs, scratch)?;
        let scratch: Vec<&[u64]> = scratch.iter().flatten().map(Vec::as_slice).collect();
        head(subgraphs, &model.calls, Some(offsets), &scratch)
    })?
}

/// Sees that there is a list for each operator.
fn ensure_of(subgraphs: &[RawSubgraph], scratch: &[Vec<Vec<u64>>]) -> Result<(), TflmError> {
    let counts = subgraphs.iter().map(|it| it.operators.len());
    if counts.eq(scratch.iter().map(Vec::len)) {
        Ok(())
    } else {
        Err(TflmError::Scratch)
    }
}

fn assembled(
    subgraphs: &[RawSubgraph],
    kernels: RuntimeKernels,
    tail: Tail,
    head: &Head,
) -> WholeArena {
    let used_bytes = head.bytes + tail.bytes;
    let planning = structures::planning_bytes(
        subgraphs.len() as u64,
        subgraphs.iter().map(|it| it.tensors.len() as u64).sum(),
        tail.requests,
        head.buffers,
    );
    let planning_tail = tail.bytes_at_planning.next_multiple_of(ALIGNMENT);
    let mut most = (used_bytes, Peak::Running);
    let phases = tail.preparing.iter().map(|phase| {
        let peak = Peak::Preparing {
            index: phase.index,
            temporary_bytes: phase.temporary_bytes,
        };
        (phase.temporary_bytes + phase.tail_bytes, peak)
    });
    let planning_peak = Peak::Planning {
        temporary_bytes: planning,
    };
    let phases = phases.chain([(planning + planning_tail, planning_peak)]);
    for phase in phases {
        if phase.0.next_multiple_of(ALIGNMENT) > most.0.next_multiple_of(ALIGNMENT) {
            most = phase;
        }
    }
    WholeArena {
        kernels,
        head_bytes: head.bytes,
        tail_bytes: tail.bytes,
        used_bytes,
        needed_bytes: most.0.next_multiple_of(ALIGNMENT),
        peak: most.1,
        components: tail.components,
        operators: tail.operators,
        unknown: tail.unknown,
    }
}
