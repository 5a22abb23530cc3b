//! Runs graphs on numbers: what a kernel stores is a hash of what it has loaded for it, in its
//! order, so that another tap, another element or another order gives another number.

use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::AccessKind;

/// Memory of one cell for each byte, of which the elements here have one.
pub struct Memory {
    cells: Vec<u64>,
    /// Where each tensor begins.
    offsets: Vec<usize>,
}

impl Memory {
    /// All tensors that are no views one behind the other.
    pub fn apart(graph: &Graph) -> Self {
        let mut end = 0;
        let offsets = (0..graph.tensors.len()).map(|index| {
            let size = graph.tensors[index].size_bytes as usize;
            let is_view = graph.views.contains_key(&TensorId(index));
            let start = end;
            end += if is_view { 0 } else { size };
            start
        });
        let offsets: Vec<Option<u64>> = offsets.map(|at: usize| Some(at as u64)).collect();
        let size = end;
        Self::at(graph, &offsets, size)
    }

    /// Tensors where a layout has them.
    pub fn at(graph: &Graph, offsets: &[Option<u64>], size: usize) -> Self {
        let mut offsets = offsets.to_vec();
        let mut size = size;
        // What the application has lies apart from the arena.
        for (offset, tensor) in offsets.iter_mut().zip(&graph.tensors) {
            if tensor.storage == Storage::Application {
                *offset = Some(size as u64);
                size += tensor.size_bytes as usize;
            }
        }
        let offsets = graph.with_views(offsets);
        Self {
            // What is there before is not the same anywhere.
            cells: (0..size as u64).map(|at| mix(at, 7)).collect(),
            offsets: offsets.iter().map(|at| at.unwrap_or(0) as usize).collect(),
        }
    }

    /// Where the tensor's elements lie.
    fn cells_of(&self, graph: &Graph, id: TensorId) -> Vec<usize> {
        let at = self.offsets[id.0];
        let runs = graph.own_bytes(id).into_iter().flatten();
        runs.map(|byte| at + byte as usize).collect()
    }

    pub fn tensor(&self, graph: &Graph, id: TensorId) -> Vec<u64> {
        let cells = self.cells_of(graph, id);
        cells.into_iter().map(|at| self.cells[at]).collect()
    }

    /// One inference on inputs that depend on nothing but their place.
    pub fn run(&mut self, graph: &Graph, order: &[OperatorId]) {
        for (number, &input) in (100..).zip(&graph.inputs) {
            for (element, at) in (0..).zip(self.cells_of(graph, input)) {
                self.cells[at] = mix(element, number);
            }
        }
        for &operator in order {
            self.operator(graph, operator);
        }
    }

    fn operator(&mut self, graph: &Graph, operator: OperatorId) {
        let kernel = graph.operators[operator.0].kernel.as_ref().unwrap();
        // An operator with a pitch numbers what lies between its elements too.
        let all = |id: TensorId| {
            let start = self.offsets[id.0];
            (start..start + graph.tensor(id).size_bytes as usize).collect()
        };
        let has_pitch = matches!(kernel.operator, Operator::Pitched(_));
        let of = |ids: &[TensorId]| -> Vec<Vec<usize>> {
            let cells = |&id: &TensorId| {
                if has_pitch {
                    all(id)
                } else {
                    self.cells_of(graph, id)
                }
            };
            ids.iter().map(cells).collect()
        };
        let (inputs, outputs) = (of(&kernel.inputs), of(&kernel.outputs));
        let mut sum = 1;
        let cells = &mut self.cells;
        let loops = &kernel.operator;
        let is_copy = matches!(loops, Operator::InputRows(_) | Operator::KeptRows(_));
        loops
            .accesses(|kind, buffer, element| match kind {
                AccessKind::Load if is_copy => sum = cells[inputs[buffer][element as usize]],
                AccessKind::Store if is_copy => cells[outputs[buffer][element as usize]] = sum,
                AccessKind::Load => {
                    sum = mix(sum, cells[inputs[buffer][element as usize]]);
                }
                AccessKind::Store => {
                    cells[outputs[buffer][element as usize]] = mix(sum, 3);
                    sum = 1;
                }
            })
            .unwrap();
    }
}

fn mix(one: u64, other: u64) -> u64 {
    let mut mixed = one.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ other.rotate_left(23);
    mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 29)
}
