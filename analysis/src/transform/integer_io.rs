//! Models that take and give the integers that they compute with, without the conversions at their
//! ends.
//!
//! ```text
//!  float32 --QUANTIZE--> int8 --...--> int8 --DEQUANTIZE--> float32
//!                        int8 --...--> int8
//! ```
//!
//! A converter leaves both ends of a quantised model in floats unless it is asked not to
//! (`inference_input_type`), at four times the memory, and an image is of integers to begin with.
//! What lies between is not touched: on the integers that `QUANTIZE` would store the model stores
//! those that `DEQUANTIZE` would load.

use crate::graph::tflite::edit::{Cut, Edits, TensorEdit, edited};
use crate::graph::tflite::{self, TfliteError};
use crate::graph::{Graph, Kind, Node, OperatorId, TensorId, TensorType};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// A model without conversions at its ends.
#[derive(Debug, Clone)]
pub struct IntegerIo {
    /// The model's file. Tensors have the numbers that they had; those in floats are of one element,
    /// which nothing uses.
    pub file: Vec<u8>,
    /// What was done.
    pub report: IntegerIoReport,
}

/// Which ends of a model were in floats and are integers now.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct IntegerIoReport {
    /// Inputs.
    pub inputs: Vec<IntegerEnd>,
    /// Outputs.
    pub outputs: Vec<IntegerEnd>,
}

/// An end that was in floats.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct IntegerEnd {
    /// The operator that is left out, by its number in the model as it was given.
    pub operator: OperatorId,
    /// The end as it was.
    pub float: TensorId,
    /// The end as it is.
    pub integer: TensorId,
    /// The type of its elements.
    pub element_type: TensorType,
}

/// Why a model keeps its ends.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum IntegerIoError {
    #[error("the model has {subgraphs} subgraphs, expected 1")]
    Subgraphs { subgraphs: usize },
    #[error("operators of the model run on an accelerator, whose compiler chose its ends")]
    Accelerated,
    #[error(
        "no input of the model goes through a QUANTIZE of its own, and no output comes from a DEQUANTIZE of \
         its own: the inputs are {inputs}, the outputs {outputs}"
    )]
    Nothing { inputs: String, outputs: String },
    #[error(transparent)]
    Tflite(#[from] TfliteError),
}

/// Leaves out the `QUANTIZE` operators that read inputs in floats, and the `DEQUANTIZE` operators that
/// store outputs in floats. An end that something else uses, too, stays as it is.
///
/// # Errors
/// When the file is no model of one subgraph, has what cannot be written anew, or no such ends.
pub fn integer_io(file: &[u8]) -> Result<IntegerIo, IntegerIoError> {
    let old = tflite::read(file)?;
    let [graph] = &old.graphs[..] else {
        let subgraphs = old.graphs.len();
        return Err(IntegerIoError::Subgraphs { subgraphs });
    };
    if !graph.views.is_empty() {
        return Err(IntegerIoError::Accelerated);
    }
    let report = ends(graph);
    if report.inputs.is_empty() && report.outputs.is_empty() {
        return Err(IntegerIoError::Nothing {
            inputs: types(graph, &graph.inputs),
            outputs: types(graph, &graph.outputs),
        });
    }
    let file = edited(file, &edits(graph, &report))?;
    Ok(IntegerIo { file, report })
}

fn types(graph: &Graph, ends: &[TensorId]) -> String {
    let types = ends.iter().map(|&id| &graph.tensor(id).element_type);
    let types: BTreeSet<String> = types.map(TensorType::to_string).collect();
    types.into_iter().collect::<Vec<_>>().join(", ")
}

/// The ends that can be integers.
pub fn ends(graph: &Graph) -> IntegerIoReport {
    let uses = graph.uses();
    let mut integers: BTreeSet<TensorId> =
        graph.inputs.iter().chain(&graph.outputs).copied().collect();
    let mut report = IntegerIoReport {
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    for (index, node) in graph.operators.iter().enumerate() {
        let (&[from], &[to]) = (&node.inputs[..], &node.outputs[..]) else {
            continue;
        };
        // An input is used by the operator and as an end, an output as an end only.
        let (float, integer, ends, own_uses, known) = match node.kind {
            Kind::Quantize => (from, to, &graph.inputs, 2, &mut report.inputs),
            Kind::Dequantize => (to, from, &graph.outputs, 1, &mut report.outputs),
            _ => continue,
        };
        let is_own = ends.contains(&float) && uses.get(float.0) == Some(&own_uses);
        let element_type = graph.tensor(integer).element_type.clone();
        if is_own
            && graph.tensor(float).element_type == TensorType::Float32
            && is_integer(&element_type)
            && graph.in_arena(integer)
            && is_computed(graph, node, integer)
            && integers.insert(integer)
        {
            known.push(IntegerEnd {
                operator: OperatorId(index),
                float,
                integer,
                element_type,
            });
        }
    }
    report
}

fn is_integer(element_type: &TensorType) -> bool {
    matches!(
        element_type,
        TensorType::Int8 | TensorType::Uint8 | TensorType::Int16
    )
}

/// The integers of an output are those that an operator stores; an input's are the operator's own.
fn is_computed(graph: &Graph, node: &Node, integer: TensorId) -> bool {
    let mut nodes = graph.operators.iter();
    node.kind == Kind::Quantize || nodes.any(|other| other.outputs.contains(&integer))
}

fn edits(graph: &Graph, report: &IntegerIoReport) -> Edits {
    let mut edits = Edits::default();
    let ends = report.inputs.iter().chain(&report.outputs);
    for end in ends {
        edits.left_out.insert(end.operator);
        edits.ends.insert(end.float, end.integer);
        let axes = graph.tensor(end.float).shape.iter().enumerate();
        let longer = axes.filter(|(_, extent)| **extent > 1);
        let cuts = longer.map(|(axis, _)| Cut {
            axis,
            kept: vec![0],
        });
        let edit = TensorEdit {
            cuts: cuts.collect(),
            data: None,
        };
        edits.tensors.insert(end.float, edit);
    }
    edits
}
