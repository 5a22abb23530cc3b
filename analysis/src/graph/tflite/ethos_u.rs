//! The memory of Arm's Ethos-U accelerators.
//!
//! Vela, Arm's compiler, makes custom operators named `ethos-u` of the parts of a model that the
//! accelerator runs. The driver (tflite-micro, `kernels/ethos_u/ethosu.cc`) hands over the address
//! of a scratch tensor, the operator's third input; the accelerator reaches the operator's inputs
//! and outputs within that tensor, at the distances that they have in the plan that the model
//! carries, wherever the runtime has put them. So they are views of it. What the accelerator does
//! with the bytes of the scratch tensor is Vela's affair.

use super::{Model, TfliteError};
use crate::graph::{Graph, OperatorId, TensorId, TensorView};
use std::collections::BTreeMap;

const NAME: &str = "CUSTOM:ethos-u";
/// Which of its inputs are the scratch tensor, and one in faster memory, of which the accelerator
/// is given the address as well.
const SCRATCH: usize = 2;
const FAST_SCRATCH: usize = 3;

/// An operator that the accelerator runs, with its inputs as the file has them.
#[derive(Debug)]
pub(super) struct Accelerated {
    operator: OperatorId,
    inputs: Vec<Option<TensorId>>,
}

impl Accelerated {
    pub(super) fn of(
        kind: &str,
        operator: OperatorId,
        inputs: &[Option<TensorId>],
    ) -> Option<Self> {
        (kind == NAME).then(|| Self {
            operator,
            inputs: inputs.to_vec(),
        })
    }

    /// Whether it is the memory in faster memory, and has no bytes: Vela's sign that there is none.
    pub(super) fn is_absent(&self, id: TensorId, graph: &Graph) -> bool {
        self.inputs.get(FAST_SCRATCH) == Some(&Some(id)) && graph.tensor(id).shape == [0]
    }
}

/// Makes views of the tensors that the accelerator finds in its scratch tensors.
///
/// # Errors
/// When the model carries no plan that says where they lie there.
pub(super) fn add_views(
    model: &mut Model,
    subgraph: usize,
    operators: &[Accelerated],
    file: &[u8],
) -> Result<(), TfliteError> {
    if operators.is_empty() {
        return Ok(());
    }
    let plan = model.offline_plan(file)?;
    let plan = plan.filter(|_| subgraph == 0);
    let offsets = plan.map_or_else(Vec::new, |plan| plan.offsets);
    let graph = &mut model.graphs[subgraph];
    for accelerated in operators {
        let views = views(graph, accelerated, &offsets);
        let views = views.map_err(|problem| {
            let operator = accelerated.operator.0;
            TfliteError::Plan(format!(
                "operator {operator} {NAME} of subgraph {subgraph}: {problem}; where its inputs and \
                 outputs lie is not known, and no other place would be right"
            ))
        })?;
        for (id, view) in views {
            if graph
                .views
                .insert(id, view)
                .is_some_and(|known| known != view)
            {
                let name = &graph.tensor(id).name;
                return Err(TfliteError::Plan(format!(
                    "tensor {} {name:?} lies in the scratch tensors of two operators {NAME}, which is \
                     not supported",
                    id.0
                )));
            }
        }
    }
    Ok(())
}

fn views(
    graph: &Graph,
    accelerated: &Accelerated,
    offsets: &[i32],
) -> Result<BTreeMap<TensorId, TensorView>, String> {
    let offset = |id: TensorId| {
        let given = offsets
            .get(id.0)
            .and_then(|&given| u64::try_from(given).ok());
        given.ok_or_else(|| format!("the model carries no offset of its tensor {}", id.0))
    };
    let input = |index: usize| accelerated.inputs.get(index).copied().flatten();
    let scratch = input(SCRATCH).filter(|&id| graph.in_arena(id));
    let scratch = scratch.ok_or("it has no scratch tensor as its third input")?;
    let start = offset(scratch)?;
    let node = &graph.operators[accelerated.operator.0];
    let touched = [graph.arena_inputs(node), graph.arena_outputs(node)].concat();
    let mut views = BTreeMap::new();
    let has_bytes = |id: &TensorId| graph.tensor(*id).size_bytes > 0;
    for id in touched
        .into_iter()
        .filter(|&id| id != scratch)
        .filter(has_bytes)
    {
        let within = offset(id)?.checked_sub(start);
        let end = within.and_then(|within| within.checked_add(graph.tensor(id).size_bytes));
        let is_inside = end.is_some_and(|end| end <= graph.tensor(scratch).size_bytes);
        match within.filter(|_| is_inside) {
            Some(offset_bytes) => {
                let view = TensorView {
                    of: scratch,
                    offset_bytes,
                    pitch_bytes: None,
                };
                views.insert(id, view);
            }
            // It has an address of its own.
            None if Some(id) == input(FAST_SCRATCH) => {}
            None => {
                return Err(format!(
                    "its tensor {} lies outside of its scratch tensor in the plan that the model \
                     carries",
                    id.0
                ));
            }
        }
    }
    Ok(views)
}
