//! Whether an operator that is left out has changed values as well as moved them.

use super::refused;
use crate::graph::parameters::{Activation, Constant, Parameters};
use crate::graph::{Graph, Node, OperatorId, TensorType};
use crate::operator::Operator;
use crate::transform::TransformError;

/// The operand of a pad that says what it pads with.
const VALUE: usize = 2;
/// The weights of a convolution.
const WEIGHTS: usize = 1;

/// Whether the graph computes the same without this operator, as far as its numbers decide it.
/// `parameters` gives what each of the operators computes with.
///
/// Reshapes, splits and slices copy bytes. A concatenation does so where all its inputs are
/// quantised as its output is. A convolution pads with what stands for 0 in its input.
///
/// # Errors
/// When values would change, or it is not known.
pub fn keeps_values<'p, 'a: 'p>(
    graph: &Graph,
    operator: OperatorId,
    parameters: impl Fn(OperatorId) -> Option<&'p Parameters<'a>>,
) -> Result<(), TransformError> {
    let node = graph.operators.get(operator.0);
    let node = node.ok_or(refused(operator, "does not exist"))?;
    let unknown = refused(operator, "computes with numbers that are not known");
    let own = parameters(operator).ok_or(unknown.clone())?;
    if own.activation != Activation::None {
        return Err(refused(
            operator,
            "has an activation, and cannot be left out",
        ));
    }
    match node.kernel.as_ref().map(|kernel| &kernel.operator) {
        Some(Operator::Concat(concat)) => {
            let output = own.output(0);
            if (0..concat.inputs.len()).all(|input| own.operand(input) == output) {
                Ok(())
            } else {
                Err(refused(
                    operator,
                    "has an input that is quantised otherwise than its output",
                ))
            }
        }
        Some(Operator::Pad(_)) => {
            let reader = convolution_behind(graph, operator, node)?;
            let reader = parameters(reader).ok_or(unknown)?;
            pads_with_zero(graph, operator, node, own, reader)
        }
        _ => Ok(()),
    }
}

/// What reads the pad, other pads between the two.
fn convolution_behind<'a>(
    graph: &'a Graph,
    pad: OperatorId,
    mut node: &'a Node,
) -> Result<OperatorId, TransformError> {
    loop {
        let mut nodes = graph.operators.iter().enumerate();
        let reader = nodes.find(|(_, other)| {
            node.outputs
                .iter()
                .any(|output| other.inputs.contains(output))
        });
        let (index, reader) = reader.ok_or(refused(pad, "pads what nothing reads"))?;
        let operator = reader.kernel.as_ref().map(|kernel| &kernel.operator);
        // The file's order: each reader comes later.
        if !matches!(operator, Some(Operator::Pad(_))) || std::ptr::eq(node, reader) {
            return Ok(OperatorId(index));
        }
        node = reader;
    }
}

fn pads_with_zero(
    graph: &Graph,
    operator: OperatorId,
    node: &Node,
    pad: &Parameters,
    reader: &Parameters,
) -> Result<(), TransformError> {
    let output = node.outputs.first().map(|&id| graph.tensor(id));
    let element_type = output.map(|tensor| tensor.element_type);
    let is_float = element_type == Some(TensorType::Float32);
    let is_given = pad.tensors.get(VALUE).copied().flatten().is_some();
    let zero = if is_float {
        0
    } else {
        i64::from(reader.operand(0).zero_point)
    };
    let value = match pad.constant(VALUE) {
        None if is_given => return Err(refused(operator, "pads with a value that is computed")),
        None if is_float => Some(0),
        None => Some(i64::from(pad.output(0).zero_point)),
        Some(value) => integer(value, element_type),
    };
    if value != Some(zero) {
        let reason = "pads with something else than what stands for 0 in its reader's input";
        return Err(refused(operator, reason));
    }
    // A float pad multiplies 0 with each weight, which is no 0 where that is infinite.
    let weights = || {
        reader
            .constant(WEIGHTS)
            .is_some_and(Constant::has_finite_floats)
    };
    if is_float && !weights() {
        return Err(refused(
            operator,
            "pads for weights that are not known to be finite",
        ));
    }
    Ok(())
}

/// The one element of a constant; of a float, its bits.
fn integer(value: &Constant, element_type: Option<TensorType>) -> Option<i64> {
    if Some(value.element_type) != element_type {
        return None;
    }
    Some(match (value.element_type, &value.bytes[..]) {
        (TensorType::Int8, &[byte]) => i64::from(byte.cast_signed()),
        (TensorType::Uint8, &[byte]) => i64::from(byte),
        (TensorType::Int16, &[low, high]) => i64::from(i16::from_le_bytes([low, high])),
        (TensorType::Float32, &[a, b, c, d]) => i64::from(u32::from_le_bytes([a, b, c, d])),
        _ => return None,
    })
}
