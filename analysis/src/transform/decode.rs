//! Models whose constants are unpacked before they run, not in each inference.
//!
//! ```text
//!  encoded, ancillary --TFLM_DECODE--> weights --CONV_2D-->
//!                                      weights --CONV_2D-->
//! ```
//!
//! `TFLM_DECODE` unpacks weights into the arena, where they take memory next to the activations of
//! the operator that reads them. Unpacked beforehand they stay in flash, which has to be larger.

use crate::graph::parameters::{Packed, PackedError, Parameters};
use crate::graph::tflite::edit::{Edits, TensorEdit, edited};
use crate::graph::tflite::{self, TfliteError, Unsupported};
use crate::graph::{Graph, Kind, Node, OperatorId, Storage, TensorId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Unpacked constants have fewer bytes in all.
pub const MOST_BYTES: u64 = 1 << 28;

/// A model without `TFLM_DECODE`.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The model's file. Tensors have the numbers that they had; encoded and ancillary data that
    /// nothing uses any more are of one byte.
    pub file: Vec<u8>,
    /// What was done.
    pub report: DecodeReport,
}

/// Which constants of a model are unpacked now.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DecodeReport {
    /// Each of them.
    pub constants: Vec<DecodedConstant>,
    /// Bytes of packed data that are not in the file any more.
    pub packed_bytes: u64,
    /// Operators that stay since they unpack an output of the model.
    pub kept: Vec<OperatorId>,
}

impl DecodeReport {
    /// Bytes of the unpacked constants.
    pub fn unpacked_bytes(&self) -> u64 {
        self.constants.iter().map(|it| it.size_bytes).sum()
    }
}

/// A constant that was packed.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DecodedConstant {
    /// The operator that unpacked it, by its number in the model as it was given.
    pub operator: OperatorId,
    /// The tensor.
    pub tensor: TensorId,
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub size_bytes: u64,
}

/// Why constants stay packed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DecodeError {
    #[error("the model has {subgraphs} subgraphs, expected 1")]
    Subgraphs { subgraphs: usize },
    #[error("no TFLM_DECODE of the model unpacks a constant for another operator")]
    Nothing,
    #[error("operator {operator} TFLM_DECODE cannot be known: {reason}", operator = .operator.0)]
    Unknown {
        operator: OperatorId,
        reason: Unsupported,
    },
    #[error("operator {operator} TFLM_DECODE has damaged data: {reason}", operator = .operator.0)]
    Damaged {
        operator: OperatorId,
        reason: PackedError,
    },
    #[error(
        "operator {operator} TFLM_DECODE stores a variable, tensor {tensor}, which is no constant",
        operator = .operator.0, tensor = .tensor.0
    )]
    Variable {
        operator: OperatorId,
        tensor: TensorId,
    },
    #[error("the unpacked constants have more than {limit} bytes in all")]
    TooLarge { limit: u64 },
    #[error(transparent)]
    Tflite(#[from] TfliteError),
}

/// Unpacks the constants of a model that `TFLM_DECODE` unpacks, and leaves these operators out.
///
/// # Errors
/// When the file is no model of one subgraph, has what cannot be written anew, no such operators, or
/// packed data that TensorFlow Lite Micro refuses or that are damaged.
pub fn decode(file: &[u8]) -> Result<Decoded, DecodeError> {
    let old = tflite::read(file)?;
    let [graph] = &old.graphs[..] else {
        let subgraphs = old.graphs.len();
        return Err(DecodeError::Subgraphs { subgraphs });
    };
    let parameters = tflite::parameters(file, 0)?;
    let (edits, report) = edits(graph, &parameters)?;
    if report.constants.is_empty() {
        return Err(DecodeError::Nothing);
    }
    let new = edited(file, &edits)?;
    ensure_same((graph, &parameters), &new, &edits)?;
    Ok(Decoded { file: new, report })
}

fn edits(
    graph: &Graph,
    parameters: &[Result<Parameters, Unsupported>],
) -> Result<(Edits, DecodeReport), DecodeError> {
    let mut edits = Edits::default();
    let mut report = DecodeReport {
        constants: Vec::new(),
        packed_bytes: 0,
        kept: Vec::new(),
    };
    let mut packed = BTreeSet::new();
    for (index, (node, known)) in graph.operators.iter().zip(parameters).enumerate() {
        let operator = OperatorId(index);
        if node.kind != Kind::Decode {
            continue;
        }
        if node.outputs.iter().any(|id| graph.outputs.contains(id)) {
            report.kept.push(operator);
            continue;
        }
        let unknown = |reason: &Unsupported| DecodeError::Unknown {
            operator,
            reason: reason.clone(),
        };
        let known = known.as_ref().map_err(unknown)?;
        let mut outputs = node.outputs.iter().copied();
        if let Some(tensor) = outputs.find(|id| !graph.in_arena(*id)) {
            return Err(DecodeError::Variable { operator, tensor });
        }
        let constants = unpacked(operator, known, MOST_BYTES - report.unpacked_bytes())?;
        for (&tensor, data) in node.outputs.iter().zip(constants) {
            report.constants.push(DecodedConstant {
                operator,
                tensor,
                name: graph.tensor(tensor).name.clone(),
                size_bytes: data.len() as u64,
            });
            let data = Some(data);
            let cuts = Vec::new();
            edits.tensors.insert(tensor, TensorEdit { cuts, data });
        }
        packed.extend(node.inputs.iter().copied());
        edits.left_out.insert(operator);
    }
    let remaining = edits.remaining(graph, parameters);
    let read = remaining.flat_map(|(node, _)| node.inputs.iter().copied());
    let read: BTreeSet<TensorId> = read.collect();
    for tensor in packed.difference(&read) {
        let is_end = graph.inputs.contains(tensor) || graph.outputs.contains(tensor);
        let edit = TensorEdit::to_one_element(graph.tensor(*tensor));
        if let Some(edit) = edit.filter(|_| !is_end) {
            report.packed_bytes += graph.tensor(*tensor).size_bytes;
            edits.tensors.insert(*tensor, edit);
        }
    }
    Ok((edits, report))
}

/// What the operator stores, of at most so many bytes in all.
fn unpacked(
    operator: OperatorId,
    known: &Parameters,
    most_bytes: u64,
) -> Result<Vec<Vec<u8>>, DecodeError> {
    let bytes = known.packed.iter().map(Packed::size_bytes);
    if bytes.fold(0, u64::saturating_add) > most_bytes {
        return Err(DecodeError::TooLarge { limit: MOST_BYTES });
    }
    let constants = known.unpacked();
    constants.map_err(|reason| DecodeError::Damaged { operator, reason })
}

/// The other operators are what they were, and compute with what was unpacked.
fn ensure_same(
    (graph, parameters): (&Graph, &[Result<Parameters, Unsupported>]),
    new: &[u8],
    edits: &Edits,
) -> Result<(), TfliteError> {
    let model = tflite::read(new)?;
    let made = model.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    let made_parameters = tflite::parameters(new, 0)?;
    let old: Vec<_> = edits.remaining(graph, parameters).collect();
    let new: Vec<_> = made.operators.iter().zip(&made_parameters).collect();
    let same = |(&(node, known), &(made, made_known)): (&(&Node, &_), &(&Node, &_))| {
        let nodes = [node, made].map(|node| (&node.kind, &node.inputs, &node.outputs));
        nodes[0] == nodes[1] && computes_with(known, made_known, edits)
    };
    let mut unpacked = edits.tensors.iter().filter(|(_, edit)| edit.data.is_some());
    let is_constant = |(id, edit): (&TensorId, &TensorEdit)| {
        let [old, new] = [graph, made].map(|graph| graph.tensor(*id));
        let size = edit.data.as_ref().map(|data| data.len() as u64);
        let is_alike = (&old.shape, old.element_type) == (&new.shape, new.element_type);
        is_alike && new.storage == Storage::Constant && size == Some(new.size_bytes)
    };
    if old.len() == new.len() && old.iter().zip(&new).all(same) && unpacked.all(is_constant) {
        return Ok(());
    }
    Err(TfliteError::Plan(
        "the model with unpacked constants is not read as it was meant; please report this"
            .to_owned(),
    ))
}

/// Whether the operator computes with what it did, and with what was unpacked for it.
fn computes_with(
    old: &Result<Parameters, Unsupported>,
    new: &Result<Parameters, Unsupported>,
    edits: &Edits,
) -> bool {
    let Ok(new) = new else {
        return old.is_err();
    };
    let operands = new.tensors.iter().zip(&new.constants).enumerate();
    operands.into_iter().all(|(index, (tensor, constant))| {
        let edit = tensor.and_then(|tensor| edits.tensors.get(&tensor));
        match (edit.and_then(|edit| edit.data.as_ref()), old) {
            (Some(data), _) => constant.as_ref().is_some_and(|it| *it.bytes == data[..]),
            (None, Ok(old)) => old.constants.get(index) == Some(constant),
            (None, Err(_)) => true,
        }
    })
}
