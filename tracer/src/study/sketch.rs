//! A network as its author thinks of it: operators in words on tensors, without weights.

use super::case::{CaseError, CaseRequest};
use super::error::{About, StudyError};
use dmo_analysis::graph::sketch::{Sketch, Step};
use dmo_analysis::graph::{GraphTensor, TensorId, TensorType};

/// Adds an operator to a sketch and gives its outputs. The shapes of its inputs, and the type of
/// its elements where the request names none, are those of the tensors.
///
/// # Errors
/// When the operator cannot be of these tensors.
pub fn add(
    sketch: &mut Sketch,
    request: CaseRequest,
    inputs: &[TensorId],
) -> Result<Vec<TensorId>, StudyError> {
    let operator = request.operator.clone();
    let mut input = Vec::with_capacity(inputs.len());
    for &id in inputs {
        input.push(in_words(&sketch.get(id).about(&operator)?.shape));
    }
    let dtype = match (request.dtype, inputs.first()) {
        // Of a quantisation it is the type of the output.
        (None, Some(&first)) if operator != "quantize" => {
            Some(type_name(sketch.get(first).about(&operator)?))
        }
        (given, _) => given,
    };
    let case = CaseRequest {
        input,
        dtype,
        ..request
    }
    .case()?;
    for &id in inputs {
        let tensor = sketch.get(id).about(&operator)?;
        if tensor.element_type.element() != Some(case.input_type) {
            let error = CaseError::of_types(tensor, case.input_type);
            return Err(StudyError::from(error).about(&operator));
        }
    }
    let step = Step {
        kind: case.kind,
        operator: case.operator,
        inputs,
        output_type: TensorType::from(case.output_type),
    };
    sketch.add(step).about(&operator)
}

/// A shape as options have it; one without axes has one element.
fn in_words(shape: &[u32]) -> String {
    let extents: Vec<String> = shape.iter().map(u32::to_string).collect();
    if extents.is_empty() {
        return "1".to_owned();
    }
    extents.join("x")
}

/// As `--dtype` has it.
fn type_name(tensor: &GraphTensor) -> String {
    tensor.element_type.to_string().to_lowercase()
}
