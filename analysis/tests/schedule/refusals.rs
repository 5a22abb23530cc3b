//! Graphs and orders that make no sense.

use super::graphs::{self, node, operator, tensor};
use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId, overlaps};
use dmo_analysis::schedule::cost::Overlapped;
use dmo_analysis::schedule::dataflow::Dataflow;
use dmo_analysis::schedule::lifetime::{lifetimes, step_costs, working_sets};
use dmo_analysis::schedule::search::{Limits, search};
use dmo_analysis::schedule::{CountedEnds, ScheduleError};
use dmo_planner::budget::Budget;

fn refused(graph: &Graph) -> ScheduleError {
    Dataflow::new(graph, CountedEnds::default()).unwrap_err()
}

#[test]
fn graphs_that_make_no_sense_are_refused() {
    let mut graph = graphs::liberis_lane();
    graph.operators[2].inputs.push(TensorId(99));
    let error = refused(&graph).to_string();
    assert_eq!(
        error,
        "an input of operator 2 names tensor 99, but the graph has 8 tensors"
    );

    let mut graph = graphs::liberis_lane();
    graph.operators[3].outputs.push(TensorId(2));
    let error = ScheduleError::TwoProducers {
        tensor: TensorId(2),
        first: OperatorId(1),
        second: OperatorId(3),
    };
    assert_eq!(refused(&graph), error);

    let mut graph = graphs::liberis_lane();
    graph.operators.swap(1, 2);
    assert!(matches!(
        refused(&graph),
        ScheduleError::ReadBeforeWritten { .. }
    ));

    let mut graph = graphs::liberis_lane();
    graph.operators[4].outputs.push(TensorId(0));
    assert!(matches!(
        refused(&graph),
        ScheduleError::InputWritten { .. }
    ));

    let mut graph = Graph::default();
    let one = tensor(&mut graph, u64::MAX);
    let other = tensor(&mut graph, 1);
    node(&mut graph, &[], &[one, other]);
    assert_eq!(refused(&graph), ScheduleError::TooLarge);
}

#[test]
fn orders_of_other_graphs_are_refused() {
    let graph = graphs::liberis_lane();
    let error = |order: &[usize]| {
        let order: Vec<OperatorId> = order.iter().copied().map(OperatorId).collect();
        lifetimes(&graph, &order).unwrap_err().to_string()
    };
    assert_eq!(
        error(&[0, 1, 2]),
        "the order has 3 operators, expected 7 (each of the graph's once)"
    );
    assert_eq!(
        error(&[0, 7]),
        "step 1 runs operator 7, but the graph has 7 operators"
    );
    assert_eq!(
        error(&[0, 1, 0]),
        "operator 0 runs in step 0 and again in step 2"
    );
    assert_eq!(
        error(&[0, 2]),
        "operator 2 runs in step 1, before operator 1, which it depends on"
    );
    let given = Overlapped::new(&graph, &Vec::new(), CountedEnds::default()).unwrap_err();
    assert_eq!(
        given.to_string(),
        "overlaps are given for 0 operators, expected 7"
    );
}

/// A list of 18 million tensors is refused, their sums are not.
#[test]
fn working_sets_do_not_take_all_memory() {
    let mut graph = Graph::default();
    let outputs = (0..6000).map(|_| operator(&mut graph, &[], 1)).collect();
    graph.outputs = outputs;
    let order = graph.file_order();
    let error = working_sets(&graph, &order, CountedEnds::default()).unwrap_err();
    assert!(matches!(
        error,
        ScheduleError::TooManyTensors {
            given: 18_003_000,
            ..
        }
    ));
    let mut cost =
        Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
    let costs = step_costs(&graph, &order, CountedEnds::default(), &mut cost).unwrap();
    assert_eq!(costs.last(), Some(&6000));
}

#[test]
fn hidden_state_and_variables_keep_the_files_order() {
    let mut graph = Graph::default();
    let state = tensor(&mut graph, 10);
    graph.tensors[state.0].storage = Storage::Variable;
    operator(&mut graph, &[state], 1);
    operator(&mut graph, &[], 1);
    operator(&mut graph, &[state], 1);
    graph.operators[1].kind = "CALL_ONCE".into();
    operator(&mut graph, &[], 1);
    graph.operators[3].kind = "READ_VARIABLE".into();
    let flow = Dataflow::new(&graph, CountedEnds::default()).unwrap();
    assert_eq!(flow.operators[2].predecessors, [OperatorId(0)]);
    assert_eq!(flow.operators[3].predecessors, [OperatorId(1)]);
}

#[test]
fn a_graph_without_operators_has_an_empty_order() {
    let mut graph = Graph::default();
    let id = tensor(&mut graph, 10);
    graph.inputs.push(id);
    let mut cost =
        Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
    let limits = Limits::default();
    let found = search(
        &graph,
        CountedEnds::default(),
        &mut cost,
        limits,
        &mut Budget::of_seconds(10.0),
        &mut |_| {},
    )
    .unwrap();
    assert!(found.order.is_empty());
    assert_eq!(lifetimes(&graph, &[]).unwrap().first(), Some(&(0..1)));
}
