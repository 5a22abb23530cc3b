//! TensorFlow Lite Micro's greedy planner, as it behaves: buffers whose offset is given
//! stay there, whatever they overlap; the others, largest first, go to the lowest gap.
//!
//! The order of equal sizes follows from how it sorts: it fills its list from the end and
//! sorts that stably, so that of equal buffers the one that was added last comes first.
//! Buffers are added in the order of the model's tensors, scratch buffers after them.
//! Source of these facts: tensorflow/tflite-micro,
//! `memory_planner/greedy_memory_planner.cc`.

use super::Plan;
use super::placement::Placement;
use crate::problem::Problem;
use std::cmp::Reverse;

/// What TensorFlow Lite Micro rounds sizes and offsets up to, in bytes.
pub const ALIGNMENT: u64 = 16;

/// Places the buffers as TensorFlow Lite Micro does. Without overlaps and with nothing
/// given in advance, the plan is valid.
pub fn plan(problem: &Problem) -> Plan {
    let buffers = problem.buffers();
    let mut placement = Placement::new(problem);
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&buffer| Reverse((buffers[buffer].size_bytes, buffer)));
    for buffer in order {
        if !placement.is_placed(buffer) {
            let offset = placement.lowest(buffer);
            placement.place(buffer, offset);
        }
    }
    placement.finish()
}
