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

use crate::graph::parameters::{Affine, Parameters};
use crate::graph::tflite::edit::{Edits, TensorEdit, edited};
use crate::graph::tflite::{self, TfliteError, Unsupported};
use crate::graph::{Graph, Kind, Node, OperatorId, TensorId, TensorType};
use crate::wording::counted;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

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
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct IntegerIoReport {
    /// Inputs.
    pub inputs: Vec<IntegerEnd>,
    /// Outputs.
    pub outputs: Vec<IntegerEnd>,
}

impl IntegerIoReport {
    /// All of them.
    pub fn ends(&self) -> impl Iterator<Item = &IntegerEnd> {
        self.inputs.iter().chain(&self.outputs)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends().next().is_none()
    }
}

impl fmt::Display for IntegerIoReport {
    /// `1 input of INT8 and 1 output of INT8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |ends: &[IntegerEnd], one, several| {
            let types: BTreeSet<String> = ends
                .iter()
                .map(|end| end.element_type.to_string())
                .collect();
            let types: Vec<String> = types.into_iter().collect();
            let count = counted(ends.len() as u64, one, several);
            (!ends.is_empty()).then(|| format!("{count} of {}", types.join(", ")))
        };
        let inputs = of(&self.inputs, "input", "inputs");
        let outputs = of(&self.outputs, "output", "outputs");
        let ends: Vec<String> = inputs.into_iter().chain(outputs).collect();
        f.write_str(&ends.join(" and "))
    }
}

/// An end that was in floats.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct IntegerEnd {
    /// The operator that is left out, by its number in the model as it was given.
    pub operator: OperatorId,
    /// The end as it was.
    pub float: TensorId,
    /// The end as it is.
    pub integer: TensorId,
    /// The type of its elements.
    pub element_type: TensorType,
    /// The real number that one step of the integers is.
    pub scale: f64,
    /// The integer that 0 is.
    pub zero_point: i32,
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
        "--integer-io has nothing to leave out: no input is quantised and no output dequantised, or something \
         else needs its floats or its integers; the inputs are {inputs}, the outputs {outputs}"
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
    let parameters = tflite::parameters(file, 0)?;
    let report = ends(graph, &parameters);
    if report.is_empty() {
        return Err(IntegerIoError::Nothing {
            inputs: types(graph, &graph.inputs),
            outputs: types(graph, &graph.outputs),
        });
    }
    let edits = edits(graph, &report);
    let new = edited(file, &edits)?;
    ensure_same((graph, &parameters), &new, &edits)?;
    Ok(IntegerIo { file: new, report })
}

/// What is left is what was there: the same operators on the same tensors, with the same constants, the
/// same quantisation and the same options.
fn ensure_same(
    (graph, parameters): (&Graph, &[Result<Parameters, Unsupported>]),
    new: &[u8],
    edits: &Edits,
) -> Result<(), TfliteError> {
    let model = tflite::read(new)?;
    let made = model.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    let made_parameters = tflite::parameters(new, 0)?;
    let operators = edits.remaining(graph, parameters);
    let tensors = graph.tensors.iter().zip(&made.tensors).enumerate();
    let mut tensors = tensors.filter(|(index, _)| !edits.ends.contains_key(&TensorId(*index)));
    if operators.eq(made.operators.iter().zip(&made_parameters))
        && graph.tensors.len() == made.tensors.len()
        && tensors.all(|(_, (one, other))| one == other)
    {
        return Ok(());
    }
    Err(TfliteError::Plan(
        "the model without conversions at its ends is not read as it was meant; please report this"
            .to_owned(),
    ))
}

fn types(graph: &Graph, ends: &[TensorId]) -> String {
    let types = ends.iter().map(|&id| &graph.tensor(id).element_type);
    let types: BTreeSet<String> = types.map(TensorType::to_string).collect();
    types.into_iter().collect::<Vec<_>>().join(", ")
}

/// The ends that can be integers, of a graph and the parameters of its operators.
pub fn ends(graph: &Graph, parameters: &[Result<Parameters, Unsupported>]) -> IntegerIoReport {
    let uses = graph.uses();
    let mut integers: BTreeSet<TensorId> =
        graph.inputs.iter().chain(&graph.outputs).copied().collect();
    let mut report = IntegerIoReport {
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    for (index, (node, parameters)) in graph.operators.iter().zip(parameters).enumerate() {
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
        if is_own
            && converts(graph, node, [float, integer])
            && let Some(affine) = parameters
                .as_ref()
                .ok()
                .and_then(|known| quantised(node, known))
            && is_computed(graph, node, integer)
            && integers.insert(integer)
        {
            known.push(IntegerEnd {
                operator: OperatorId(index),
                float,
                integer,
                element_type: graph.tensor(integer).element_type,
                scale: affine.scale.into(),
                zero_point: affine.zero_point,
            });
        }
    }
    report
}

/// Each element of the one tensor is one of the other, and both are stored anew in each inference.
fn converts(graph: &Graph, node: &Node, [float, integer]: [TensorId; 2]) -> bool {
    let in_arena = graph.in_arena(float) && graph.in_arena(integer);
    let [float, integer] = [float, integer].map(|id| graph.tensor(id));
    let types = (&float.element_type, &integer.element_type);
    let is_known = matches!(
        types,
        (
            TensorType::Float32,
            TensorType::Int8 | TensorType::Uint8 | TensorType::Int16
        )
    );
    is_known && in_arena && node.kernel.is_some() && float.shape == integer.shape
}

/// The scale of the integers, if there is one: several are none that parameters know of an activation.
fn quantised(node: &Node, parameters: &Parameters) -> Option<Affine> {
    let integers = if node.kind == Kind::Quantize {
        &parameters.outputs
    } else {
        &parameters.operands
    };
    integers
        .first()
        .copied()
        .filter(|known| *known != Affine::PLAIN)
}

/// The integers of an output are those that an operator stores; an input's are the operator's own.
fn is_computed(graph: &Graph, node: &Node, integer: TensorId) -> bool {
    let mut nodes = graph.operators.iter();
    node.kind == Kind::Quantize || nodes.any(|other| other.outputs.contains(&integer))
}

fn edits(graph: &Graph, report: &IntegerIoReport) -> Edits {
    let mut edits = Edits::default();
    for end in report.ends() {
        edits.left_out.insert(end.operator);
        edits.ends.insert(end.float, end.integer);
        let edit = TensorEdit::to_one_element(graph.tensor(end.float));
        edits.tensors.insert(end.float, edit.unwrap_or_default());
    }
    edits
}
