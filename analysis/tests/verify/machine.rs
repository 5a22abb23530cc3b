//! A machine whose memory knows of each byte what it is: it runs a graph with kernels that
//! read as late, and write as early, as their overlaps allow.

use dmo_analysis::graph::overlaps::{Overlaps, SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use std::collections::{HashMap, HashSet};

/// What a byte of the arena is: a byte of a tensor, or of a scratch buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Byte {
    Tensor(TensorId, u64),
    Scratch(OperatorId, usize, u64),
}

struct Machine<'a> {
    graph: &'a Graph,
    offsets: &'a [Option<u64>],
    memory: HashMap<u64, Byte>,
    clobbered: bool,
}

impl Machine<'_> {
    fn write(&mut self, tensor: TensorId, index: u64) {
        if let Some(offset) = self.offsets[tensor.0] {
            self.memory
                .insert(offset + index, Byte::Tensor(tensor, index));
        }
    }

    fn read(&mut self, tensor: TensorId, index: u64) {
        if let Some(offset) = self.offsets[tensor.0] {
            let found = self.memory.get(&(offset + index));
            self.clobbered |= found != Some(&Byte::Tensor(tensor, index));
        }
    }

    fn write_all(&mut self, tensor: TensorId) {
        for index in 0..self.graph.tensor(tensor).size_bytes {
            self.write(tensor, index);
        }
    }

    fn read_all(&mut self, tensor: TensorId) {
        for index in 0..self.graph.tensor(tensor).size_bytes {
            self.read(tensor, index);
        }
    }

    /// At tick k all outputs store byte k. An input byte r is loaded for the last time just
    /// before byte r + S of an output with displacement S is stored, for the first of
    /// several; with an output that it may not overlap that says nothing.
    fn run(&mut self, operator: OperatorId, overlaps: &[SafeOverlap], scratch: &[(u64, u64)]) {
        let node = &self.graph.operators[operator.0];
        let inputs = self.graph.arena_inputs(node);
        let outputs = self.graph.arena_outputs(node);
        let mut left_out = HashSet::new();
        for pair in overlaps {
            let sizes = [pair.input, pair.output].map(|id| self.graph.tensor(id).size_bytes);
            let (input, output) = (self.offsets[pair.input.0], self.offsets[pair.output.0]);
            let same = sizes[0] == sizes[1] && input.is_some() && input == output;
            if pair.sharing == Sharing::Alias && same {
                left_out.insert(pair.output);
            }
        }
        let last_tick = |input: TensorId, index: u64| {
            let pairs = overlaps.iter().filter(|pair| pair.input == input);
            let ticks = pairs.filter_map(|pair| match pair.sharing {
                Sharing::Displaced(bytes) => Some(index.saturating_add(bytes)),
                Sharing::Alias => None,
            });
            ticks.min()
        };
        let bytes = |tensors: &[TensorId], graph: &Graph| -> Vec<(TensorId, u64)> {
            let each = |&id: &TensorId| (0..graph.tensor(id).size_bytes).map(move |at| (id, at));
            tensors.iter().flat_map(each).collect()
        };
        let input_bytes = bytes(&inputs, self.graph);
        let output_bytes = bytes(&outputs, self.graph);
        let ticks = output_bytes
            .iter()
            .map(|&(_, at)| at + 1)
            .max()
            .unwrap_or(0);
        for &input in &inputs {
            self.read_all(input);
        }
        for tick in 0..=ticks {
            self.use_scratch(operator, scratch);
            for &(input, index) in &input_bytes {
                // Later than the last store is as good as the last moment.
                let last = last_tick(input, index).map_or(ticks, |last| last.min(ticks));
                if last == tick {
                    self.read(input, index);
                }
            }
            for &(output, index) in &output_bytes {
                if index == tick && !left_out.contains(&output) {
                    self.write(output, index);
                }
            }
            self.check_scratch(operator, scratch);
        }
        // The same bytes, by another name; if they are still there.
        for &output in outputs.iter().filter(|output| left_out.contains(output)) {
            let is_source = |pair: &&SafeOverlap| {
                pair.output == output
                    && pair.sharing == Sharing::Alias
                    && self.offsets[pair.input.0] == self.offsets[output.0]
                    && self.graph.tensor(pair.input).size_bytes
                        == self.graph.tensor(output).size_bytes
            };
            if let Some(pair) = overlaps.iter().find(is_source) {
                self.read_all(pair.input);
            }
            self.write_all(output);
        }
    }

    fn use_scratch(&mut self, operator: OperatorId, scratch: &[(u64, u64)]) {
        for (number, &(offset, size)) in scratch.iter().enumerate() {
            for index in 0..size {
                let byte = Byte::Scratch(operator, number, index);
                self.memory.insert(offset + index, byte);
            }
        }
    }

    fn check_scratch(&mut self, operator: OperatorId, scratch: &[(u64, u64)]) {
        for (number, &(offset, size)) in scratch.iter().enumerate() {
            for index in 0..size {
                let byte = Byte::Scratch(operator, number, index);
                self.clobbered |= self.memory.get(&(offset + index)) != Some(&byte);
            }
        }
    }
}

/// Whether some byte that is read is no longer what was written.
pub fn clobbers(
    graph: &Graph,
    order: &[OperatorId],
    overlaps: &Overlaps,
    offsets: &[Option<u64>],
    scratch: &[(OperatorId, u64, u64)],
) -> bool {
    let mut machine = Machine {
        graph,
        offsets,
        memory: HashMap::new(),
        clobbered: false,
    };
    let written = |id: TensorId| {
        let mut nodes = graph.operators.iter();
        nodes.any(|node| node.outputs.contains(&id))
    };
    for id in (0..graph.tensors.len()).map(TensorId) {
        if graph.in_arena(id) && !written(id) {
            machine.write_all(id);
        }
    }
    for &operator in order {
        let own = scratch.iter().filter(|(other, ..)| *other == operator);
        let own: Vec<(u64, u64)> = own.map(|&(_, offset, size)| (offset, size)).collect();
        machine.run(operator, &overlaps[operator.0], &own);
    }
    for &output in graph.outputs.iter().filter(|id| graph.in_arena(**id)) {
        machine.read_all(output);
    }
    machine.clobbered
}

/// Whether the operator destroys its input when that starts so far above its output, all
/// else outside the arena.
pub fn clobbers_of_pair(
    graph: &Graph,
    operator: OperatorId,
    pair: SafeOverlap,
    displacement: u64,
) -> bool {
    let mut offsets = vec![None; graph.tensors.len()];
    offsets[pair.output.0] = Some(0);
    offsets[pair.input.0] = Some(displacement);
    let mut machine = Machine {
        graph,
        offsets: &offsets,
        memory: HashMap::new(),
        clobbered: false,
    };
    machine.write_all(pair.input);
    machine.run(operator, &[pair], &[]);
    machine.clobbered
}
