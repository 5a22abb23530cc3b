//! What a traced program did to the buffers of its layers: the vocabulary that
//! every other part of the project speaks.
//!
//! A trace is a stream, never a value in memory: a layer begins, its events
//! follow in program order in batches, the layer ends. Whatever consumes a trace
//! (the profiler, the file writer) is a [`TraceSink`]; whatever produces one (the
//! recorder, the file reader) drives it.

pub mod file;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a layer uses a buffer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Activations that the layer reads.
    Input,
    /// Activations that the layer produces.
    Output,
    /// Working memory whose content means nothing before and after the layer.
    Scratch,
    /// Weights, biases, tables: never stored to.
    Constant,
    /// Read and written, and kept from one inference to the next.
    State,
    /// Memory that an earlier layer has named and this one does not: what the layer does
    /// to it all the same.
    Unlisted,
}

impl Role {
    /// What messages call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Scratch => "scratch",
            Self::Constant => "constant",
            Self::State => "state",
            Self::Unlisted => "unlisted",
        }
    }
}

/// Element type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum ElementType {
    Int8,
    Uint8,
    Int16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Bool,
}

impl ElementType {
    /// What messages call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Float32 => "float32",
            Self::Bool => "bool",
        }
    }

    /// Size of one element in bytes.
    pub const fn size_bytes(self) -> u32 {
        match self {
            Self::Int8 | Self::Uint8 | Self::Bool => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 => 8,
        }
    }
}

/// An address in the guest's memory.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    JsonSchema,
    Serialize,
    Deserialize,
)]
#[serde(transparent)]
pub struct Address(pub u32);

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// Executed instructions since the program started. The first instruction has
/// time 1, so that 0 can stand for 'never'. An instruction that an IT block
/// skips counts: it takes its cycle on the real core too.
pub type Time = u64;

/// A buffer of a layer: `size_bytes` bytes from `address`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Tensor {
    /// Name, unique within its layer.
    pub name: String,
    /// What the layer uses it for.
    pub role: Role,
    /// First byte.
    pub address: Address,
    /// Length in bytes, at least 1.
    pub size_bytes: u32,
    /// Type of its elements.
    pub element_type: ElementType,
}

impl Tensor {
    /// One past the last byte. 64 bits, as a buffer may end with the address space.
    pub fn end(&self) -> u64 {
        u64::from(self.address.0) + u64::from(self.size_bytes)
    }
}

/// What a stretch of the program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// One operator of the network, between its begin and end marks.
    Layer,
    /// The code between two layers. Its tensors are the memory that earlier layers
    /// have named: its stores give those bytes a new meaning, and its loads say that
    /// they are still needed.
    Gap,
}

/// One operator of the network as the program executed it (or a gap between two).
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Layer {
    /// Operator or gap.
    pub span: Span,
    /// Name, as the firmware gives it.
    pub name: String,
    /// Operator, for instance `conv2d`.
    pub operator: String,
    /// Its buffers, pairwise disjoint.
    pub tensors: Vec<Tensor>,
}

/// Whether an access reads or writes memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// Memory to register.
    Load,
    /// Register to memory.
    Store,
}

impl AccessKind {
    /// What messages call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
        }
    }
}

/// One load or store of a tensor's bytes.
///
/// Within a layer events come in program order, times never decrease, and each is later
/// than the layer's begin. An
/// instruction that accesses several words (LDM, STM, LDRD, VLDM, ...) gives
/// several events of one time, in ascending address order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    /// When, in executed instructions.
    pub time: Time,
    /// The instruction that did it.
    pub pc: Address,
    /// First byte, counted from the start of the tensor.
    pub offset: u32,
    /// Position of the tensor in [`Layer::tensors`].
    pub tensor: u16,
    /// Number of bytes, 1 to 8. `offset + size_bytes` is within the tensor.
    pub size_bytes: u8,
    /// Load or store.
    pub kind: AccessKind,
}

impl Event {
    /// One past the last byte, counted from the start of the tensor.
    pub const fn end(&self) -> u32 {
        self.offset + self.size_bytes as u32
    }
}

/// Events that follow one another and can be looked at together.
#[derive(Debug, Clone, Copy)]
pub enum EventRun<'a> {
    /// Loads of one tensor, at least one.
    Loads(&'a [Event]),
    /// A store.
    Store(&'a Event),
}

impl EventRun<'_> {
    /// All events, in program order.
    pub fn of(events: &[Event]) -> impl Iterator<Item = EventRun<'_>> {
        let are_alike = |a: &Event, b: &Event| {
            a.kind == AccessKind::Load && b.kind == AccessKind::Load && a.tensor == b.tensor
        };
        events.chunk_by(are_alike).map(|run| match run {
            [event] if event.kind == AccessKind::Store => EventRun::Store(event),
            loads => EventRun::Loads(loads),
        })
    }
}

/// A consumer of a trace.
pub trait TraceSink {
    /// A layer begins at `time`. Layers do not nest.
    fn begin_layer(&mut self, layer: &Layer, time: Time);
    /// The next events of the layer, in program order.
    fn events(&mut self, events: &[Event]);
    /// The layer ends at `time`.
    fn end_layer(&mut self, time: Time);
}

/// Two consumers of one trace.
impl<A: TraceSink + ?Sized, B: TraceSink + ?Sized> TraceSink for (&mut A, &mut B) {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        self.0.begin_layer(layer, time);
        self.1.begin_layer(layer, time);
    }
    fn events(&mut self, events: &[Event]) {
        self.0.events(events);
        self.1.events(events);
    }
    fn end_layer(&mut self, time: Time) {
        self.0.end_layer(time);
        self.1.end_layer(time);
    }
}

/// The program that was traced.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Program {
    /// File name of the image, without its folder.
    pub name: String,
    /// SHA-256 of the image file, in hexadecimal.
    pub sha256: String,
    /// CPU model, for instance `cortex-m4`.
    pub cpu: String,
    /// What recorded the trace, with its version.
    pub recorder: String,
}

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "detail")]
pub enum Exit {
    /// It called exit with this status.
    Status(i32),
    /// It went to sleep (WFI, WFE) with nothing that could wake it.
    Sleep(Address),
    /// It entered a branch to itself.
    Loop(Address),
    /// This many of its layers had ended, after which nobody wanted to see more of it.
    Stopped(u64),
}

/// Where an instruction comes from, as far as symbols and debug information say.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
pub struct Location {
    /// Function, demangled.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<u32>,
    /// The instruction in assembly language.
    pub disassembly: Option<String>,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line, &self.function) {
            (Some(file), Some(line), _) => write!(f, "{file}:{line}"),
            (Some(file), None, _) => write!(f, "{file}"),
            (None, _, Some(function)) => write!(f, "{function}"),
            (None, _, None) => write!(f, "unknown source"),
        }
    }
}

/// Locations of the instructions that touched a buffer.
pub type Locations = std::collections::BTreeMap<Address, Location>;

/// What is known only when the program has ended.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Ending {
    /// How it ended.
    pub exit: Exit,
    /// Executed instructions of the whole program.
    pub instructions: Time,
    /// Per layer (gaps not counted): whether its accesses depend on the data; `None` if
    /// only one input was tried.
    pub data_dependent: Vec<Option<bool>>,
    /// The instructions that touched a buffer.
    pub locations: Locations,
}
