//! A whole network on its plan: clean, and not so with one overlap a byte larger.

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{Sharing, analytic};
use dmo_analysis::graph::zoo::{Element, find};
use dmo_analysis::graph::{Graph, Node, TensorId};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::replay::{Alive, BufferPlace, Replay, ReplayReport, ReplayStep, alive};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Span, Tensor, TraceSink,
};
use dmo_analysis::verify::{Occupant, Positions, clashes};
use dmo_planner::budget::Budget;

/// Replays the accesses of the reference kernels' loops.
fn replay(graph: &Graph, node: &Node, offsets: &[Option<u64>], alive: &Alive) -> ReplayReport {
    let inputs = graph
        .arena_inputs(node)
        .into_iter()
        .map(|id| (Role::Input, id));
    let outputs = graph
        .arena_outputs(node)
        .into_iter()
        .map(|id| (Role::Output, id));
    let all: Vec<(Role, TensorId)> = inputs.chain(outputs).collect();
    let mut address = 0x2000_0000;
    let tensors = all.iter().map(|&(role, id)| {
        let size_bytes = graph.tensor(id).size_bytes as u32;
        address += size_bytes;
        Tensor {
            name: format!("t{}", id.0),
            role,
            address: Address(address - size_bytes),
            size_bytes,
            element_type: ElementType::Int8,
        }
    });
    let layer = Layer {
        span: Span::Layer,
        name: node.kind.to_string(),
        operator: node.kind.to_string(),
        tensors: tensors.collect(),
    };
    let place = |&(_, id): &(Role, TensorId)| {
        Some(BufferPlace::whole(Occupant::Tensor(id), offsets[id.0]?))
    };
    let places: Vec<Option<BufferPlace>> = all.iter().map(place).collect();
    let step = ReplayStep {
        places: &places,
        before: &alive.before,
        after: &alive.after,
    };
    let mut replay = Replay::new(&layer, &step, 10).unwrap();
    let kernel = node.kernel.as_ref().unwrap();
    let buffers = kernel.operator.buffers().unwrap();
    let mut time = 0;
    replay.begin_layer(&layer, time);
    let access = |kind, index: usize, position: u32| {
        let (id, buffer) = match kind {
            AccessKind::Load => (kernel.inputs[index], buffers.inputs[index]),
            AccessKind::Store => (kernel.outputs[index], buffers.outputs[index]),
        };
        if let Some(tensor) = all.iter().position(|&(_, other)| other == id) {
            time += 1;
            replay.events(&[Event {
                time,
                pc: Address(0x800_0000),
                offset: position * buffer.element_bytes,
                tensor: tensor as u16,
                size_bytes: buffer.element_bytes as u8,
                kind,
            }]);
        }
    };
    kernel.operator.accesses(access).unwrap();
    replay.end_layer(time + 1);
    replay.finish()
}

fn positions(offsets: &[Option<u64>]) -> Positions<'_> {
    Positions {
        tensors: offsets,
        scratch: &[],
        keep_inputs: false,
    }
}

#[test]
fn a_planned_network_is_clean_and_a_byte_less_is_not() {
    let graph = find("mobilenet_v1_0.25_128").unwrap().build(Element::Int8);
    let overlaps = analytic(&graph);
    let task = Task {
        graph: &graph,
        overlaps: &overlaps,
        layout: Layout::default(),
        reorder: false,
        fixed: &[],
    };
    let planned = optimise(task, &mut Budget::of_seconds(0.3), &mut |_| {}).unwrap();
    let (order, offsets) = (&planned.order, planned.arena.tensor_offsets(&planned.plan));
    let clashing = |offsets: &[Option<u64>]| {
        let found = clashes(&graph, order, &overlaps, positions(offsets), 100).unwrap();
        !found.is_empty()
    };
    assert!(!clashing(&offsets));
    let steps = alive(&graph, order, positions(&offsets)).unwrap();
    let mut moved_pairs = 0;
    for (step, operator) in order.iter().enumerate() {
        let node = &graph.operators[operator.0];
        let report = replay(&graph, node, &offsets, &steps[step]);
        assert!(report.is_clean(), "{node:?}: {report:?}");
        for pair in &overlaps[operator.0] {
            let (Some(input), Some(output)) = (offsets[pair.input.0], offsets[pair.output.0])
            else {
                continue;
            };
            let Sharing::Displaced(least) = pair.sharing else {
                continue;
            };
            if least == 0 || input != output + least {
                continue;
            }
            let mut moved = offsets.clone();
            moved[pair.input.0] = Some(input - 1);
            let steps = alive(&graph, order, positions(&moved)).unwrap();
            let report = replay(&graph, node, &moved, &steps[step]);
            assert!(!report.is_clean(), "{node:?}");
            assert!(clashing(&moved));
            let needed = report.findings[0].needed_displacement;
            assert_eq!(needed, Some(least), "{node:?}");
            moved_pairs += 1;
        }
    }
    assert!(moved_pairs >= 1, "{moved_pairs}");
}
