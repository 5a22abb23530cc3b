//! The result of a replay.

use super::finding::Finding;
use schemars::JsonSchema;
use serde::Serialize;

/// How much of a scratch buffer was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ScratchUse {
    /// Position in the layer's tensors.
    pub layer_tensor: usize,
    /// Its size in bytes.
    pub size_bytes: u32,
    /// One past the highest byte that was loaded or stored: what lies beyond was requested in
    /// vain, at least by this run.
    pub touched_bytes: u32,
}

/// What the replay of one operator has found.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ReplayReport {
    /// What is wrong, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// Bytes that are wrong in other ways than those in `findings`, once that was full.
    pub further_bytes: u64,
    /// The scratch buffers of the layer.
    pub scratch: Vec<ScratchUse>,
    /// Loads that were replayed, of whatever tensor.
    pub loads: u64,
    /// Stores that were replayed, to whatever tensor.
    pub stores: u64,
    /// Events of tensors that the layer does not have: they could not be replayed.
    pub foreign_events: u64,
    /// The layer began and ended.
    pub complete: bool,
}

impl ReplayReport {
    /// The whole operator was replayed, and nothing was wrong.
    pub fn is_clean(&self) -> bool {
        self.complete
            && self.findings.is_empty()
            && self.further_bytes == 0
            && self.foreign_events == 0
    }
}
