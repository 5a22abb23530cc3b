//! The check of layouts against running the graph on bytes, and against the planner's own
//! idea of what is safe.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "schedule/graphs.rs"]
mod graphs;
#[path = "verify/machine.rs"]
mod machine;

use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::overlaps::{Overlaps, SafeOverlap, Sharing, none};
use dmo_analysis::graph::{Graph, OperatorId, Storage};
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::verify::{Positions, clashes};
use dmo_planner::budget::Budget;
use dmo_planner::plan::Plan;
use graphs::Random;
use machine::{clobbers, clobbers_of_pair};

type Offsets = Vec<Option<u64>>;
type Scratch = Vec<(OperatorId, u64, u64)>;

fn small(random: &mut Random) -> (Graph, Overlaps) {
    let mut graph = graphs::any(random, 5);
    for tensor in &mut graph.tensors {
        tensor.size_bytes %= 8;
    }
    let overlaps = graphs::overlaps(&graph, random);
    (graph, overlaps)
}

fn layout_of(graph: &Graph, arena: &Arena, plan: &Plan) -> (Offsets, Scratch) {
    let scratch = arena.scratch.iter().map(|scratch| {
        let bytes = graph.operators[scratch.operator.0].scratch_bytes[scratch.index];
        (scratch.operator, plan.offsets[scratch.buffer], bytes)
    });
    (arena.tensor_offsets(plan), scratch.collect())
}

fn is_safe(
    graph: &Graph,
    order: &[OperatorId],
    overlaps: &Overlaps,
    (tensors, scratch): &(Offsets, Scratch),
) -> bool {
    let positions = Positions {
        tensors,
        scratch,
        keep_inputs: false,
    };
    let found = clashes(graph, order, overlaps, positions, 1).unwrap();
    found.is_empty()
}

fn planned(graph: &Graph, overlaps: &Overlaps) -> ModelPlan {
    let task = Task {
        graph,
        overlaps,
        layout: Layout::default(),
        reorder: true,
        fixed: &[],
    };
    optimise(task, &mut Budget::of_seconds(0.02), &mut |_| {}).unwrap()
}

/// What is called safe computes what it should, on plans and on plans with some tensors
/// moved, even where kernels read as late as they may.
#[test]
fn a_safe_layout_loses_no_byte() {
    let mut random = Random(1);
    let (mut safe, mut unsafe_layouts, mut lost) = (0, 0, 0);
    for _ in 0..3000 {
        let (graph, overlaps) = small(&mut random);
        let planned = planned(&graph, &overlaps);
        let order = &planned.order;
        let first = layout_of(&graph, &planned.arena, &planned.plan);
        assert!(is_safe(&graph, order, &overlaps, &first));
        assert!(!clobbers(&graph, order, &overlaps, &first.0, &first.1));
        for _ in 0..8 {
            let mut moved = first.clone();
            for offset in moved.0.iter_mut().flatten() {
                if random.one_in(3) {
                    *offset = random.below(planned.arena_bytes + 1);
                }
            }
            let clobbers = clobbers(&graph, order, &overlaps, &moved.0, &moved.1);
            if is_safe(&graph, order, &overlaps, &moved) {
                safe += 1;
                assert!(!clobbers, "{graph:?} {order:?} {overlaps:?} {moved:?}");
            } else {
                unsafe_layouts += 1;
                lost += u32::from(clobbers);
            }
        }
    }
    // Else nothing was tried.
    assert!(safe > 1500, "{safe} safe");
    // Not all: what is lost may be what nothing reads.
    assert!(2 * lost > unsafe_layouts, "{lost} of {unsafe_layouts}");
}

/// One byte below the limit of an overlap that a plan uses is reported, and does damage.
#[test]
fn one_byte_too_close_is_reported() {
    let mut random = Random(2);
    let mut moved = 0;
    for _ in 0..3000 {
        let (graph, overlaps) = small(&mut random);
        let planned = planned(&graph, &overlaps);
        let order = &planned.order;
        let layout = layout_of(&graph, &planned.arena, &planned.plan);
        for (operator, pair) in pairs(&overlaps) {
            let SafeOverlap { input, output, .. } = pair;
            let (Some(at), Some(lower)) = (layout.0[input.0], layout.0[output.0]) else {
                continue;
            };
            let sizes = [input, output].map(|id| graph.tensor(id).size_bytes);
            let shares = at < lower + sizes[1] && lower < at + sizes[0];
            if !shares {
                continue;
            }
            let mut too_close = layout.clone();
            match pair.sharing {
                // It lies at the same byte: nowhere else where they share.
                Sharing::Alias => {
                    for offset in 0..at + sizes[0] {
                        let shares = offset < lower + sizes[1] && lower < offset + sizes[0];
                        if offset != at && shares {
                            too_close.0[input.0] = Some(offset);
                            assert!(!is_safe(&graph, order, &overlaps, &too_close));
                            moved += 1;
                        }
                    }
                }
                Sharing::Displaced(least) if least > 0 => {
                    too_close.0[input.0] = Some(lower + least - 1);
                    assert!(
                        !is_safe(&graph, order, &overlaps, &too_close),
                        "{graph:?} {order:?} {overlaps:?} {layout:?} {pair:?}"
                    );
                    assert!(clobbers_of_pair(&graph, operator, pair, least - 1));
                    assert!(!clobbers_of_pair(&graph, operator, pair, least));
                    moved += 1;
                }
                Sharing::Displaced(_) => {}
            }
        }
    }
    assert!(moved > 400, "{moved}");
}

fn pairs(overlaps: &Overlaps) -> impl Iterator<Item = (OperatorId, SafeOverlap)> + '_ {
    let operators = overlaps.iter().enumerate();
    operators
        .flat_map(|(operator, pairs)| pairs.iter().map(move |&pair| (OperatorId(operator), pair)))
}

/// The planner's rule and the witness agree on layouts at random, where no two tensors are
/// one buffer.
#[test]
fn the_planners_check_and_the_witness_agree() {
    let mut random = Random(3);
    let mut safe = 0;
    for _ in 0..4000 {
        let (mut graph, mut overlaps) = small(&mut random);
        // What is there without being stored has no time at which it was created.
        let written = |graph: &Graph, index: usize| {
            let mut nodes = graph.operators.iter();
            nodes.any(|node| node.outputs.iter().any(|id| id.0 == index))
        };
        for index in 0..graph.tensors.len() {
            let id = dmo_analysis::graph::TensorId(index);
            let given = !written(&graph, index) && graph.tensors[index].storage == Storage::Arena;
            if given && !graph.inputs.contains(&id) {
                graph.inputs.push(id);
            }
        }
        for pairs in &mut overlaps {
            pairs.retain(|pair| pair.sharing != Sharing::Alias);
        }
        let order = graph.file_order();
        let arena = Arena::new(&graph, &order, &overlaps, Layout::default()).unwrap();
        let start = planned(&graph, &overlaps);
        for _ in 0..10 {
            let offsets = arena
                .problem
                .buffers()
                .iter()
                .map(|_| random.below(start.arena_bytes + 1));
            let mut plan = Plan {
                offsets: offsets.collect(),
            };
            if random.one_in(2) && start.order == order {
                let moved = random.below(plan.offsets.len().max(1) as u64) as usize;
                let offset = plan.offsets.get(moved).copied();
                plan.offsets.clone_from(&start.plan.offsets);
                if let Some(offset) = offset {
                    plan.offsets[moved] = offset;
                }
            }
            let layout = layout_of(&graph, &arena, &plan);
            let valid = plan.check(&arena.problem).is_empty();
            let mut scratch = arena.scratch.iter();
            let aligned = scratch.all(|scratch| plan.offsets[scratch.buffer].is_multiple_of(4));
            assert_eq!(
                valid,
                aligned && is_safe(&graph, &order, &overlaps, &layout),
                "{graph:?} {overlaps:?} {plan:?}"
            );
            safe += u32::from(valid);
        }
    }
    assert!(safe > 2000, "{safe}");
}

#[test]
fn what_the_application_reads_is_not_overlapped() {
    let mut graph = Graph::default();
    let input = graphs::tensor(&mut graph, 4);
    let middle = graphs::operator(&mut graph, &[input], 4);
    let last = graphs::operator(&mut graph, &[middle], 4);
    graph.inputs = vec![input];
    graph.outputs = vec![middle, last];
    let mut overlaps = none(&graph);
    overlaps[1].push(SafeOverlap {
        input: middle,
        output: last,
        sharing: Sharing::Displaced(0),
    });
    let order = graph.file_order();
    let at = |last| (vec![Some(0), Some(4), Some(last)], Vec::new());
    assert!(!is_safe(&graph, &order, &overlaps, &at(4)));
    assert!(is_safe(&graph, &order, &overlaps, &at(0)));
    assert_eq!(planned(&graph, &overlaps).arena_bytes, 8);
}

/// No sum of offset and size may wrap, or stop at the largest number, and leave nothing to clash.
#[test]
fn buffers_at_the_end_of_all_numbers_clash() {
    let mut graph = Graph::default();
    let input = graphs::tensor(&mut graph, 4);
    let output = graphs::operator(&mut graph, &[input], 4);
    graph.inputs = vec![input];
    graph.outputs = vec![output];
    let (order, overlaps) = (graph.file_order(), none(&graph));
    for offset in [u64::MAX, u64::MAX - 2, u64::MAX - 4] {
        let layout = (vec![Some(offset), Some(offset)], Vec::new());
        assert!(!is_safe(&graph, &order, &overlaps, &layout), "{offset}");
    }
    let apart = (vec![Some(u64::MAX), Some(0)], Vec::new());
    assert!(is_safe(&graph, &order, &overlaps, &apart));
}
