//! What the kernels that move elements have in common.

use super::Job;
use crate::call::{CallError, inexpressible};
use dmo_analysis::trace::ElementType;

const VALUE: usize = 2;

/// The bytes of the element that a tensor is padded with: what the model says, else what
/// stands for 0 in the output.
pub(super) fn padding(job: &Job) -> Result<Vec<u8>, CallError> {
    let element_type = job.case.output_type;
    let size_bytes = element_type.size_bytes() as usize;
    let output = job.parameters.output(0);
    let Some(value) = job.parameters.constant(VALUE) else {
        return Ok(zero(job));
    };
    let floats = element_type == ElementType::Float32;
    if !floats && job.parameters.operand(VALUE) != output {
        return Err(inexpressible(
            "the quantisation of the padding value",
            format!("{:?}", job.parameters.operand(VALUE)),
            format!("that of the output, {output:?}"),
        ));
    }
    if value.element_type != element_type.into() || value.bytes.len() != size_bytes {
        return Err(inexpressible(
            "the padding value",
            format!("{} bytes of {:?}", value.bytes.len(), value.element_type),
            format!("one {element_type:?}"),
        ));
    }
    Ok(value.bytes.to_vec())
}

/// The bytes of the element that stands for 0 in the output.
pub(super) fn zero(job: &Job) -> Vec<u8> {
    let element_type = job.case.output_type;
    let zero = match element_type {
        ElementType::Float32 => 0,
        _ => i64::from(job.parameters.output(0).zero_point),
    };
    zero.to_le_bytes()[..element_type.size_bytes() as usize].to_vec()
}

/// The same as the word that a kernel is passed: smaller integers with their sign.
pub(super) fn padding_word(job: &Job) -> Result<u32, CallError> {
    let bytes = padding(job)?;
    Ok(match bytes[..] {
        [byte] => i32::from(byte as i8) as u32,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => {
            let given = format!("{} bytes", bytes.len());
            return Err(inexpressible("the padding value", given, "1 or 4 bytes"));
        }
    })
}
