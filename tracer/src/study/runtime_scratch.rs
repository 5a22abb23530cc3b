//! The scratch buffers for which TensorFlow Lite Micro asks.

use super::source::Source;
use crate::model::{Deployment, Step, StepKernel};
use dmo_analysis::graph::tflite::{self, RuntimeKernels};
use dmo_analysis::graph::{Graph, Kind};
use dmo_analysis::operator::Operator;

/// Whether a library has functions of CMSIS-NN's interface, so that TensorFlow Lite Micro is built for
/// these.
pub(super) fn is_for_cmsis_nn(deployment: &Deployment) -> bool {
    let mut libraries = deployment.sources.iter().map(|source| source.library);
    libraries.any(|library| {
        let mut functions = library.image().symbols.functions();
        functions.any(|function| function.name.starts_with("arm_"))
    })
}

/// The model with the scratch buffers that TensorFlow Lite Micro's kernels ask for: those that call
/// functions of CMSIS-NN's interface what these want, all others what the runtime asks for besides.
pub(super) fn with_runtime_scratch(source: &Source, deployment: &Deployment) -> Graph {
    let mut graph = deployment.model_graph();
    let besides = asked_besides(source, deployment);
    let operators = graph.operators.iter_mut().zip(&source.graph().operators);
    for ((node, own), step) in operators.zip(&deployment.steps) {
        let kernel = step.kernel.as_ref();
        match kernel
            .ok()
            .filter(|kernel| kernel.contract.function.starts_with("arm_"))
        {
            Some(kernel) => node.scratch_bytes = requested_for(kernel, &node.kind, step),
            None => {
                let besides = besides.get(step.operator.0).and_then(Option::as_ref);
                node.scratch_bytes
                    .clone_from(besides.unwrap_or(&own.scratch_bytes));
            }
        }
    }
    graph
}

/// Sizes in bytes of the scratch buffers for which the runtime asks where it is built for CMSIS-NN, of
/// each operator; none where they are those of its reference kernels, as far as is known.
fn asked_besides(source: &Source, deployment: &Deployment) -> Vec<Option<Vec<u64>>> {
    match (&source.file, source.linked()) {
        (Some(file), None) if is_for_cmsis_nn(deployment) => {
            let sizes = tflite::scratch(file, RuntimeKernels::CmsisNn);
            let first = sizes.ok().and_then(|all| all.into_iter().next());
            first.unwrap_or_default()
        }
        _ => Vec::new(),
    }
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
