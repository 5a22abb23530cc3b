//! What is computed, and what comes from outside, has a size that is known before the model runs.

use super::draft::{Draft, tensor_name};
use super::error::{OpenBatch, TfliteError};
use crate::graph::{Graph, Kind, Node, Storage, TensorId};

/// Checks all tensors that are used, where they first occur, but for those that are `absent`.
pub(super) fn check(
    graph: &Graph,
    draft: &[Draft],
    absent: impl Fn(TensorId) -> bool,
    subgraph: usize,
) -> Result<(), TfliteError> {
    let name = |id: TensorId| tensor_name(graph, id, subgraph);
    let mut checked = vec![false; draft.len()];
    let mut check = |id: TensorId, place: &str| {
        let unused = graph.tensor(id).storage == Storage::Constant || absent(id);
        if unused || std::mem::replace(&mut checked[id.0], true) {
            return Ok(());
        }
        check_computed(&draft[id.0], || format!("{place}{}", name(id)))
    };
    for &id in &graph.inputs {
        check(id, "")?;
    }
    for (index, node) in graph.operators.iter().enumerate() {
        let place = operator(index, node, subgraph) + ": ";
        for &id in node.inputs.iter().chain(&node.outputs) {
            if draft[id.0].is_sparse {
                let tensor = format!("{place}{}", name(id));
                return Err(TfliteError::Sparse { tensor });
            }
            check(id, &place)?;
        }
    }
    for &id in &graph.outputs {
        check(id, "")?;
    }
    check_open_batch(graph, draft, subgraph)?;
    check_sum(graph, draft, subgraph)
}

fn operator(index: usize, node: &Node, subgraph: usize) -> String {
    format!("operator {index} {} of subgraph {subgraph}", node.kind)
}

fn check_computed(draft: &Draft, tensor: impl Fn() -> String) -> Result<(), TfliteError> {
    if draft.element_type.bits().is_none() {
        return Err(TfliteError::ElementType {
            tensor: tensor(),
            element_type: draft.element_type,
        });
    }
    if let Some(shape) = draft.dynamic_shape() {
        return Err(TfliteError::DynamicShape {
            tensor: tensor(),
            shape: shape.to_vec(),
        });
    }
    let size = draft.size_bytes();
    size.map(|_| ()).ok_or_else(|| TfliteError::TooLarge {
        tensor: tensor(),
        shape: draft.shape.clone(),
    })
}

/// All sizes have a sum.
fn check_sum(graph: &Graph, draft: &[Draft], subgraph: usize) -> Result<(), TfliteError> {
    let mut sum = 0u64;
    for (index, tensor) in graph.tensors.iter().enumerate() {
        sum = sum.saturating_add(tensor.size_bytes);
        if sum > i64::MAX.unsigned_abs() {
            return Err(TfliteError::TooLarge {
                tensor: tensor_name(graph, TensorId(index), subgraph),
                shape: draft[index].shape.clone(),
            });
        }
    }
    Ok(())
}

/// In a model whose batch is open the shapes of a batch of 1 may be wrong: converters put 1 for the
/// first extent of each tensor, also where an operator makes two batches of one, or the shapes of
/// the example that they have traced.
fn check_open_batch(graph: &Graph, draft: &[Draft], subgraph: usize) -> Result<(), TfliteError> {
    let Some(open) = draft.iter().position(Draft::has_open_batch) else {
        return Ok(());
    };
    let operators = graph.operators.iter().enumerate();
    for (index, node) in operators.filter(|(_, node)| node.kernel.is_none()) {
        // How much these store depends on the data, not on the batch.
        let is_by_data = matches!(node.kind, Kind::Where | Kind::Unique);
        let mut outputs = node.outputs.iter();
        if let Some(id) = outputs.find(|id| is_by_data && draft[id.0].has_open_batch()) {
            let name = tensor_name(graph, *id, subgraph);
            return Err(TfliteError::DynamicShape {
                tensor: operator(index, node, subgraph) + ": " + &name,
                shape: draft[id.0].signature.clone(),
            });
        }
        if let Some([input, output]) = contradictory(graph, node) {
            let problem = OpenBatch {
                place: operator(index, node, subgraph),
                input,
                output,
                tensor: tensor_name(graph, TensorId(open), subgraph),
                signature: draft[open].signature.clone(),
            };
            return Err(TfliteError::OpenBatch(Box::new(problem)));
        }
    }
    Ok(())
}

/// The shapes of an input and an output that cannot be those of one operator.
fn contradictory(graph: &Graph, node: &Node) -> Option<[Vec<u32>; 2]> {
    let shape = |id: &TensorId| &graph.tensor(*id).shape;
    let elements = |shape: &[u32]| {
        let extents = shape.iter().map(|&extent| u64::from(extent));
        extents.fold(1, u64::saturating_mul)
    };
    let batch = |shape: &[u32]| u64::from(shape.first().copied().unwrap_or(1));
    // Of a transposed convolution the first operand is the output's shape.
    let first = usize::from(node.kind == Kind::TransposeConv) * 2;
    let (input, output) = (shape(node.inputs.get(first)?), shape(node.outputs.first()?));
    let [from, to] = [input, output].map(|shape| elements(shape));
    let agrees = match node.kind {
        Kind::AveragePool2d
        | Kind::Conv2d
        | Kind::DepthToSpace
        | Kind::DepthwiseConv2d
        | Kind::MaxPool2d
        | Kind::ResizeBilinear
        | Kind::ResizeNearestNeighbor
        | Kind::SpaceToDepth
        | Kind::TransposeConv => batch(input) == batch(output),
        Kind::FullyConnected => {
            let filter = shape(node.inputs.get(1)?);
            let &[outputs, inputs] = filter.as_slice() else {
                return None;
            };
            from.saturating_mul(outputs.into()) == to.saturating_mul(inputs.into())
        }
        Kind::SpaceToBatchNd => from <= to,
        Kind::BatchToSpaceNd => from >= to,
        Kind::Transpose => from == to,
        _ if node.kind.keeps_bytes() || node.kind.is_unary() => from == to,
        _ => true,
    };
    (!agrees).then(|| [input.clone(), output.clone()])
}
