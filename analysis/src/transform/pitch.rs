//! Operators on tensors in pieces: views whose rows and pixels lie further apart than in a
//! tensor of their own.

use crate::graph::{Graph, GraphTensor, Node, TensorId};
use crate::operator::{Buffer, Operator, Pitch, Pitched, Shape};

/// The operator of a node that touches views with gaps; none of one that touches none.
///
/// # Errors
/// When there is no such operator.
pub(super) fn pitched(graph: &Graph, node: &Node) -> Result<Option<Operator>, ()> {
    let has_gaps = |id: &&TensorId| gaps(graph, **id).is_some();
    let touched = node.inputs.iter().chain(&node.outputs);
    let gapped: Vec<TensorId> = touched.filter(has_gaps).copied().collect();
    if gapped.is_empty() {
        return Ok(None);
    }
    let kernel = node.kernel.as_ref().ok_or(())?;
    if graph.has_packed_weights(node) {
        return Err(());
    }
    let types = gapped.iter().map(|&id| graph.tensor(id).element_type);
    if !types
        .into_iter()
        .all(|element_type| node.kind.has_pitched_kernel(element_type))
    {
        return Err(());
    }
    let is_known = |id: &TensorId| kernel.inputs.contains(id) || kernel.outputs.contains(id);
    let dense = kernel.operator.buffers().map_err(|_| ())?;
    if !gapped.iter().all(is_known)
        || dense.inputs.len() != kernel.inputs.len()
        || dense.outputs.len() != kernel.outputs.len()
    {
        return Err(());
    }
    let shape = match &kernel.operator {
        Operator::Elementwise(_) => Some(shape(graph.tensor(gapped[0])).ok_or(())?),
        _ => None,
    };
    let pitches = |ids: &[TensorId], buffers: &[Buffer]| -> Result<Vec<Option<Pitch>>, ()> {
        let pitch = |(&id, buffer): (&TensorId, &Buffer)| {
            let Some(pitch) = gaps(graph, id) else {
                return Ok(None);
            };
            // The operator knows the tensor by the shape that its rows and pixels have.
            if self::shape(graph.tensor(id)) != Some(shape.unwrap_or(buffer.shape)) {
                return Err(());
            }
            in_elements(pitch, buffer.element_bytes).map(Some).ok_or(())
        };
        ids.iter().zip(buffers).map(pitch).collect()
    };
    let operator = Operator::Pitched(Pitched {
        operator: Box::new(kernel.operator.clone()),
        shape,
        inputs: pitches(&kernel.inputs, &dense.inputs)?,
        outputs: pitches(&kernel.outputs, &dense.outputs)?,
    });
    let reach = operator.buffers().map_err(|_| ())?;
    let of = |ids: &[TensorId], buffers: &[Buffer]| {
        let mut pairs = ids.iter().zip(buffers);
        pairs.all(|(&id, buffer)| graph.tensor(id).size_bytes == u64::from(buffer.size_bytes()))
    };
    let fits = of(&kernel.inputs, &reach.inputs) && of(&kernel.outputs, &reach.outputs);
    fits.then_some(Some(operator)).ok_or(())
}

fn gaps(graph: &Graph, id: TensorId) -> Option<[u64; 2]> {
    graph.views.get(&id)?.pitch_bytes
}

fn shape(tensor: &GraphTensor) -> Option<Shape> {
    tensor.shape.as_slice().try_into().ok()
}

fn in_elements(pitch: [u64; 2], element_bytes: u32) -> Option<Pitch> {
    let bytes = u64::from(element_bytes);
    let elements = |distance: u64| {
        let whole = distance.is_multiple_of(bytes);
        u32::try_from(distance / bytes).ok().filter(|_| whole)
    };
    Some(Pitch {
        row: elements(pitch[0])?,
        pixel: elements(pitch[1])?,
    })
}
