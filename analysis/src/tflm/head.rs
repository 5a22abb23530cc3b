//! The head of the arena: tensors and scratch buffers of all subgraphs, as the runtime plans them
//! (`micro_allocation_info.cc`).

use super::TflmError;
use crate::graph::tflite::Call;
use crate::graph::tflite::nodes::RawSubgraph;
use crate::graph::{Kind, OperatorId, Storage};
use dmo_planner::plan::tflm;
use dmo_planner::problem::{Buffer, MAX_TOTAL_BYTES, Problem};
use std::collections::{BTreeMap, BTreeSet};

/// The planned part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// To the end of what lies last, in bytes.
    pub bytes: u64,
    /// Number of buffers that are planned.
    pub buffers: u64,
    /// Offset of each tensor, those of all subgraphs one after the other; `None` if it is not
    /// planned.
    pub tensors: Vec<Option<u64>>,
    /// Offset of each scratch buffer of each operator, those of all subgraphs one after the other;
    /// `None` if it has no bytes.
    pub scratch: Vec<Vec<Option<u64>>>,
}

/// More operators than this are not followed through subgraphs that run one another.
const MOST_STEPS: usize = 1 << 20;
/// Subgraphs that run one another, at most.
const MOST_DEPTH: usize = 64;

const ENDLESS: TflmError = TflmError::Calls {
    depth: MOST_DEPTH,
    steps: MOST_STEPS,
};

/// What is planned. `scratch` are the sizes of the scratch buffers of the operators of all
/// subgraphs, one after the other.
pub(super) fn head(
    subgraphs: &[RawSubgraph],
    calls: &[Call],
    offsets: Option<&[i32]>,
    scratch: &[&[u64]],
) -> Result<Head, TflmError> {
    let mut lifetimes = Lifetimes::new(subgraphs, calls, scratch.len());
    lifetimes.run(0)?;
    let mut buffers = Vec::new();
    let mut add = |life: Life, bytes: u64, offset: Option<u64>| {
        buffers.push(life.buffer(bytes, offset));
        buffers.len() - 1
    };
    let handles = handles(subgraphs, &lifetimes.first_tensor);
    let mut buffer_of = Vec::new();
    let tensors = subgraphs.iter().flat_map(|it| &it.tensors);
    for (index, (tensor, &life)) in tensors.zip(&lifetimes.tensors).enumerate() {
        let offset = offsets.map(|offsets| offsets[index]);
        let offset = offset.and_then(|offset| u64::try_from(offset).ok());
        let is_planned = match tensor.storage {
            Storage::Arena => !handles.contains(&index),
            Storage::Variable => offset.is_some(),
            Storage::Constant | Storage::Application => false,
        };
        let is_planned = is_planned && tensor.size_bytes > 0;
        buffer_of.push(is_planned.then(|| add(life, tensor.size_bytes, offset)));
    }
    let mut empty = 0;
    let mut scratch_of = Vec::new();
    for (sizes, &life) in scratch.iter().zip(&lifetimes.operators) {
        let of_operator = sizes.iter().map(|&bytes| {
            empty += u64::from(bytes == 0);
            (bytes > 0).then(|| add(life, bytes, None))
        });
        scratch_of.push(of_operator.collect::<Vec<_>>());
    }
    let count = buffers.len() as u64 + empty;
    let problem = Problem::new(buffers, &[])?;
    let plan = tflm::plan(&problem);
    let offset = |buffer: &Option<usize>| buffer.map(|buffer| plan.offsets[buffer]);
    Ok(Head {
        bytes: plan.arena_bytes(&problem),
        buffers: count,
        tensors: buffer_of.iter().map(offset).collect(),
        scratch: scratch_of
            .iter()
            .map(|of_operator| of_operator.iter().map(offset).collect())
            .collect(),
    })
}

/// The numbers of resources: they lie in the data of the operators that give them.
fn handles(subgraphs: &[RawSubgraph], first_tensor: &[usize]) -> BTreeSet<usize> {
    let operators = subgraphs.iter().zip(first_tensor).flat_map(|(it, first)| {
        let operators = it.operators.iter();
        operators.map(move |operator| (operator, first))
    });
    let handles = operators.filter(|(operator, _)| operator.kind == Kind::VarHandle);
    let outputs = handles.flat_map(|(operator, first)| {
        let outputs = operator.outputs.iter();
        outputs.map(move |id| first + id.0)
    });
    outputs.collect()
}

/// When a buffer is first and last used, in steps; before the first step if it never is.
#[derive(Clone, Copy, Default)]
struct Life {
    first: Option<u32>,
    last: Option<u32>,
}

impl Life {
    fn begin(&mut self, step: u32) {
        self.first.get_or_insert(step);
    }

    fn end(&mut self, step: u32) {
        self.last = Some(step);
    }

    fn buffer(self, bytes: u64, offset: Option<u64>) -> Buffer {
        // The runtime counts what is never used as used at step -1.
        let shifted = |step: Option<u32>| step.map_or(0, |step| step + 1);
        let first = shifted(self.first);
        Buffer {
            name: String::new(),
            // What does not fit at all is refused as a problem.
            size_bytes: bytes
                .min(MAX_TOTAL_BYTES + 1)
                .next_multiple_of(tflm::ALIGNMENT),
            alive: first..shifted(self.last).max(first) + 1,
            alignment: 1,
            fixed_offset: offset,
        }
    }
}

struct Lifetimes<'a> {
    subgraphs: &'a [RawSubgraph<'a>],
    /// The subgraphs that an operator runs, by its subgraph and itself.
    callees: BTreeMap<(usize, OperatorId), &'a [usize]>,
    /// Where the tensors and operators of each subgraph begin among those of all.
    first_tensor: Vec<usize>,
    first_operator: Vec<usize>,
    tensors: Vec<Life>,
    /// Those of scratch buffers.
    operators: Vec<Life>,
    step: u32,
    steps: usize,
    /// Subgraphs that are being run.
    depth: usize,
}

impl<'a> Lifetimes<'a> {
    fn new(subgraphs: &'a [RawSubgraph<'a>], calls: &'a [Call], operators: usize) -> Self {
        let starts = |count: fn(&RawSubgraph) -> usize| {
            let sums = subgraphs.iter().scan(0, |sum, it| {
                let start = *sum;
                *sum += count(it);
                Some(start)
            });
            sums.collect::<Vec<_>>()
        };
        let tensors = subgraphs.iter().map(|it| it.tensors.len()).sum();
        Self {
            subgraphs,
            callees: calls
                .iter()
                .map(|call| ((call.subgraph, call.operator), call.callees.as_slice()))
                .collect(),
            first_tensor: starts(|it| it.tensors.len()),
            first_operator: starts(|it| it.operators.len()),
            tensors: vec![Life::default(); tensors],
            operators: vec![Life::default(); operators],
            step: 0,
            steps: 0,
            depth: 0,
        }
    }

    /// Marks what is used while a subgraph runs, and the subgraphs that its operators run.
    fn run(&mut self, index: usize) -> Result<(), TflmError> {
        let Some(subgraph) = self.subgraphs.get(index) else {
            return Ok(());
        };
        self.depth += 1;
        if self.depth > MOST_DEPTH.min(self.subgraphs.len()) {
            return Err(ENDLESS);
        }
        let tensor = self.first_tensor[index];
        for id in &subgraph.inputs {
            self.tensors[tensor + id.0].begin(self.step);
            self.tensors[tensor + id.0].end(self.step);
        }
        for (number, operator) in subgraph.operators.iter().enumerate() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(ENDLESS);
            }
            self.step += 1;
            let start = self.step;
            for id in &operator.outputs {
                self.tensors[tensor + id.0].begin(self.step);
            }
            let callees = self.callees.get(&(index, OperatorId(number)));
            for callee in callees.copied().unwrap_or_default() {
                self.step += 1;
                self.run(*callee)?;
            }
            for id in operator.inputs.iter().flatten().chain(&operator.outputs) {
                self.tensors[tensor + id.0].end(self.step);
            }
            let scratch = self.first_operator[index] + number;
            self.operators[scratch].begin(start);
            self.operators[scratch].end(self.step);
        }
        for id in &subgraph.outputs {
            self.tensors[tensor + id.0].begin(self.step);
            self.tensors[tensor + id.0].end(self.step);
        }
        self.depth -= 1;
        Ok(())
    }
}
