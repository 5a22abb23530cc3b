//! TensorFlow Lite models: reading them, adding plans to them, writing them.
//!
//! | file | what it holds |
//! |---|---|
//! | `schema.rs` | numbers of fields and options |
//! | `view.rs` | tables of a flatbuffer, with limits |
//! | `catalogue.rs`, `catalogue/` | what is known of each kind of operator |
//! | `registered.rs` | the operators of TensorFlow Lite Micro |
//! | `apart.rs` | why nothing may overlap |
//! | `flexbuffer.rs` | options of custom operators |
//! | `read.rs` | tensors and operators of a subgraph |
//! | `draft.rs` | a tensor as the file has it |
//! | `used.rs` | that what is used has a size |
//! | `ethos_u.rs` | the memory of Arm's Ethos-U accelerators |
//! | `lower.rs` | what an operator is to the reference kernels |
//! | `parameters.rs` | what an operator computes with |
//! | `scratch.rs`, `scratch/` | scratch buffers of the runtime's kernels |
//! | `linked.rs` | all subgraphs as one graph |
//! | `resources.rs` | resource variables as tensors |
//! | `nodes.rs` | subgraphs as the runtime finds them |
//! | `requests.rs` | which scratch buffers the runtime's kernels ask for |
//! | `plan.rs` | plans in model files |
//! | `edit.rs`, `edit/` | models written anew with other tensors |
//! | `signal_options.rs` | options of the signal library's operators |
//! | `value_options.rs` | activation, factors and limits among an operator's options |
//! | `roles.rs` | what the inputs of an operator are |
//! | `export.rs` | graphs as model files |
//! | `landmarks.rs` | parts of a file that the runtime's structures point to |
//! | `layout.rs` | writing flatbuffers |
//! | `error.rs` | why a model cannot be read or written |
//!
//! An operator that is not known, or whose shapes, types or options the formulas do not
//! cover, keeps its tensors and gets no kernel, so that nothing overlaps. The kind of a
//! custom operator is `CUSTOM:` and its name, that of a number that is not known
//! `BUILTIN:` and the number.

mod apart;
pub(crate) mod catalogue;
mod circular_buffer;
mod custom_options;
mod detection_options;
mod draft;
pub(crate) mod edit;
mod error;
mod ethos_u;
mod export;
pub(crate) mod flexbuffer;
mod landmarks;
pub(crate) mod layout;
mod linked;
pub(crate) mod lower;
pub(crate) mod nodes;
mod parameters;
pub(crate) mod plan;
mod read;
mod registered;
pub(crate) mod requests;
mod resources;
mod roles;
pub(crate) mod schema;
mod scratch;
mod signal_options;
mod used;
mod value_options;
pub(crate) mod view;

pub use apart::WhyApart;
pub use error::{OpenBatch, TensorProblem, TfliteError, Unsupported};
pub use export::export;
pub use landmarks::{Landmarks, landmarks};
pub use linked::{Linked, Part, ScratchOf, Step};
pub use parameters::parameters;
pub use plan::{OfflinePlan, offline_plan, with_plan};
pub use registered::{TFLM_REVISION, registered};
pub use requests::{RuntimeKernels, scratch};
pub use resources::{VariableError, WithVariables};
pub use view::is_model;

use super::{Graph, Kind, OperatorId};
use schema::{model, operator_code};
use std::ops::Range;
use view::{File, Table};

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Model {
    /// What the file says of itself.
    pub description: String,
    /// The subgraphs; the first is where an inference begins.
    pub graphs: Vec<Graph>,
    /// Which operators run which subgraphs.
    pub calls: Vec<Call>,
    /// Named pieces of data.
    pub metadata: Vec<Metadata>,
    /// Bytes of data behind the flatbuffer.
    pub outside_bytes: u64,
}

/// An operator that runs subgraphs: `IF`, `WHILE`, `CALL`, `CALL_ONCE`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Index of the operator's subgraph.
    pub subgraph: usize,
    /// The operator.
    pub operator: OperatorId,
    /// Indices of the subgraphs that it runs, in the order of its options.
    pub callees: Vec<usize>,
}

/// A named piece of data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// Its name.
    pub name: String,
    /// Where it is in the file.
    pub bytes: Range<usize>,
}

impl Model {
    /// The data of that name; of several the last, which is what TensorFlow Lite Micro takes.
    pub fn metadata(&self, name: &str) -> Option<&Metadata> {
        self.metadata.iter().rfind(|entry| entry.name == name)
    }
}

/// Reads a model. Constants stay in the file; each graph's tensors have the indices that
/// they have in the file.
///
/// # Errors
/// When the bytes are not a model, or one that makes no sense; when a tensor that is
/// computed has no fixed shape, or elements without a size, or shapes that contradict each other
/// where the batch is open; when a tensor is sparse; when an operator reads what
/// nothing has written, or writes what is there already; when an accelerator's operator has no
/// plan that says where its tensors lie.
pub fn read(bytes: &[u8]) -> Result<Model, TfliteError> {
    let file = File::new(bytes);
    let root = file.root()?;
    let contents = Contents::read(&root)?;
    let subgraphs = root.tables(model::SUBGRAPHS)?;
    let count = subgraphs.len();
    let mut result = Model {
        description: root.text(model::DESCRIPTION)?,
        outside_bytes: outside_bytes(&root)?,
        ..Model::default()
    };
    let mut accelerated = Vec::new();
    for (index, subgraph) in subgraphs.enumerate() {
        let read = read::subgraph(bytes, &contents, &subgraph?, index, count)?;
        result.graphs.push(read.graph);
        result.calls.extend(read.calls);
        accelerated.push(read.accelerated);
    }
    if result.graphs.is_empty() {
        return Err(TfliteError::NoSubgraph);
    }
    for (index, entry) in root.tables(model::METADATA)?.enumerate() {
        let entry = entry?;
        let buffer = entry.number::<u32>(schema::metadata::BUFFER, 0)?;
        let bytes = contents.buffer(buffer, || format!("metadata {index}"))?;
        result.metadata.push(Metadata {
            name: entry.text(schema::metadata::NAME)?,
            bytes: bytes.unwrap_or_default(),
        });
    }
    for (index, operators) in accelerated.iter().enumerate() {
        ethos_u::add_views(&mut result, index, operators, bytes)?;
    }
    Ok(result)
}

/// How many bytes buffers have that lie behind the flatbuffer.
fn outside_bytes(root: &Table) -> Result<u64, TfliteError> {
    let sizes = root.tables(model::BUFFERS)?.map(|buffer| {
        let buffer = buffer?;
        let is_outside = buffer.number::<u64>(schema::buffer::OFFSET, 0)? > 1;
        let size = buffer.number::<u64>(schema::buffer::SIZE, 0)?;
        Ok(if is_outside { size } else { 0 })
    });
    sizes.sum()
}

/// What all subgraphs share.
#[derive(Debug)]
struct Contents {
    /// Kinds of operators.
    codes: Vec<Kind>,
    /// Where each buffer's data are; `None` if it has none.
    buffers: Vec<Option<Range<usize>>>,
}

impl Contents {
    fn read(root: &Table) -> Result<Self, TfliteError> {
        let codes = root.tables(model::OPERATOR_CODES)?;
        let buffers = root.tables(model::BUFFERS)?;
        Ok(Self {
            codes: codes.map(|code| kind(&code?)).collect::<Result<_, _>>()?,
            buffers: buffers
                .enumerate()
                .map(|(index, buffer)| data(&buffer?, index))
                .collect::<Result<_, _>>()?,
        })
    }

    fn code(&self, index: u32, place: impl FnOnce() -> String) -> Result<&Kind, TfliteError> {
        let code = self.codes.get(index as usize);
        code.ok_or_else(|| TfliteError::Index {
            place: place(),
            what: "operator code",
            given: i64::from(index),
            count: self.codes.len(),
        })
    }

    /// Where the buffer's data are; `None` if it has none.
    fn buffer(
        &self,
        index: u32,
        place: impl FnOnce() -> String,
    ) -> Result<Option<Range<usize>>, TfliteError> {
        match self.buffers.get(index as usize) {
            Some(buffer) => Ok(buffer.clone()),
            // Tensors without data may name buffer 0 where there are no buffers at all.
            None if index == 0 => Ok(None),
            None => Err(TfliteError::Index {
                place: place(),
                what: "buffer",
                given: i64::from(index),
                count: self.buffers.len(),
            }),
        }
    }
}

/// The kind of an operator code. Numbers above 127 are in a field of their own, and older
/// files know only the other one.
fn kind(code: &Table) -> Result<Kind, TfliteError> {
    let old = code.number::<i8>(operator_code::DEPRECATED_BUILTIN_CODE, 0)?;
    let new = code.number::<i32>(operator_code::BUILTIN_CODE, 0)?;
    let number = new.max(i32::from(old));
    if number == schema::CUSTOM {
        return Ok(Kind::custom(&code.text(operator_code::CUSTOM_CODE)?));
    }
    Ok(Kind::of_code(number))
}

/// Where a buffer's data are: inside its vector, or after the flatbuffer.
fn data(buffer: &Table, index: usize) -> Result<Option<Range<usize>>, TfliteError> {
    let offset = buffer.number::<u64>(schema::buffer::OFFSET, 0)?;
    let range = if offset > 1 {
        let size = buffer.number::<u64>(schema::buffer::SIZE, 0)?;
        let end = offset.checked_add(size);
        let length = buffer.file_length();
        let end = end.filter(|&end| end <= length as u64).ok_or_else(|| {
            TfliteError::damaged(format!(
                "buffer {index} has {size} bytes at byte {offset}, but the file ends at {length}"
            ))
        })?;
        Some(offset as usize..end as usize)
    } else {
        buffer.bytes(schema::buffer::DATA)?
    };
    Ok(range.filter(|range| !range.is_empty()))
}
