//! The two orders in which Blacker et al. run a connected graph (section IV), by their names
//! only: the paper does not say more of them.

use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::schedule::dataflow::Dataflow;
use dmo_analysis::schedule::{CountedEnds, ScheduleError};

/// Each operator as soon as it can run: those that need none first, then those that need
/// these only, and so on (breadth first). Of equal ones the first in the file.
///
/// # Errors
/// Those of [`Dataflow::new`].
pub fn eager(graph: &Graph) -> Result<Vec<OperatorId>, ScheduleError> {
    let flow = Dataflow::new(graph, CountedEnds::default())?;
    let mut levels: Vec<usize> = Vec::with_capacity(flow.operators.len());
    for operator in &flow.operators {
        // Predecessors are earlier in the file.
        let needed = operator
            .predecessors
            .iter()
            .map(|other| levels[other.0] + 1);
        levels.push(needed.max().unwrap_or(0));
    }
    let mut order = graph.file_order();
    order.sort_by_key(|operator| levels[operator.0]);
    Ok(order)
}

/// Each operator not before it is needed: backwards from the graph's outputs, of an operator's
/// inputs the first one first (depth first). What no output needs comes last.
///
/// # Errors
/// Those of [`Dataflow::new`].
pub fn lazy(graph: &Graph) -> Result<Vec<OperatorId>, ScheduleError> {
    let flow = Dataflow::new(graph, CountedEnds::default())?;
    let producer = |id: &TensorId| flow.tensor(*id).producer;
    let mut order = Vec::with_capacity(flow.operators.len());
    let mut visited = vec![false; flow.operators.len()];
    let wanted = graph.outputs.iter().filter_map(producer);
    for root in wanted.chain(graph.file_order()) {
        // An operator is on the stack once to be opened and once to be run.
        let mut stack = vec![(root, false)];
        while let Some((operator, opened)) = stack.pop() {
            if opened {
                order.push(operator);
            } else if !std::mem::replace(&mut visited[operator.0], true) {
                stack.push((operator, true));
                let needed = flow.operator(operator);
                let inputs = needed.inputs.iter().filter_map(producer);
                let all = inputs.chain(needed.predecessors.iter().copied());
                let pending: Vec<OperatorId> = all.collect();
                stack.extend(pending.into_iter().rev().map(|other| (other, false)));
            }
        }
    }
    Ok(order)
}
