//! Sizes of the runtime's structures in bytes on a 32-bit Arm core, as `sizeof` gives them: enums
//! are as short as the Procedure Call Standard allows. The files are those of
//! `tensorflow/lite/micro` and `tensorflow/lite/core/c/common.h`.

use dmo_planner::plan::tflm::ALIGNMENT;

/// A structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Structure {
    pub size_bytes: u64,
    pub alignment: u64,
}

const fn words(size_bytes: u64) -> Structure {
    Structure {
        size_bytes,
        alignment: 4,
    }
}

/// `SingleArenaBufferAllocator`, `arena_allocator/single_arena_buffer_allocator.h`
pub(super) const ARENA_ALLOCATOR: Structure = words(36);
/// `GreedyMemoryPlanner`, `memory_planner/greedy_memory_planner.h`
pub(super) const PLANNER: Structure = words(44);
/// `MicroAllocator`, `micro_allocator.h`
pub(super) const MODEL_ALLOCATOR: Structure = words(36);
/// `MicroBuiltinDataAllocator`, `micro_allocator.cc`
pub(super) const OPTIONS_ALLOCATOR: Structure = words(8);
/// `SubgraphAllocations`, `micro_allocator.h`
pub(super) const SUBGRAPH: Structure = words(8);
/// `TfLiteEvalTensor`
pub(super) const EVAL_TENSOR: Structure = words(12);
/// `NodeAndRegistration`, `micro_allocator.h`
pub(super) const NODE: Structure = words(32);
/// `ScratchBufferHandle`, `micro_allocator.h`
pub(super) const SCRATCH_HANDLE: Structure = words(4);
/// `TfLiteTensor`
pub(super) const TENSOR: Structure = words(32);
/// `TfLiteAffineQuantization`
pub(super) const QUANTISATION: Structure = words(12);
/// A pointer.
pub(super) const POINTER_BYTES: u64 = 4;

/// `ScratchBufferRequest`, `micro_allocator.h`
const REQUEST_BYTES: u64 = 12;
/// `kMaxScratchBuffersPerOp`, `micro_allocator.cc`: there is room for this many more requests.
const SPARE_REQUESTS: u64 = 12;
/// `AllocationInfo`, `micro_allocation_info.h`
const ALLOCATION_BYTES: u64 = 24;
/// `GreedyMemoryPlanner::per_buffer_size`, `memory_planner/greedy_memory_planner.h`
const PLANNED_BUFFER_BYTES: u64 = 40;

/// `TfLiteIntArray` of this many integers.
pub(super) fn integers(count: u64) -> Structure {
    words(4 + 4 * count)
}

/// The list of scratch requests at the beginning of the arena, in bytes.
pub(super) fn requests_bytes(requests: u64) -> u64 {
    REQUEST_BYTES * (requests + SPARE_REQUESTS)
}

/// What lies in a `TfLiteTensor` and its quantisation.
pub(super) fn tensor(scales: usize) -> Vec<Structure> {
    match scales {
        0 => vec![TENSOR],
        _ => vec![TENSOR, QUANTISATION, integers(scales as u64)],
    }
}

/// The same as temporary memory, in bytes: all of it is a multiple of 4.
pub(super) fn temporary_tensor_bytes(scales: usize) -> u64 {
    let parts = tensor(scales).into_iter();
    parts.map(|part| part.size_bytes).sum()
}

/// What planning the head needs from the beginning of the arena, in bytes.
pub(super) fn planning_bytes(subgraphs: u64, tensors: u64, requests: u64, buffers: u64) -> u64 {
    let lists = requests_bytes(requests)
        + POINTER_BYTES * subgraphs
        + ALLOCATION_BYTES * (tensors + requests);
    lists.next_multiple_of(ALIGNMENT) + PLANNED_BUFFER_BYTES * buffers
}
