//! What is wrong with a plan whatever may overlap.

use super::PlanToCheck;
use dmo_analysis::arena::SCRATCH_ALIGNMENT;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::verify::Occupant;
use dmo_planner::problem::common_multiple;

/// What is wrong with a plan whatever may overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanFault {
    /// An operator uses a tensor that lies nowhere.
    NoOffset(TensorId),
    /// Something ends beyond the arena that the plan declares, in bytes.
    BeyondArena {
        /// What ends there.
        occupant: Occupant,
        /// Where it ends: an end that does not fit in 64 bits is beyond every arena.
        end: u128,
        /// Size of the arena by the plan's own word.
        declared: u64,
    },
    /// Something does not start at a multiple of its alignment, in bytes.
    Misaligned {
        /// What starts there.
        occupant: Occupant,
        /// Where it starts.
        offset: u64,
        /// What that should be a multiple of.
        alignment: u64,
    },
    /// Kernels want more scratch memory than the plan gives.
    LittleScratch {
        /// How many operators do.
        operators: usize,
        /// The one that wants most.
        most: OperatorId,
        /// Its kernel; `None` if none can be called, and TensorFlow Lite Micro's is meant.
        function: Option<&'static str>,
        /// What that wants, in bytes.
        bytes: u64,
    },
}

impl PlanToCheck {
    /// What is wrong with it whatever may overlap.
    pub fn faults(&self, graph: &Graph) -> Vec<PlanFault> {
        let mut faults = self.missing(graph);
        faults.extend(self.beyond_arena(graph));
        faults.extend(self.misaligned(graph));
        faults
    }

    /// All that has an offset: what it is, its offset, and its size in bytes.
    fn placed(&self, graph: &Graph) -> impl Iterator<Item = (Occupant, u64, u64)> {
        let tensors = self.tensors.iter().zip(&graph.tensors).enumerate();
        let tensors = tensors.filter_map(|(index, (offset, tensor))| {
            let occupant = Occupant::Tensor(TensorId(index));
            Some((occupant, (*offset)?, tensor.size_bytes))
        });
        let scratch = self.scratch.iter();
        tensors.chain(
            scratch.map(|&(operator, offset, size)| (Occupant::Scratch(operator), offset, size)),
        )
    }

    /// What does not start at a multiple of the alignment.
    fn misaligned(&self, graph: &Graph) -> impl Iterator<Item = PlanFault> {
        let placed = self.placed(graph).map(|(occupant, offset, _)| {
            let alignment = alignment_of(graph, occupant, self.layout.alignment);
            (occupant, offset, alignment)
        });
        placed
            .filter(|(_, offset, alignment)| !offset.is_multiple_of(*alignment))
            .map(|(occupant, offset, alignment)| PlanFault::Misaligned {
                occupant,
                offset,
                alignment,
            })
    }

    /// What ends beyond the arena that the plan declares.
    fn beyond_arena(&self, graph: &Graph) -> impl Iterator<Item = PlanFault> {
        let ends = self.declared_bytes.into_iter().flat_map(|declared| {
            let placed = self.placed(graph);
            placed.map(move |(occupant, offset, size)| PlanFault::BeyondArena {
                occupant,
                end: u128::from(offset) + u128::from(size),
                declared,
            })
        });
        ends.filter(|fault| match fault {
            PlanFault::BeyondArena { end, declared, .. } => *end > u128::from(*declared),
            _ => false,
        })
    }

    /// Tensors that an operator uses and that lie nowhere.
    fn missing(&self, graph: &Graph) -> Vec<PlanFault> {
        let counted = self.layout.counted;
        let elsewhere = |id: TensorId| {
            !counted.count_graph_inputs && graph.inputs.contains(&id)
                || !counted.count_graph_outputs && graph.outputs.contains(&id)
        };
        let mut faults = Vec::new();
        let mut seen = vec![false; graph.tensors.len()];
        let touched = graph.operators.iter().flat_map(|node| {
            let inputs = graph.arena_inputs(node).into_iter();
            inputs.chain(graph.arena_outputs(node))
        });
        let ends = graph.inputs.iter().chain(&graph.outputs).copied();
        for id in touched.chain(ends.filter(|&id| graph.in_arena(id))) {
            let unplaced = self.tensors[id.0].is_none() && graph.tensor(id).size_bytes > 0;
            if unplaced && !elsewhere(graph.root(id)) && !std::mem::replace(&mut seen[id.0], true) {
                faults.push(PlanFault::NoOffset(id));
            }
        }
        faults
    }
}

/// What an offset has to be a multiple of, in bytes: of a part of a tensor, no more than its
/// elements want.
fn alignment_of(graph: &Graph, occupant: Occupant, alignment: u64) -> u64 {
    match occupant {
        Occupant::Tensor(id) if graph.views.contains_key(&id) => {
            graph.tensor(id).element_type.alignment()
        }
        Occupant::Tensor(id) => {
            let element = graph.tensor(id).element_type.alignment();
            common_multiple(alignment, element).unwrap_or(alignment)
        }
        Occupant::Scratch(_) => common_multiple(alignment, SCRATCH_ALIGNMENT).unwrap_or(alignment),
    }
}
