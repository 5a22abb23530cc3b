//! The scratch buffers for which TensorFlow Lite Micro asks.

use super::source::Source;
use crate::model::{Deployment, Step, StepKernel};
use dmo_analysis::graph::{Graph, Kind};
use dmo_analysis::operator::Operator;

/// The model with the scratch buffers that TensorFlow Lite Micro's kernels ask for: those that call
/// functions of CMSIS-NN's interface what these want, all others what its reference kernels want.
pub(super) fn with_runtime_scratch(source: &Source, deployment: &Deployment) -> Graph {
    let mut graph = deployment.model_graph();
    let operators = graph.operators.iter_mut().zip(&source.graph().operators);
    for ((node, own), step) in operators.zip(&deployment.steps) {
        let kernel = step.kernel.as_ref();
        match kernel
            .ok()
            .filter(|kernel| kernel.contract.function.starts_with("arm_"))
        {
            Some(kernel) => node.scratch_bytes = requested_for(kernel, &node.kind, step),
            None => node.scratch_bytes.clone_from(&own.scratch_bytes),
        }
    }
    graph
}

/// Sizes in bytes of the scratch buffers that TensorFlow Lite Micro asks for where it calls this
/// kernel for an operator of this kind.
fn requested_for(kernel: &StepKernel, kind: &Kind, step: &Step) -> Vec<u64> {
    if let several @ [_, _, ..] = &step.scratch.told_bytes[..] {
        // Also for those that are empty.
        return several.iter().map(|&bytes| bytes.into()).collect();
    }
    let mut sizes = Vec::new();
    if let (Kind::FullyConnected, Operator::Conv2d(conv)) = (kind, &kernel.case.operator) {
        let filter = step.parameters.as_ref().and_then(|it| it.constant(1));
        if filter.is_none_or(|filter| filter.quantisation.len() <= 1) {
            // A multiplier and a shift for each channel (`fully_connected.cc`).
            sizes.push(8 * u64::from(conv.output[3]));
        }
    }
    sizes.extend(Some(u64::from(step.scratch.total_bytes)).filter(|&bytes| bytes > 0));
    sizes
}
