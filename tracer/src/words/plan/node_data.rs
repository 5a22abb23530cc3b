//! A plan as node data for Model Explorer (<https://github.com/google-ai-edge/model-explorer>), which
//! writes them on the operators of the model that it shows: one file for each number.

use crate::study::plan::Planned;
use dmo_analysis::graph::overlaps::Sharing;
use dmo_analysis::graph::{OperatorId, TensorId};
use rangemap::RangeSet;
use serde::Serialize;
use std::collections::BTreeMap;

/// Model Explorer's `GraphNodeData`: a number for each operator.
#[derive(Debug, Serialize)]
pub struct NodeData {
    /// The file's name, without its extension.
    #[serde(skip)]
    pub file: &'static str,
    name: &'static str,
    /// By the name of the operator's first output.
    results: BTreeMap<String, Value>,
    /// White for the least, orange for the most.
    gradient: [Stop; 2],
}

#[derive(Debug, Serialize)]
struct Value {
    value: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Stop {
    stop: u8,
    bg_color: &'static str,
}

/// What is known of an operator of a plan, in bytes.
type Number = fn(&Planned, usize, OperatorId) -> Option<u64>;

/// File, name and number.
const NUMBERS: [(&str, &str, Number); 4] = [
    (
        "arena_in_use",
        "arena in use (bytes)",
        |planned, step, _| Some(in_use(planned, step)),
    ),
    (
        "output_size",
        "size of the output (bytes)",
        |planned, _, operator| {
            let output = first_output(planned, operator)?;
            Some(planned.overlaps.graph.tensor(output).size_bytes)
        },
    ),
    (
        "output_offset",
        "offset of the output (bytes)",
        |planned, _, operator| {
            let output = first_output(planned, operator)?;
            let mut tensors = planned.file.tensors.iter();
            Some(tensors.find(|it| it.tensor == output)?.offset)
        },
    ),
    ("safe_overlap", "O_s (bytes)", |planned, _, operator| {
        Some(safe_overlap(planned, operator))
    }),
];

/// The numbers of a plan. Operators without an output are left out.
pub fn node_data(planned: &Planned) -> Vec<NodeData> {
    let of = |(file, name, number): (&'static str, &'static str, Number)| NodeData {
        file,
        name,
        results: results(planned, number),
        gradient: [(0, "#ffffff"), (1, "#e69f00")].map(|(stop, bg_color)| Stop { stop, bg_color }),
    };
    NUMBERS.map(of).into()
}

fn results(planned: &Planned, number: Number) -> BTreeMap<String, Value> {
    let steps = planned.plan.order.iter().enumerate();
    let results = steps.filter_map(|(step, &operator)| {
        let output = first_output(planned, operator)?;
        let name = planned.overlaps.graph.tensor(output).name.clone();
        let value = number(planned, step, operator)?;
        Some((name, Value { value }))
    });
    results.collect()
}

fn first_output(planned: &Planned, operator: OperatorId) -> Option<TensorId> {
    let node = planned.overlaps.graph.operators.get(operator.0)?;
    node.outputs.first().copied()
}

/// Bytes of the arena that hold something while the operator at this position of the order runs.
fn in_use(planned: &Planned, step: usize) -> u64 {
    let problem = &planned.plan.arena.problem;
    let buffers = problem.buffers().iter().zip(&planned.plan.plan.offsets);
    // The inputs are stored in step 0.
    let step = u32::try_from(step + 1).unwrap_or(u32::MAX);
    let alive = buffers.filter(|(buffer, _)| buffer.alive.contains(&step));
    let bytes = alive.map(|(buffer, &offset)| offset..offset + buffer.size_bytes);
    let bytes: RangeSet<u64> = bytes.collect();
    bytes.iter().map(|range| range.end - range.start).sum()
}

/// O_s of the operator's pair with the most; 0 where its outputs have to lie apart from its inputs.
fn safe_overlap(planned: &Planned, operator: OperatorId) -> u64 {
    let pairs = planned.overlaps.overlaps.get(operator.0);
    let of_pair = pairs.into_iter().flatten().map(|pair| {
        let size = |id: TensorId| planned.overlaps.graph.tensor(id).size_bytes;
        match pair.sharing {
            Sharing::Alias => size(pair.input).min(size(pair.output)),
            Sharing::Displaced(least) => size(pair.output).saturating_sub(least),
        }
    });
    of_pair.max().unwrap_or(0)
}
