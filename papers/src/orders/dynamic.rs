//! An allocator that moves buffers, simulated.
//!
//! That of Liberis and Lane (section 4): a step's outputs are stored above everything that is
//! in memory. After each step the buffers that nothing needs any more are freed, and the others
//! are moved towards the start of the memory as far as possible.

use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::schedule::dataflow::Dataflow;
use dmo_analysis::schedule::{CountedEnds, ScheduleError};

/// What the allocator needed and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compaction {
    /// Highest end of any buffer, scratch buffers included, in bytes.
    pub peak_bytes: u64,
    /// Sizes of all buffers that were moved, each time that they were, in bytes.
    pub moved_bytes: u64,
    /// How often a buffer was moved.
    pub moves: u64,
}

/// Runs the order. Tensors without bytes and those that are not counted take no part.
///
/// # Errors
/// Those of [`Dataflow::new`] and [`Dataflow::steps`].
pub fn compact(
    graph: &Graph,
    order: &[OperatorId],
    ends: CountedEnds,
) -> Result<Compaction, ScheduleError> {
    let flow = Dataflow::new(graph, ends)?;
    flow.steps(order)?;
    let mut readers_left: Vec<usize> = flow
        .tensors
        .iter()
        .map(|tensor| tensor.readers.len())
        .collect();
    let mut region = Region::default();
    for (index, tensor) in flow.tensors.iter().enumerate() {
        if tensor.given {
            region.store(TensorId(index), tensor.bytes);
        }
    }
    for &operator in order {
        let operator = flow.operator(operator);
        for &output in &operator.outputs {
            region.store(output, flow.tensor(output).bytes);
        }
        region.reach(operator.scratch_bytes);
        for &input in &operator.inputs {
            readers_left[input.0] -= 1;
        }
        region.keep(|tensor| flow.tensor(tensor).kept || readers_left[tensor.0] > 0);
    }
    Ok(region.done)
}

/// The memory: buffers from its start on, without gaps.
#[derive(Default)]
struct Region {
    buffers: Vec<(TensorId, u64)>,
    end: u64,
    done: Compaction,
}

impl Region {
    fn store(&mut self, tensor: TensorId, bytes: u64) {
        if bytes > 0 {
            self.buffers.push((tensor, bytes));
            self.end += bytes;
            self.reach(0);
        }
    }

    fn reach(&mut self, beyond: u64) {
        self.done.peak_bytes = self.done.peak_bytes.max(self.end + beyond);
    }

    fn keep(&mut self, needed: impl Fn(TensorId) -> bool) {
        let done = &mut self.done;
        let mut freed = false;
        self.end = 0;
        self.buffers.retain(|&(tensor, bytes)| {
            if !needed(tensor) {
                freed = true;
                return false;
            }
            if freed {
                done.moved_bytes = done.moved_bytes.saturating_add(bytes);
                done.moves += 1;
            }
            self.end += bytes;
            true
        });
    }
}
