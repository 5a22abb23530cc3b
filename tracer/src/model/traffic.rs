//! How often the kernels access each tensor: what a memory costs that makes the core wait.

use super::verify::{VerifyError, failed, model_inputs, without_overlaps};
use super::{Deployment, Inference, Placement, Step};
use crate::mcu::machine::{Limits, Observation, RawAccess};
use dmo_analysis::arena::Arena;
use dmo_analysis::graph::{OperatorId, Storage, TensorId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Accesses of the kernels in one inference: loads and stores as the core makes them, of one to
/// four bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelTraffic {
    /// For each operator its accesses to tensors, those to a view as to the tensor that it lies in.
    tensors: Vec<BTreeMap<TensorId, u64>>,
    /// For each operator its accesses to scratch memory.
    scratch: Vec<u64>,
    /// Accesses to all states.
    pub states: u64,
    /// Cycles of the inference with memory that never makes the core wait; instructions where they
    /// are not known.
    pub time: u64,
}

/// What an access is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Tensor(TensorId),
    Scratch,
    State,
}

/// Where an operator's buffers lie, and how often each was accessed.
type Counted = Vec<(Range<u32>, Owner, u64)>;

impl KernelTraffic {
    /// Runs one inference with all buffers of each operator apart.
    ///
    /// # Errors
    /// When an operator fails.
    pub fn measure(
        deployment: &Deployment,
        order: &[OperatorId],
        limits: Limits,
    ) -> Result<Self, VerifyError> {
        let placement = without_overlaps(deployment, order)?;
        let watch = Observation::Watch;
        let mut inference = Inference::new(deployment, &placement, 0, watch, limits)?;
        let counted: Rc<RefCell<Counted>> = Rc::default();
        let into = counted.clone();
        inference.watch_ram(move |access| count(&mut into.borrow_mut(), &access))?;
        let operators = deployment.steps.len();
        let mut traffic = Self {
            tensors: vec![BTreeMap::new(); operators],
            scratch: vec![0; operators],
            states: 0,
            time: 0,
        };
        inference.count_cycles();
        inference.begin(&model_inputs(deployment, 0))?;
        for &operator in order {
            let step = deployment.step(operator);
            *counted.borrow_mut() = owners(step, &inference, &placement);
            let run = inference.run(operator);
            run.map_err(|error| failed(step, error))?;
            for (_, owner, count) in counted.borrow_mut().drain(..) {
                match owner {
                    Owner::Tensor(tensor) => {
                        *traffic.tensors[operator.0].entry(tensor).or_default() += count;
                    }
                    Owner::Scratch => traffic.scratch[operator.0] += count,
                    Owner::State => traffic.states += count,
                }
            }
        }
        let cycles = inference.cycles().map(|cycles| cycles.total);
        traffic.time = cycles.unwrap_or_else(|| inference.instructions());
        Ok(traffic)
    }

    /// Accesses to each buffer of an arena of the same model. A reshape whose input and output are
    /// the same bytes copies nothing.
    pub fn of_buffers(&self, arena: &Arena, deployment: &Deployment) -> Vec<u64> {
        let mut accesses = vec![0; arena.problem.buffers().len()];
        let operators = deployment.graph.operators.iter().zip(&self.tensors);
        for (_, tensors) in operators.filter(|(node, _)| !arena.copies_nothing(node)) {
            for (tensor, count) in tensors {
                if let Some(buffer) = arena.buffer_of[tensor.0] {
                    accesses[buffer] += count;
                }
            }
        }
        // A kernel is given one block, its first.
        for scratch in arena.scratch.iter().filter(|scratch| scratch.index == 0) {
            accesses[scratch.buffer] += self.scratch[scratch.operator.0];
        }
        accesses
    }
}

fn count(counted: &mut Counted, access: &RawAccess) {
    let owner = counted
        .iter_mut()
        .find(|(range, ..)| range.contains(&access.address));
    if let Some((.., count)) = owner {
        *count += 1;
    }
}

/// An operator's buffers in RAM, which lie apart.
fn owners(step: &Step, inference: &Inference, placement: &Placement) -> Counted {
    let Some((arena, addresses)) = inference.addresses_of(step.operator) else {
        return Vec::new();
    };
    let graph = inference.graph();
    let mut owners: Counted = Vec::new();
    let used = step.inputs.iter().chain(&step.outputs).chain(&step.states);
    for &tensor in used {
        let root = graph.root(tensor);
        let known = graph.tensor(root);
        let owner = match known.storage {
            Storage::Constant | Storage::Application => continue,
            Storage::Variable => Owner::State,
            Storage::Arena if step.states.contains(&tensor) => Owner::State,
            Storage::Arena => Owner::Tensor(root),
        };
        let Some(start) = addresses[root.0].map(|address| address.0) else {
            continue;
        };
        if !owners.iter().any(|(range, ..)| range.start == start) {
            owners.push((start..start + known.size_bytes as u32, owner, 0));
        }
    }
    if let Some(offset) =
        placement.scratch[step.operator.0].filter(|_| step.scratch.total_bytes > 0)
    {
        let start = arena.0 + offset as u32;
        owners.push((start..start + step.scratch.total_bytes, Owner::Scratch, 0));
    }
    owners
}
