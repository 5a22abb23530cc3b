//! Why there is no replay.

use crate::graph::TensorId;
use crate::wording::grouped;

/// Why an operator cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Places and tensors do not belong together.
    #[error("the layer has {expected} tensors, places are given for {given}")]
    Places {
        /// Number of places.
        given: usize,
        /// Number of the layer's tensors.
        expected: usize,
    },
    /// A tensor is in two places, or has two sizes.
    #[error(
        "tensor {} has two places: {} bytes at offset {} and {} bytes at offset {}",
        tensor.0, one.1, one.0, other.1, other.0
    )]
    TwoPlaces {
        /// The tensor.
        tensor: TensorId,
        /// Offset and size.
        one: (u64, u64),
        /// Offset and size.
        other: (u64, u64),
    },
    /// A buffer is no part of the tensor that it is said to lie in.
    #[error("buffer {index} reaches to byte {end} of a tensor that has {limit}")]
    Part {
        /// Position in the layer's tensors.
        index: usize,
        /// One past its last byte.
        end: u64,
        /// Size of the tensor in bytes.
        limit: u64,
    },
    /// Nobody could store its content.
    #[error("tensor {} is needed later, but neither the layer nor an earlier one has it", .0.0)]
    Unknown(TensorId),
    /// Replay keeps some bytes for each byte of the arena.
    #[error(
        "the buffers reach over {} bytes of the arena, at most {} can be replayed",
        grouped(*given),
        grouped(*limit)
    )]
    Arena {
        /// From the lowest to the highest byte.
        given: u64,
        /// [`MOST_ARENA_BYTES`](super::MOST_ARENA_BYTES).
        limit: u64,
    },
    /// Owners are 16 bits.
    #[error("{given} buffers are alive together, at most {limit} can be replayed")]
    Buffers {
        /// Number of buffers.
        given: usize,
        /// The most that can be told apart.
        limit: usize,
    },
}
