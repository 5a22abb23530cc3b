//! What stands in for the results of an operator that no kernel can be called for, so that the
//! operators after it run on something.
//!
//! The bytes are arbitrary but legal for their type, and a function of the operator's inputs and of
//! nothing else: the same wherever the tensors lie and whenever the operator runs. So a lost byte
//! of an input shows in every output, as it would in a kernel's.

use super::{Deployment, Step};
use crate::program::other_inputs::Variation;
use dmo_analysis::graph::TensorId;
use dmo_analysis::trace::{Address, Role, Tensor};

/// What lies in an output before its operator has stored anything there.
pub(super) const SPOILT: u8 = 0xc3;

/// Contents of the outputs for these contents of the inputs.
pub(super) fn outputs(
    deployment: &Deployment,
    step: &Step,
    inputs: &[Vec<u8>],
) -> Vec<(TensorId, Vec<u8>)> {
    let seed = digest(inputs) as usize;
    let outputs = step.outputs.iter().enumerate();
    let content = |(position, &id)| {
        let tensor = Tensor {
            name: String::new(),
            role: Role::Output,
            address: Address(0),
            size_bytes: deployment.graph.tensor(id).size_bytes as u32,
            element_type: deployment.element_type(id),
        };
        (id, Variation(0).content(seed, position, &tensor))
    };
    outputs.map(content).collect()
}

/// FNV-1a of 32 bits, of all inputs and their sizes.
fn digest(inputs: &[Vec<u8>]) -> u32 {
    let bytes = inputs.iter().flat_map(|input| {
        let size = (input.len() as u64).to_le_bytes();
        size.into_iter().chain(input.iter().copied())
    });
    bytes.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
