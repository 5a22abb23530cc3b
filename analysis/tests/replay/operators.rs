//! Operators of the reference kernels, replayed at every displacement.

use crate::shapes;
use dmo_analysis::graph::overlaps::{SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, GraphTensor, Node, OperatorId, Storage, TensorId, TensorType};
use dmo_analysis::operator::Operator;
use dmo_analysis::profile::overlap::{
    Access, ComparisonBudget, SafeDisplacements, Sweep, safe_displacements,
};
use dmo_analysis::replay::{BufferPlace, FindingKind, Replay, ReplayReport, ReplayStep, alive};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Span, Tensor, TraceSink,
};
use dmo_analysis::verify::{Occupant, Positions, clashes};
use proptest::prelude::*;
use std::fmt::Debug;

/// An operator as a graph of one node, and its trace with all buffers apart.
struct Traced {
    graph: Graph,
    layer: Layer,
    events: Vec<Event>,
    inputs: usize,
}

impl Traced {
    fn of(operator: &Operator) -> Self {
        let buffers = operator.buffers().unwrap();
        let inputs = buffers.inputs.len();
        let all: Vec<_> = buffers.inputs.iter().chain(&buffers.outputs).collect();
        let sizes: Vec<u32> = all.iter().map(|buffer| buffer.size_bytes()).collect();
        let mut events = Vec::new();
        operator
            .accesses(|kind, index, position| {
                let tensor = match kind {
                    AccessKind::Load => index,
                    AccessKind::Store => inputs + index,
                };
                let size = all[tensor].element_bytes;
                events.push(Event {
                    time: events.len() as u64 + 1,
                    pc: Address(0x800_0000 + 2 * tensor as u32),
                    offset: position * size,
                    tensor: tensor as u16,
                    size_bytes: size as u8,
                    kind,
                });
            })
            .unwrap();
        Self::new(&sizes, inputs, events)
    }

    /// Of buffers of these sizes, the inputs first.
    fn new(sizes: &[u32], inputs: usize, events: Vec<Event>) -> Self {
        let mut address = 0x2000_0000;
        let tensors = sizes.iter().enumerate().map(|(index, &size_bytes)| {
            let role = if index < inputs {
                Role::Input
            } else {
                Role::Output
            };
            address += size_bytes;
            Tensor {
                name: format!("t{index}"),
                role,
                address: Address(address - size_bytes),
                size_bytes,
                element_type: ElementType::Int8,
            }
        });
        let layer = Layer {
            span: Span::Layer,
            name: "one".into(),
            operator: "one".into(),
            tensors: tensors.collect(),
        };
        let tensors = layer.tensors.iter().map(|tensor| GraphTensor {
            name: tensor.name.clone(),
            shape: vec![tensor.size_bytes],
            element_type: TensorType::Int8,
            size_bytes: u64::from(tensor.size_bytes),
            storage: Storage::Arena,
        });
        let ids = |range: std::ops::Range<usize>| range.map(TensorId).collect::<Vec<_>>();
        let graph = Graph {
            name: "one".into(),
            tensors: tensors.collect(),
            operators: vec![Node {
                kind: "ONE".into(),
                inputs: ids(0..inputs),
                outputs: ids(inputs..sizes.len()),
                kernel: None,
                scratch_bytes: Vec::new(),
            }],
            inputs: ids(0..inputs),
            outputs: ids(inputs..sizes.len()),
            ..Graph::default()
        };
        Self {
            graph,
            layer,
            events,
            inputs,
        }
    }

    /// Loads and stores of one pair: all displacements, and the least one that is safe with
    /// all larger ones.
    fn displacements(&self, input: usize, output: usize) -> (SafeDisplacements, u32) {
        let size = |tensor: usize| self.layer.tensors[tensor].size_bytes as usize;
        let mut last_load = vec![0; size(input)];
        let mut first_store = vec![u64::MAX; size(output)];
        let mut sweep = Sweep::default();
        for event in &self.events {
            let access = Access {
                pc: event.pc,
                time: event.time,
                offset: event.offset,
                size_bytes: u32::from(event.size_bytes),
            };
            let bytes = event.offset as usize..event.end() as usize;
            if usize::from(event.tensor) == input {
                sweep.load(access);
                last_load[bytes].fill(event.time);
            } else if usize::from(event.tensor) == output {
                sweep.store(access);
                for first in &mut first_store[bytes] {
                    *first = event.time.min(*first);
                }
            }
        }
        let budget = &mut ComparisonBudget::default();
        let all = safe_displacements(&last_load, &first_store, sweep.unsafe_bounds(), budget);
        assert!(all.complete);
        (all, sweep.displacement())
    }

    /// The input so far above the output, all else apart.
    fn offsets(&self, input: usize, output: usize, displacement: i64) -> Vec<Option<u64>> {
        let size = |tensor: usize| u64::from(self.layer.tensors[tensor].size_bytes);
        let base = size(input) as i64;
        let mut free = (base + size(output) as i64) as u64 + size(input) + 1;
        let offset = |tensor: usize| {
            if tensor == output {
                return Some(base as u64);
            }
            if tensor == input {
                return Some((base + displacement) as u64);
            }
            free += size(tensor);
            Some(free - size(tensor))
        };
        (0..self.layer.tensors.len()).map(offset).collect()
    }

    fn positions<'a>(&self, offsets: &'a [Option<u64>]) -> Positions<'a> {
        Positions {
            tensors: offsets,
            scratch: &[],
            keep_inputs: false,
        }
    }

    fn replay(&self, offsets: &[Option<u64>]) -> ReplayReport {
        let steps = alive(&self.graph, &[OperatorId(0)], self.positions(offsets)).unwrap();
        let places: Vec<Option<BufferPlace>> = (0..offsets.len())
            .map(|index| {
                let occupant = Occupant::Tensor(TensorId(index));
                Some(BufferPlace::whole(occupant, offsets[index]?))
            })
            .collect();
        let step = ReplayStep {
            places: &places,
            before: &steps[0].before,
            after: &steps[0].after,
        };
        let mut replay = Replay::new(&self.layer, &step, 20).unwrap();
        replay.begin_layer(&self.layer, 0);
        replay.events(&self.events);
        replay.end_layer(self.events.len() as u64 + 1);
        replay.finish()
    }
}

fn contains(safe: &SafeDisplacements, displacement: i64) -> bool {
    safe.ranges.iter().any(|range| {
        range.from.is_none_or(|from| from <= displacement)
            && range.to.is_none_or(|to| displacement < to)
    })
}

/// Replays every pair of the operator at every displacement at which the two touch. Gives the
/// number of holes met: safe displacements below the one that is safe with all larger ones.
fn check(traced: &Traced, operator: &dyn Debug) -> u32 {
    let mut holes = 0;
    let pairs = (0..traced.inputs)
        .flat_map(|input| (traced.inputs..traced.layer.tensors.len()).map(move |o| (input, o)));
    for (input, output) in pairs {
        let (safe, least) = traced.displacements(input, output);
        let size = |tensor: usize| i64::from(traced.layer.tensors[tensor].size_bytes);
        let sharing = vec![vec![SafeOverlap {
            input: TensorId(input),
            output: TensorId(output),
            sharing: Sharing::Displaced(u64::from(least)),
        }]];
        let apart = traced.replay(&traced.offsets(input, output, size(output)));
        // What makes even the layout without overlaps unclean is no matter of displacements.
        let apart: Vec<FindingKind> = apart.findings.iter().map(|found| found.kind).collect();
        for displacement in -size(input)..=size(output) {
            let offsets = traced.offsets(input, output, displacement);
            let report = traced.replay(&offsets);
            let harmless = report
                .findings
                .iter()
                .all(|found| apart.contains(&found.kind));
            let is_safe = contains(&safe, displacement);
            assert_eq!(
                harmless, is_safe,
                "{operator:?} at {displacement}: {report:?}"
            );
            let positions = traced.positions(&offsets);
            let clashing = clashes(&traced.graph, &[OperatorId(0)], &sharing, positions, 1);
            let clashing = !clashing.unwrap().is_empty();
            assert!(harmless || clashing, "{operator:?} at {displacement}");
            let shared = displacement > -size(input) && displacement < size(output);
            holes += u32::from(shared && harmless && displacement < i64::from(least));
            if displacement >= 0 && displacement + 1 == i64::from(least) && !harmless {
                assert!(clashing);
                let found = report.findings.iter();
                let clobber = found
                    .clone()
                    .find(|found| found.kind == FindingKind::Clobber);
                let clobber = clobber.unwrap();
                assert_eq!(clobber.displacement, Some(displacement));
                assert_eq!(clobber.needed_displacement, Some(u64::from(least)));
            }
        }
    }
    holes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Replay is clean at exactly the safe displacements, and the geometric check allows none
    /// at which it is not.
    #[test]
    fn replay_agrees_with_the_safe_displacements(operator in shapes::operator()) {
        let traced = Traced::of(&operator);
        let bytes: u64 = traced.layer.tensors.iter().map(|t| u64::from(t.size_bytes)).sum();
        // Each displacement is a replay.
        prop_assume!(bytes * traced.events.len() as u64 <= 20_000_000);
        check(&traced, &operator);
    }
}

/// A convolution 1x1 whose outer loop is over its groups: each walks upwards through its own
/// bytes of all pixels, so that some displacements put no group's outputs on another's inputs.
fn groups_outermost(groups: u32, depth: u32, pixels: u32) -> Traced {
    let size = groups * depth * pixels;
    let mut accesses = Vec::new();
    for (group, pixel) in (0..groups).flat_map(|group| (0..pixels).map(move |at| (group, at))) {
        let first = (pixel * groups + group) * depth;
        accesses.extend((0..depth).map(|channel| (0, first + channel)));
        accesses.extend((0..depth).map(|channel| (1, first + channel)));
    }
    let event = |((tensor, offset), time): ((u16, u32), u64)| Event {
        time,
        pc: Address(0x800_0000 + 2 * u32::from(tensor)),
        offset,
        tensor,
        size_bytes: 1,
        kind: match tensor {
            0 => AccessKind::Load,
            _ => AccessKind::Store,
        },
    };
    Traced::new(
        &[size, size],
        1,
        accesses.into_iter().zip(1..).map(event).collect(),
    )
}

/// Grouped convolution has safe displacements between unsafe ones.
#[test]
fn replay_knows_the_holes_of_grouped_convolution() {
    // Bytes 0, 2 and 4 of displacement are safe, and all from 6 on.
    assert_eq!(check(&groups_outermost(2, 1, 4), &"grouped"), 3);
    for (groups, depth, pixels) in [(2, 4, 9), (3, 2, 7), (4, 4, 4), (8, 1, 5)] {
        assert!(check(&groups_outermost(groups, depth, pixels), &"grouped") > 1);
    }
}
